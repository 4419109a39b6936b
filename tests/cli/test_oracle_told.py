"""What a run and its report say of an oracle: how many sessions it cannot answer, its mistakes, whether they agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from fixtures_fold import reply, run_of, session

from simulator.cli.oracle import engine_told, without_solution
from simulator.cli.oracle_told import fillers, oracle_told
from simulator.cli.target import Target
from simulator.core.solution import Said, Solution, Way
from simulator.core.summary import summarise
from simulator.store.plans import PlannedSession
from simulator.view.identity import emulation
from simulator.view.page.run_page import run_page
from simulator.view.report_md import report

MANIFEST = {"engine": {"kind": "emulated", "oracle": {"early_stop": 0.25}}}


def target(solutions: Path | None = Path("solutions.jsonl")) -> Target:
    return Target("http://127.0.0.1:1/v1", "m", "", "emulated", {"oracle": {}}, 60.0, solutions=solutions)


def rows(*turns: int) -> list[PlannedSession]:
    return [
        PlannedSession(f"s{n}", n, "t", "coding", "small", "sdk", "t", "", 0, each, each, 0, 1.0, 1, "")
        for n, each in enumerate(turns)
    ]


def test_a_run_says_for_how_many_sessions_there_is_no_solution() -> None:
    some = engine_told(target(), rows(5, 0, 7))
    assert some["oracle_unknown"] == {"sessions": 1, "of": 3} and "ORACLE" in emulation({"engine": some})
    assert fillers(1, 3) == "the oracle knows no solution for 1 of 3 sessions: it gets filler replies"
    none = engine_told(target(), rows(0, 0))
    assert none["oracle_unknown"] == {"sessions": 2, "of": 2} and "ORACLE" not in emulation({"engine": none})
    assert "oracle_unknown" not in engine_told(target(), rows(5, 7))
    assert without_solution(target(None), rows(0)) == 0, "a server that is not ours writes what it likes"


def solution(name: str) -> bytes:
    ways = (
        Way(Said("Look."), (("list", "{}"),)),
        Way(Said("Write."), (("edit", "{}"),), changes=True),
        Way(Said("Done.")),
    )
    return Solution(name, "", "classic", "xml", "/w", f"request {name}", ways).line()


def line(name: str, mistake: str = "", *, fatal: bool = False) -> bytes:
    told = {"session": name, "branch": "", "step": 0, "steps": 3, "tries": 0, "mistake": mistake, "fatal": fatal}
    return orjson.dumps(told, option=orjson.OPT_APPEND_NEWLINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of four sessions one is lost by a mistake, and one the oracle does not know."""
    (tmp_path / "solutions.jsonl").write_bytes(b"".join(solution(name) for name in ("s0", "s1", "s2")))
    log = line("s0"), line("s1", "malformed"), line("s1"), line("s2", "early_stop", fatal=True), b'{"session": "s'
    (tmp_path / "oracle.jsonl").write_bytes(b"".join(log))
    return tmp_path


def told(folder: Path, *solved: bool) -> tuple[dict[str, Any], str]:
    sessions = [session(f"s{n}", verified=good) for n, good in enumerate(solved)]
    run = run_of(reply(10.0, [(250, 1), (20, 2)]), sessions=sessions, mode="live")
    summary = summarise(run)
    found = summary["agent"]["live"]["oracle"] = oracle_told(run, MANIFEST, folder)
    assert found is not None
    assert "tasks solved, 95 %" in run_page(run, summary, MANIFEST).split("agents, output")[0], "the first tile"
    return found, report(summary, MANIFEST)


def test_mistakes_stand_beside_what_became_of_the_sessions(folder: Path) -> None:
    found, text = told(folder, True, True, False, False)
    assert found["predicted_share"] == pytest.approx(3 * 0.75 / 4)
    assert found["predicted_sd"] == pytest.approx((3 * 0.75 * 0.25) ** 0.5 / 4)
    assert (found["fatal_sessions"], found["recoverable"], found["not_as_logged"]) == (1, 1, 0)
    assert "56.2 % ± 18.8 % solved was predicted; 1 session with a fatal mistake; 1 recoverable mistake" in text
    assert "agrees: each session ended as its log says" in text


def test_sessions_that_end_otherwise_are_counted(folder: Path) -> None:
    found, text = told(folder, False, True, True, False)
    assert found["not_as_logged"] == 2
    assert "does not agree: 2 sessions ended otherwise than its log says" in text


def test_without_files_or_an_oracle_nothing_is_said(folder: Path, tmp_path: Path) -> None:
    run = run_of(reply(10.0, [(250, 1)]), sessions=[session("s0", verified=True)], mode="live")
    assert oracle_told(run, {"engine": {"kind": "emulated"}}, folder) is None
    (folder / "oracle.jsonl").unlink()
    assert oracle_told(run, MANIFEST, folder) is None


def test_an_engine_s_settings_leave_out_what_it_was_measured_by() -> None:
    settings = {"hardware": {"name": "h200", "calibration": [{"tok_s": 1}, {"tok_s": 2}]}, "block_size": 64}
    text = report(summarise(run_of(reply(1.0, [(10, 1)]))), {"engine": {"kind": "emulated", "settings": settings}})
    assert "settings.block_size" in text and "calibration" not in text
