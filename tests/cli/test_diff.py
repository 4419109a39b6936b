"""`sim diff` on run folders: who is on which side, what it prints and writes, its exit codes, and bad input."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from fixtures_run import Shape, of_its_own, write_run

from simulator.cli.diff import Asked
from simulator.cli.diff import main as diff_main
from simulator.cli.report import write_report
from simulator.cli.sides import runs_of
from simulator.errors import SimError, UsageError

ROOT = Path(__file__).resolve().parents[2]
Side = Callable[..., list[Path]]


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small run with its summary; the others are copies with another seed, engine and speed."""
    path = write_run(tmp_path_factory.mktemp("base") / "run", Shape(slots=4, window_s=8.0))
    write_report(path, show=False)
    return path


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    told = orjson.loads(path.read_bytes())
    change(told)
    path.write_bytes(orjson.dumps(told))


@pytest.fixture
def side(folded: Path, tmp_path: Path) -> Side:
    """`side("top", [1.07, 1.09])`: run folders with seeds from 1, agents' output so many times the first run's."""

    def make(name: str, speeds: list[float], **engine: Any) -> list[Path]:
        made = []
        for seed, speed in enumerate(speeds, 1):
            path = tmp_path / "runs" / f"{name}-{seed}"
            of_its_own(shutil.copytree(folded, path))

            def manifest(told: dict[str, Any], seed: int = seed) -> None:
                began = 1.79e9 + 200 * seed + (50 if (name == "base") == (seed % 2 == 0) else 0)
                told |= {"seed": seed, "label": name, "t0_unix_s": began}
                told["engine"] |= {"argv": ["vllm", "serve", "m", "--max-num-seqs", "64"], **engine}

            def summary(told: dict[str, Any], speed: float = speed) -> None:
                told["agent"]["output_tok_s"] *= speed
                told["agent"]["tpot_s"]["p50"] /= speed

            edit(path / "manifest.json", manifest)
            edit(path / "summary.json", summary)
            made.append(path)
        return made

    return make


def joined(paths: list[Path]) -> str:
    return ",".join(map(str, paths))


A, B = [1.0, 1.03, 0.98, 1.01, 0.99, 1.02], [1.07, 1.09, 1.06, 1.08, 1.05, 1.10]


