"""`sim history`: over real run folders, and in a real terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from fixtures_run import Shape, write_run
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.cli.report import write_report
from simulator.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs, the last killed, a search, and what is none."""
    base = tmp_path_factory.mktemp("history")
    for n, (label, kind) in enumerate((("base", "real"), ("mtp3", "emulated"))):
        folder = write_run(
            base / "reports" / "runs" / label,
            Shape(slots=2, window_s=4, synthetic=4, kind=kind),
            label=label,
            t0_unix_s=1_790_000_000.0 + 60 * n,
        )
        write_report(folder, show=False)
    shape = Shape(slots=1, window_s=2, synthetic=0)
    write_run(
        base / "reports" / "runs" / "cut",
        Shape(slots=1, window_s=2, killed=True),
        label="[red]x\x1b[2J",
        t0_unix_s=1_790_009_000.0,
    )
    for n in range(2):
        write_run(base / "reports" / "sat" / "probes" / f"000{n}-1", shape, label="", probe={"point": n})
    (base / "reports" / "sat" / "saturate.json").write_text('{"sentence": "4 agents meet it"}')
    (base / "reports" / "broken").mkdir()
    (base / "reports" / "broken" / "manifest.json").write_text("{")
    return base


def sim(base: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "simulator.cli.main", "history", *arguments],
        cwd=base, env={**os.environ, "PYTHONPATH": str(ROOT), "TZ": "UTC", **(env or {})}, capture_output=True,
        text=True, timeout=200,
    )  # fmt: skip


def test_the_list(reports: Path) -> None:
    done = sim(reports)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 1 + 4 and "\x1b" not in done.stdout
    cut, search, mtp, base = (next(line for line in lines if name in line) for name in ("cut", "sat ", "mtp3", "base"))
    assert lines.index(cut) < lines.index(mtp) < lines.index(base)
    assert "killed, or still going on; not folded" in cut and "[red]x" in cut
    assert "2 probes: 4 agents meet it" in search
    assert "EMULATED" in mtp and "EMULATED" not in base and "2026-09-21" in base and "reports/runs/base" in base
    assert "not a run: reports/broken its manifest.json is not a JSON object" in done.stderr


def test_a_narrow_terminal_loses_no_folder(reports: Path) -> None:
    done = sim(reports, env={"COLUMNS": "80", "FORCE_COLOR": "1", "TERM": "xterm"})
    assert all(name in done.stdout for name in ("reports/runs/base", "reports/runs/mtp3", "reports/sat"))


def test_paths_and_json(reports: Path) -> None:
    assert sim(reports, "--paths", "--label", "[bm]*").stdout.split() == ["reports/runs/mtp3", "reports/runs/base"]
    assert sim(reports, "--paths", "--last", "1", "--engine", "real").stdout.split() == ["reports/runs/base"]
    assert len(sim(reports, "--paths", "--all").stdout.split()) == 5
    found = orjson.loads(sim(reports, "--json").stdout)
    assert len(found["runs"]) == 5 and [each["path"] for each in found["broken"]] == ["reports/broken"]
    assert {each["group"] for each in found["runs"]} == {"", "reports/sat"}
    assert next(each for each in found["runs"] if each["label"] == "base")["agents_tok_s"] > 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("{base}/none",), "does not exist"),
        (("{base}/reports/sat/saturate.json",), "is a file"),
        (("{base}/reports/broken",), "no run below"),
        (("{base}/reports", "--label", "nope"), "none of the 5 runs below"),
        (("{base}/reports", "--last", "0"), "--last 0"),
        (("{base}/reports", "--paths", "--json"), "exclude each other"),
        (("{base}/reports", "--pick"), "--pick asks in a terminal"),
    ],
)
def test_refusals(reports: Path, arguments: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        CliRunner().invoke(app, ["history", *(a.format(base=reports) for a in arguments)], catch_exceptions=False)
    assert complaint in str(caught.value) and "\n" not in str(caught.value)


def test_picking_in_a_terminal(reports: Path) -> None:
    """The list and the questions go to the terminal, the folders chosen to standard output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "simulator.cli.main", "history", "--pick"],
        cwd=reports, env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}, stdin=theirs, stderr=theirs,
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    seen = ""
    for question, answer in enumerate(("nowhere", "9", "runs/", "3 1"), 1):
        deadline = time.monotonic() + 200
        while seen.count("nothing leaves: ") < question and time.monotonic() < deadline:
            if select.select([ours], [], [], 1)[0]:
                seen += os.read(ours, 65_536).decode(errors="replace")
        os.write(ours, f"{answer}\n".encode())
    chosen, _ = process.communicate(timeout=200)
    os.close(ours)
    assert process.returncode == 0 and chosen.split() == ["reports/runs/base", "reports/runs/cut"]
    assert "no run has `nowhere`" in seen and "give numbers from 1 to 4" in seen
