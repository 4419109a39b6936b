"""Records that were cut at a line's end or doubled are damaged, and a summary of other records is not believed."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from fixtures_run import Shape, write_run

from simulator.cli.diff import Asked, digest
from simulator.cli.diff import main as diff_main
from simulator.cli.report import fold, write_report
from simulator.store.folder import RunFolder

REPORTS = Path(__file__).resolve().parents[2] / "reports"
SCHEMAS = Path(__file__).parent / "schemas"
Make = Callable[[int], Path]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    base = tmp_path_factory.mktemp("two")
    paths = [
        write_run(base / f"r{n}", Shape(slots=2, window_s=4, synthetic=4, seed=n), t0_unix_s=1.79e9 + n) for n in (1, 2)
    ]
    for path in paths:
        write_report(path, show=False)
    return paths


@pytest.fixture
def make(two: list[Path], tmp_path: Path) -> Make:
    def copied(which: int) -> Path:
        return Path(shutil.copytree(two[which], tmp_path / f"copy{which}"))

    return copied


def edited(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    told = orjson.loads(path.read_bytes())
    change(told)
    path.write_bytes(orjson.dumps(told))


def told(path: Path) -> str:
    run = RunFolder.open(path)
    return " ".join(each["what"] for each in fold(run, path)["warnings"] if each["code"] == "damage")


@pytest.mark.parametrize("name", ["records.jsonl", "tools.jsonl", "sessions.jsonl"])
@pytest.mark.parametrize("change", [lambda lines: lines[:-1], lambda lines: lines * 2, lambda lines: lines + lines[:1]])
def test_lines_that_are_missing_or_stand_twice(make: Make, name: str, change: Any) -> None:
    run = make(0)
    assert told(run) == ""
    lines = (run / name).read_bytes().splitlines(keepends=True)
    (run / name).write_bytes(b"".join(change(lines)))
    assert f"{name} has {len(change(lines)):,} lines, and the run wrote {len(lines):,}" in told(run)


def test_a_run_that_did_not_say_how_many_lines_it_wrote(make: Make, two: list[Path], capsys: Any) -> None:
    run = make(0)
    edited(run / "manifest.json", lambda manifest: manifest.pop("lines"))
    lines = (run / "records.jsonl").read_bytes().splitlines(keepends=True)
    for changed, why in ((lines * 2, "stand more than once"), (lines[:-1], "chunk times are no request's")):
        (run / "records.jsonl").write_bytes(b"".join(changed))
        assert why in told(run)
        assert diff_main(Asked(str(two[1]), str(run), allow=("seed",))) == 4
        assert f"{run.name} is damaged: " in capsys.readouterr().out


def test_a_killed_run_may_lack_records(make: Make) -> None:
    run = make(0)
    edited(run / "manifest.json", lambda manifest: [manifest.pop(key) for key in ("ended", "lines")])
    lines = (run / "records.jsonl").read_bytes().splitlines(keepends=True)
    (run / "records.jsonl").write_bytes(b"".join(lines[2:-1]))
    assert told(run) == ""


@pytest.mark.parametrize("says", [True, False], ids=["with its source", "of an older version"])
def test_the_summary_of_another_run_is_not_believed(make: Make, two: list[Path], says: bool) -> None:
    run, other = make(0), RunFolder.open(two[1]).summary
    assert other is not None
    mine = RunFolder.open(run).summary
    assert mine is not None and mine["agent"]["output_tok_s"] != other["agent"]["output_tok_s"]
    edited(
        run / "windows.json", lambda stated: stated["synthetic"].update(start_s=mine["synthetic"]["window"]["start_s"])
    )
    (run / "summary.json").write_bytes(
        orjson.dumps(other if says else {k: v for k, v in other.items() if k != "folded_from"})
    )
    assert RunFolder.open(run).summary is None
    found = digest(RunFolder.open(run), "run", alone=False)
    assert found.summary["agent"]["output_tok_s"] == pytest.approx(mine["agent"]["output_tok_s"])


def test_records_that_grew_since_are_folded_again(make: Make) -> None:
    run = make(0)
    whole = (run / "records.jsonl").read_bytes().splitlines(keepends=True)
    (run / "records.jsonl").write_bytes(b"".join(whole[:5]))
    assert RunFolder.open(run).summary is None
    (run / "records.jsonl").write_bytes(b"".join(whole))
    assert RunFolder.open(run).summary is not None


def test_a_packed_run_is_the_same(make: Make) -> None:
    run = make(0)
    for name in ("records.jsonl", "chunks.bin"):
        (run / f"{name}.gz").write_bytes(gzip.compress((run / name).read_bytes()))
        (run / name).unlink()
    assert RunFolder.open(run).summary is not None and told(run) == ""


@pytest.mark.parametrize(
    "folder", sorted(each.parent for each in (*REPORTS.rglob("manifest.json"), *SCHEMAS.rglob("manifest.json"))),
    ids=lambda path: path.name,
)  # fmt: skip
def test_published_runs_and_those_of_each_schema_are_whole(folder: Path) -> None:
    run = RunFolder.open(folder)
    assert run.summary is not None and run.unsound == ()
