"""How a live session begins: with the recorded way beside it, or without one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_task import STEPS, TASK, FolderBench, count, recorded, spec

from simulator.cline.live.path import Divergence
from simulator.core.action import Command, Complete, ListFiles, Step, Write
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario
from simulator.core.shape import shape
from simulator.core.task import Task
from simulator.errors import SimError, UsageError
from simulator.store.plans import PlannedSession
from simulator.tasks import own_way
from simulator.tasks.live import begin, floor_s
from simulator.tasks.recording import Terms
from simulator.tasks.solutions import solutions_of


def started(folder: Path, profile: str = "classic-xml", task: Task = TASK, **keys: object) -> SessionPlan:
    scenario = Scenario.model_validate({"name": "n", "sessions": 1, "refill": False, "mode": "live", **keys})
    terms = Terms(scenario, "m", count)
    return begin(spec(profile), task, FolderBench(folder), terms)


@pytest.mark.parametrize("profile", ["classic-xml", "classic-native", "sdk"])
def test_the_recorded_way_is_the_plan_s_own(profile: str, tmp_path: Path) -> None:
    plan = started(tmp_path, profile, subagents=0.0)
    assert plan.live is not None and plan.turns and plan.live.prompt == TASK.prompt
    way = Divergence(profile, plan.live.path)
    for turn in plan.turns:
        way.add([call.action for call in turn.calls])
    assert (way.first, way.share) == (None, 1.0), "what a replay does is the recorded way"
    assert solutions_of(plan)[0].request == TASK.prompt, "an oracle knows it by its request"


def test_a_task_without_a_solution_is_live_all_the_same(tmp_path: Path) -> None:
    plan = started(tmp_path, task=replace(TASK, steps=()))
    assert plan.live is not None and plan.live.path == () and plan.turns == () and not solutions_of(plan)
    row = PlannedSession.of(plan, 0, "h", floor_s(plan.live), 1)
    assert (row.turns, row.prompt_tok) == (0, 0) and row.floor_s > 0
    assert shape([plan]).calls == 0


def test_a_solution_in_files_is_an_oracle_s_way_and_no_recorded_one(tmp_path: Path) -> None:
    plan = started(tmp_path, task=replace(TASK, recorded=False))
    assert plan.live is not None and plan.live.path == ()
    (solution,) = solutions_of(plan)
    assert len(solution.ways) >= len(STEPS)
    with pytest.raises(SimError, match=r"its `solution` fails its check: .*; try it with `sim tasks check`"):
        started(tmp_path / "b", task=replace(TASK, steps=STEPS[:2], recorded=False))


def test_files_become_looks_writes_the_command_and_the_end() -> None:
    made = own_way.steps({"b.py": b"x = 1\n", "a/c.txt": "é".encode()}, "make check")
    done = [action for step in made for action in step.actions]
    assert done[1:4] == [Write("a/c.txt", "é"), Write("b.py", "x = 1\n"), Command("make check")]
    assert isinstance(done[0], ListFiles) and isinstance(done[4], Complete) and len(done) == 5
    assert own_way.steps({}, "make check") == () == own_way.steps({"a.png": b"\xff\xfe\x00"}, "make check")


def test_a_solution_that_does_not_solve_is_told(tmp_path: Path) -> None:
    with pytest.raises(SimError, match="fails its check"):
        started(tmp_path, task=replace(TASK, steps=STEPS[:2]))


@pytest.mark.parametrize("profile", ["classic-xml", "classic-native"])
def test_a_recorded_way_above_the_window_hinders_nobody(profile: str, tmp_path: Path) -> None:
    """Models of 16,000 tokens have tasks whose recorded way is longer; theirs need not be."""
    noisy = Step("All of it.", (Command("head -c 60000 /dev/zero | tr '\\0' x"),))
    steps = (*STEPS[:2], noisy, *STEPS[2:])
    with pytest.raises(UsageError, match="does not fit context_window_tok 16,000"):
        recorded(tmp_path / "replay", spec(profile), steps, context_window_tok=16_000)
    plan = started(tmp_path / "live", profile, replace(TASK, steps=steps), context_window_tok=16_000)
    assert plan.live is not None and len(plan.live.path) == len(solutions_of(plan)[0].ways) == len(steps)
    assert max(turn.prompt_tok for turn in plan.turns) > 16_000


def test_pauses_and_limits_are_the_scenario_s(tmp_path: Path) -> None:
    none = started(tmp_path / "a", think="none", live={"max_turns": 7, "max_reply_tok": 99})
    some = started(tmp_path / "b", think={"median_s": 3, "p90_s": 9})
    assert none.live is not None and some.live is not None
    assert none.live.pauses_s == () and (none.live.limits.turns, none.live.limits.reply_tok) == (7, 99)
    assert len(set(some.live.pauses_s)) > 100 and none.digest() != some.digest()
