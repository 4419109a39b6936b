"""Plans of one scenario for windows of several lengths: what is planned anew, what belongs to a run, what is told."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from simulator.cli import planning
from simulator.cli.forecast import Forecast
from simulator.cli.screen import PlanningScreen, planning_told
from simulator.core.scenario import Scenario
from simulator.store.plans import PlanFolder

BASE = {"name": "t", "seed": 3, "sessions": 1, "start": "beginning", "ramp_s": 0, "tools": "paced", "max_turns": 12,
        "profiles": {"sdk": 1}, "sizes": {"medium": 1}}  # fmt: skip
SHORT, LONG = 1.0, 60.0


def planned(window_s: float) -> tuple[PlanFolder, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    scenario = Scenario.model_validate(BASE | {"window_s": window_s})
    return planning.plan(scenario, "m", lambda done, expected: told.append((done, expected))), told


def test_a_longer_window_plans_what_is_new_and_a_shorter_one_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    short, _ = planned(SHORT)
    left = tmp_path / "one" / "agent-sim" / "plans" / "half-made"
    (left / "s0000.git").mkdir(parents=True)
    long, told = planned(LONG)
    assert not left.exists(), "what a killed process left is swept"
    assert told[0][0] == len(short.sessions) and long.path == short.path
    names = [{row.session for row in each.sessions} for each in (short, long)]
    assert names[0] < names[1] and told[-1][0] == len(names[1])
    again, told = planned(SHORT)
    assert told == [(len(short.sessions), len(short.sessions))] and again.hash == short.hash != long.hash

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    fresh, told = planned(LONG)
    assert fresh.hash == long.hash, "the sessions of a run do not depend on what lay in the cache"
    assert told[0][0] == 0 and 0.5 * len(names[1]) <= told[0][1] <= 2 * len(names[1]), "an estimate from the start"


def test_about_how_many_sessions_there_will_be_is_reckoned_by_slot() -> None:
    scenario = Scenario.model_validate(BASE | {"sessions": 8, "window_s": 10})
    turn_s = 2.0  # of the beginning of a paced session
    assert Forecast(scenario, 8, 0.0).expected == 8, "one session a slot"
    assert Forecast(scenario, 8, 12 * turn_s).expected == 8
    assert Forecast(scenario, 8, 12 * turn_s + 1).expected == 16
    assert Forecast(scenario, 4, 36 * turn_s).expected == 12


@pytest.mark.parametrize(
    ("done", "expected", "new", "told"),
    [
        (0, 54, 0, "0 of about 54"),
        (3, 54, 3, "3 of about 54"),
        (14, 54, 14, "14 of about 54, about 0:28 left"),
        (44, 54, 4, "44 of about 54, about 0:25 left"),
        (41, 81, 1, "41 of about 81"),
        (54, 54, 54, "54 of about 54"),
        (55, 54, 55, "55 of about 55"),
    ],
)
def test_what_is_told_of_planning(done: int, expected: int, new: int, told: str) -> None:
    assert planning_told(done, expected, new, 10.0) == told
    assert ("left" in planning_told(5, 400, 5, 10.0), "left" in planning_told(5, 400, 5, 11.0)) == (False, True)


def lines(*steps: tuple[int, int]) -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    with PlanningScreen(plain=True, console=console) as screen:
        for step in steps:
            screen.progress(*step)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_planning_begins_with_a_line_repeats_none_and_ends_with_one() -> None:
    first, *more = lines((0, 9), (0, 9), (0, 9), (4, 9))
    assert first == "planning sessions: 0 of about 9"
    assert len(more) == 1 and more[0].startswith("planned 4 sessions in ") and "of about 9; the others" in more[0]
    assert lines((9, 9)) == [], "all were planned before"
