"""`sim diff` on folders of live runs: what a sure fall in solved tasks does to the exit code, and what is shown."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from fixtures_run import Shape, of_its_own, write_run

from simulator.cli.diff import Asked
from simulator.cli.diff import main as diff_main
from simulator.cli.report import write_report


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A live run whose sessions were all judged, as its model solved every task."""
    return solving(tmp_path_factory.mktemp("base") / "a", 1.0, None)


def solving(path: Path, share: float, like: Path | None) -> Path:
    """A run of which that share is solved: the first sessions by their names."""
    if like is None:
        write_run(path, Shape(slots=12, window_s=30.0, synthetic=0, fail_every=0), mode="live")
    else:
        of_its_own(shutil.copytree(like, path))
        for name in ("summary.json", "report.md"):
            (path / name).unlink()
    sessions = [orjson.loads(line) for line in (path / "sessions.jsonl").read_bytes().splitlines()]
    done = sorted((s for s in sessions if s["outcome"] == "completed"), key=lambda s: str(s["session"]))
    for n, each in enumerate(done):
        each["verified"] = n < share * len(done)
        each["failure_class"] = "" if each["verified"] else "wrong_answer"
    (path / "sessions.jsonl").write_bytes(b"".join(orjson.dumps(s) + b"\n" for s in sessions))
    write_report(path, show=False)
    return path


def faster(path: Path) -> Path:
    told: dict[str, Any] = orjson.loads((path / "summary.json").read_bytes())
    told["agent"]["output_tok_s"] *= 1.5
    (path / "summary.json").write_bytes(orjson.dumps(told))
    return path


def test_a_sure_fall_fails_and_says_what_it_is(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    b = faster(solving(tmp_path / "b", 0.5, base))
    files = {kind: tmp_path / f"out.{kind}" for kind in ("md", "html", "json")}
    assert diff_main(Asked(str(base), str(b), primary="output", **files)) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert re.search(r"B solves 44\.4 points fewer of the tasks than A \(95 % -.*paired tasks, p .*\): worse", shown)
    assert "50.0 % faster" in shown and "of other work" in shown and "rank no engines" in shown
    told = json.loads(files["json"].read_text())
    solved = told["solved"]
    assert told["verdict"] == "worse" and solved["word"] == "worse" and solved["won"] == 0
    assert solved["lost"] + solved["both"] == solved["n"] and solved["finds"] > 0
    for kind in ("md", "html"):
        assert "points fewer of the tasks" in files[kind].read_text()
    assert diff_main(Asked(str(base), str(b), fail_on="never")) == 0
    assert diff_main(Asked(str(b), str(base))) == 0


def test_solved_tasks_an_hour_decide_unless_another_is_asked_for(base: Path, tmp_path: Path) -> None:
    b = solving(tmp_path / "b", 1.0, base)
    for primary, label in ((None, "solved tasks an hour"), ("output", "output")):
        diff_main(Asked(str(base), str(b), primary=primary, json=tmp_path / "out.json"))
        told = json.loads((tmp_path / "out.json").read_text())
        assert told["primary"]["label"] == label and told["verdict"] == "suggestive"
        assert ("tasks an hour" in told["headline"]) is (primary is None)


def test_a_summary_of_before_has_its_solved_tasks_as_well(base: Path, tmp_path: Path) -> None:
    b = solving(tmp_path / "b", 0.9, base)
    for path in (b, of_its_own(shutil.copytree(base, tmp_path / "a"))):
        told = orjson.loads((path / "summary.json").read_bytes())
        del told["agent"]["quality"]
        (path / "summary.json").write_bytes(orjson.dumps(told))
    diff_main(Asked(str(tmp_path / "a"), str(b), json=tmp_path / "out.json"))
    told = json.loads((tmp_path / "out.json").read_text())
    assert told["primary"]["a"] > told["primary"]["b"] > 0


def test_report_and_page_show_the_interval_and_what_a_task_took(base: Path) -> None:
    text = (base / "report.md").read_text()
    assert re.search(r"\*\*Solved: \d+ of \d+ tasks \(100 %, 95 % [\d.]+\.\.100\)\*\*; \S+ solved an hour", text)
    assert "| prompt / output tokens a solved task" in text and "| by |  | solved | % | 95 % |" in text