def test_six_pairs_on_a_terminal_and_in_files(side: Side, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = side("base", A), side("top", B, argv=["vllm", "serve", "m", "--max-num-seqs", "256"])
    files = {kind: tmp_path / f"out.{kind}" for kind in ("md", "html", "json")}
    assert diff_main(Asked(joined(a), joined(b), **files)) == 0
    shown = capsys.readouterr().out
    assert "EMULATED" in shown
    assert re.search(r"B is 7\.0 % faster than A on agents' output tok/s \(95 % .*, 6 pairs, p 0\.031\): better", shown)
    assert "--max-num-seqs" in shown and "order ABBAABBAABBA" in shown and "synthetic" in shown
    markdown, page = files["md"].read_text(), files["html"].read_text()
    for text in (markdown, page):
        assert "EMULATED" in text and "7.0 % faster" in text and "--max-num-seqs" in text
    assert not re.search(r"\bnan\b", shown + markdown, re.I)
    assert markdown.count("\n| **output**") == 1 and "vega" in page
    told = json.loads(files["json"].read_text())
    assert told["verdict"] == "better" and told["marks"] == ["EMULATED ENGINE"]
    values = told["traffic"]["agent"]["metrics"]["output_tok_s"]["values"]
    assert [round(right / left, 3) for left, right in values] == [round(y / x, 3) for x, y in zip(A, B, strict=True)]
    assert told["settings"] == [{"place": "flag", "name": "--max-num-seqs", "left": "64", "right": "256"}]


def test_it_fits_80_columns(side: Side, capsys: pytest.CaptureFixture[str]) -> None:
    diff_main(Asked(joined(side("base", A)), joined(side("top", B)), every=True))
    table = [line for line in capsys.readouterr().out.splitlines() if ".." in line and "%" not in line[:3]]
    rows = [line.rstrip() for line in table if re.match(r"[> ] [a-zA-Z]", line)]
    assert len(rows) > 20 and max(map(len, rows)) <= 80


@pytest.mark.parametrize(
    ("speeds", "fail_on", "code"),
    [
        (A, "regression", 0),
        ([x / 1.07 for x in A], "regression", 1),
        ([x / 1.07 for x in A], "never", 0),
        ([x * y for x, y in zip(A, [1.1, 0.9, 1.1, 0.9, 1.1, 0.9], strict=True)], "regression", 0),
        ([x * y for x, y in zip(A, [1.1, 0.9, 1.1, 0.9, 1.1, 0.9], strict=True)], "inconclusive", 1),
        ([1.07], "inconclusive", 1),  # one run a side shows nothing
        (B, "inconclusive", 0),
    ],
)
def test_exit_codes(side: Side, speeds: list[float], fail_on: str, code: int) -> None:
    assert diff_main(Asked(joined(side("base", A)), joined(side("top", speeds)), fail_on=fail_on)) == code


def test_worse_looks_at_every_metric(side: Side) -> None:
    a, b = side("base", A), side("top", A)
    for n, path in enumerate(b):
        edit(path / "summary.json", lambda told, n=n: told["agent"]["ttft_s"].update(p95=2.0 + 0.01 * n))
    assert diff_main(Asked(joined(a), joined(b))) == 0
    assert diff_main(Asked(joined(a), joined(b), fail_on="worse")) == 1
    assert diff_main(Asked(joined(a), joined(b), primary="TTFT p95")) == 1


def test_sides_by_label_by_folder_and_by_rung(side: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = side("base", A[:2]), side("top", B[:2])
    (tmp_path / "reports").mkdir()
    (tmp_path / "runs").rename(tmp_path / "reports" / "runs")
    monkeypatch.chdir(tmp_path)
    assert [path.name for path in runs_of("label:top")] == [path.name for path in b]
    assert {path.name for path in runs_of("reports")} == {path.name for path in (*a, *b)}
    assert len(runs_of("reports/runs/top-1, reports/runs/top-1")) == 1
    repeats = [{"run": f"runs/top-{n}", "error": None if n == 1 else "the server died"} for n in (1, 2)]
    (tmp_path / "reports" / "ladder.json").write_text(
        json.dumps({"schema": 1, "rungs": [{"name": "top", "repeats": repeats}]})
    )
    assert runs_of("reports/top") == [Path("reports/runs/top-1")]
    assert diff_main(Asked("label:base", "label:top")) == 0
    for wrong, said in (
        ("label:tpo", "did you mean label:top?"),
        ("reports/bottom", "without a rung 'bottom'; it has top"),
        ("reports/runs/top-11", "did you mean reports/runs/top-1?"),
        ("label:base,", "names an empty folder"),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            runs_of(wrong)


def test_one_run_a_side_on_a_real_machine(capsys: pytest.CaptureFixture[str]) -> None:
    """The published runs, whose lines are compressed."""
    published = ROOT / "reports" / "h200_random_weights"
    assert diff_main(Asked(str(published / "baseline"), str(published / "top"))) == 0
    shown = capsys.readouterr().out
    assert "RANDOM WEIGHTS" in shown and "looks 19.5 % faster" in shown and "suggestive" in shown
    assert "within-run 95 %" in shown and "mamba_ssm_cache_dtype" in shown
    assert " better" not in shown and " worse" not in shown.replace("worst", "")


# --- bad input: a sentence, no traceback, no NaN ---


def broken(folder: Path, how: str) -> None:
    """Makes a folder bad."""
    match how:
        case "empty":
            shutil.rmtree(folder)
            folder.mkdir()
        case "missing":
            shutil.rmtree(folder)
        case "newer":
            edit(folder / "manifest.json", lambda told: told.update(schema=99))
        case "newer summary":
            edit(folder / "summary.json", lambda told: told.update(schema=99))
        case "no manifest":
            (folder / "manifest.json").unlink()
        case "half a manifest":
            (folder / "manifest.json").write_bytes((folder / "manifest.json").read_bytes()[:200])
        case "half written":
            edit(folder / "manifest.json", lambda told: told.pop("ended"))
            (folder / "summary.json").unlink()
            (folder / "windows.json").unlink()
            lines = (folder / "records.jsonl").read_bytes()
            (folder / "records.jsonl").write_bytes(lines[: len(lines) // 2])
        case "nothing finished":
            lines = [orjson.loads(line) for line in (folder / "records.jsonl").read_bytes().splitlines()]
            gone: dict[str, Any] = dict(
                outcome="failed", error="refused", output_tok=None, t_first_s=None, t_last_s=None
            )
            (folder / "records.jsonl").write_bytes(b"".join(orjson.dumps(each | gone) + b"\n" for each in lines))
            (folder / "summary.json").unlink()
        case "no records":
            (folder / "records.jsonl").write_bytes(b"")
            (folder / "summary.json").unlink()
        case "one session":
            lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
            kept = [line for line in lines if b'"synthetic"' not in line and orjson.loads(line)["slot"] == 0]
            (folder / "records.jsonl").write_bytes(b"".join(kept))
            (folder / "summary.json").unlink()
        case "two models":
            edit(folder / "manifest.json", lambda told: told["engine"].update(model="another"))
        case "strange values":
            edit(folder / "manifest.json", lambda told: told.update(seed="x", t0_unix_s="y", engine=[], versions=3))
        case "strange summary":
            edit(folder / "summary.json", lambda told: told.update(agent={"output_tok_s": "fast"}, limit=3, client=[]))


BAD = {
    "empty": (2, "is empty"),
    "missing": (2, "does not exist"),
    "newer": (2, "schema 99"),
    "newer summary": (2, "schema 99"),
    "no manifest": (2, "holds no manifest.json"),
    "half a manifest": (2, "is not a JSON object"),
    "half written": (4, "was killed, or still goes on"),
    "nothing finished": (4, "was finished"),
    "no records": (4, "no kind of traffic"),
    "one session": (4, ""),
    "two models": (4, "--allow model"),
    "strange values": (4, ""),
    "strange summary": (2, "holds values that no run writes"),
}


@pytest.mark.parametrize("how", BAD)
@pytest.mark.parametrize("many", [False, True])
def test_bad_folders(side: Side, how: str, many: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    a, b = side("base", A[:2] if many else A[:1]), side("top", B[:2] if many else B[:1])
    broken(b[0], how)
    code, said = BAD[how]
    out = tmp_path / "out"
    asked = Asked(joined(a), joined(b), md=out / "d.md", html=out / "d.html", json=out / "d.json")
    out.mkdir()
    try:
        found, told = diff_main(asked), capsys.readouterr().out
        assert not re.search(r"\bnan\b", told + (out / "d.md").read_text() + (out / "d.json").read_text(), re.I)
    except SimError as error:
        found, told = error.exit_code, str(error)
        assert "\n" not in told and len(told) < 400
    assert said in told
    assert found == code or (how == "one session" and found == 0) or (how == "strange values" and many and found == 0)


def test_hostile_names_are_only_text(side: Side, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = side("base", A[:2]), side("top", B[:2])
    evil = "</script><img src=x onerror=alert(1)>|[red]`\x1b[31m\u202e"
    for path in b:
        edit(path / "manifest.json", lambda told: told.update(label=evil))
        edit(path / "manifest.json", lambda told: told["engine"].update(argv=[f"--{evil}", evil], env={evil: evil}))
    files = {kind: tmp_path / f"out.{kind}" for kind in ("md", "html")}
    diff_main(Asked(joined(a), joined(b), **files))
    page = files["html"].read_text()
    assert "<img src=x" not in page and "\x1b" not in page + capsys.readouterr().out + files["md"].read_text()
    assert "<img" not in files["md"].read_text().replace("\\<img", "")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"primary": "tfft p95"}, "did you mean 'TTFT p95'?"),
        ({"primary": "input, uncached"}, "neither more nor less"),
        ({"primary": "robots:output"}, "agents or synthetic"),
        ({"fail_on": "anything"}, "one of regression, worse, inconclusive, never"),
        ({"equivalence": "much"}, "a share such as 2%"),
        ({"allow": ("colour",)}, "--allow colour: some of seed"),
    ],
)
def test_bad_options_say_the_cure(side: Side, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        diff_main(Asked(joined(side("base", A[:1])), joined(side("top", B[:1])), **changes))


def test_a_run_against_itself_says_nothing(side: Side) -> None:
    a = joined(side("base", A[:1]))
    with pytest.raises(UsageError, match="stands on both sides"):
        diff_main(Asked(a, a))


def test_the_command_itself(side: Side, tmp_path: Path) -> None:
    """A process, with what a shell sees: a regression is 1, and an error one line."""
    a, b = side("base", B), side("top", A)
    command = [sys.executable, "-m", "simulator.cli.main", "diff"]
    done = subprocess.run([*command, joined(a), joined(b)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "slower" in done.stdout and not done.stderr
    done = subprocess.run([*command, joined(a), str(tmp_path / "no")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr


def test_records_may_be_compressed(side: Side) -> None:
    a, b = side("base", A[:2]), side("top", B[:2])
    for path in a:
        for name in ("records.jsonl", "chunks.bin"):
            (path / f"{name}.gz").write_bytes(gzip.compress((path / name).read_bytes()))
            (path / name).unlink()
    assert diff_main(Asked(joined(a), joined(b))) == 0


def test_a_damaged_run_is_compared_with_nothing(side: Side, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = side("base", A[:3]), side("top", B[:3])
    lines = (b[1] / "records.jsonl").read_bytes().splitlines(keepends=True)
    lines[2] = b'{"torn": \n'
    lines[3] = lines[3].replace(b'"output_tok":', b'"output_tok":-')
    (b[1] / "records.jsonl").write_bytes(b"".join(lines))
    assert diff_main(Asked(joined(a), joined(b))) == 4
    assert "top-2 is damaged: 2 lines of its records cannot be read" in " ".join(capsys.readouterr().out.split())


def test_an_engine_that_fails_is_not_equivalent(side: Side, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = side("base", A), side("top", A)
    for path in b:
        edit(path / "summary.json", lambda told: told["synthetic"]["requests"].update(failed=9))
    asked = Asked(joined(a), joined(b), fail_on="worse")
    assert diff_main(asked) == 4 and "synthetic requests failed" in " ".join(capsys.readouterr().out.split())
    assert diff_main(replace(asked, allow=("failed",))) == 0


def test_a_file_that_cannot_be_unpacked_is_named(side: Side) -> None:
    a, b = side("base", A[:1]), side("top", B[:1])
    packed = b[0] / "records.jsonl.gz"
    whole = gzip.compress((b[0] / "records.jsonl").read_bytes())
    (b[0] / "records.jsonl").unlink()
    for content in (whole[: len(whole) // 2], b"no gzip at all\n"):
        packed.write_bytes(content)
        with pytest.raises(UsageError, match=r"records\.jsonl\.gz cannot be unpacked"):
            diff_main(Asked(joined(a), joined(b)))
    packed.unlink()
    os.mkfifo(b[0] / "records.jsonl")
    with pytest.raises(UsageError, match=r"records\.jsonl is no regular file"):
        diff_main(Asked(joined(a), joined(b)))


def test_a_manifest_of_another_shape_is_named(side: Side) -> None:
    a, b = side("base", A[:1]), side("top", B[:1])
    edit(b[0] / "manifest.json", lambda told: told.update(engine="x"))
    with pytest.raises(UsageError, match=r"manifest\.json has `engine` that is no object"):
        diff_main(Asked(joined(a), joined(b)))


def test_copies_of_a_run_are_one_run(side: Side, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = side("base", A[:1]), side("top", B[:1])
    copies = [[Path(shutil.copytree(each[0], tmp_path / f"{each[0].name}-{n}")) for n in range(5)] for each in (a, b)]
    assert diff_main(Asked(joined(a + copies[0]), joined(b + copies[1]), fail_on="inconclusive")) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "(one run a side" in shown and "suggestive, no verdict" in shown and "6 pairs" not in shown
    assert "base-1-0, base-1-1, base-1-2 and 2 more repeat base-1: it is one run, so it is counted once" in shown
    edit(copies[0][0] / "manifest.json", lambda told: told.update(t0_unix_s=1.8e9))  # its records are still the same
    assert diff_main(Asked(joined([*a, copies[0][0]]), joined(b))) == 0
    assert "base-1-0 repeats base-1" in capsys.readouterr().out
    for copy in (copies[0][0], copies[0][1]):
        with pytest.raises(UsageError, match="stands on both sides; a run compared with itself says nothing"):
            diff_main(Asked(str(a[0]), joined([copy, *b])))


def test_equal_runs_are_called_equal(side: Side, capsys: pytest.CaptureFixture[str]) -> None:
    six = side("base", [1.0] * 6), side("top", [1.0] * 6)
    for runs, sure in ((1, "suggestive"), (6, "equivalent")):
        a, b = (each[:runs] for each in six)
        for primary, what in ((None, "agents' output tok/s"), ("synthetic:TTFT p50", "synthetic TTFT p50")):
            assert diff_main(Asked(joined(a), joined(b), primary=primary)) == 0
            first = next(line for line in capsys.readouterr().out.splitlines() if " equal in " in line)
            assert (
                first.startswith(f"A and B are equal in {what} (")
                and sure in first
                and "0.0 %" not in first.partition("(")[0]
            )
