"""From a task to the beginning of a live session: nothing is carried out, the model will do that. The recorded way is
kept beside it, where a task has one, to see how far the model leaves it."""

from __future__ import annotations

import random

from simulator.cline.profiles import profile as find_profile
from simulator.core.action import ListFiles, Listing
from simulator.core.live import Limits, LiveStart
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario
from simulator.core.task import Task
from simulator.tasks import pace
from simulator.tasks.mix import SessionSpec
from simulator.tasks.plan_text import answer_to
from simulator.tasks.recording import EPOCH_S, Bench, Terms, shown_dir
from simulator.tasks.steps import Manner, prepared

#: pauses that are drawn; a longer session begins again with the first
PAUSES = 256
#: a guess at a session's least time: even one that gives up has to be set up and asked
LEAST_S, LEAST_TURN_S = 8.0, 0.25


def begin(spec: SessionSpec, task: Task, bench: Bench, terms: Terms) -> SessionPlan:
    scenario = terms.scenario
    rng = random.Random(f"{spec.seed}/pace")
    listing = bench.do(ListFiles(".", recursive=True))
    assert isinstance(listing, Listing)
    cwd = shown_dir(spec, task.name)
    start = LiveStart(
        prompt=task.prompt,
        model=terms.model,
        repo_name=task.name,
        listing=listing,
        latest_commit=bench.head,
        start_unix_s=float(EPOCH_S + rng.randrange(8 * 3600)),
        context_window_tok=scenario.context_window_tok,
        limits=_limits(scenario),
        path=tuple(step.actions for step in prepared(task.steps, _manner(spec, scenario, cwd))) if task.steps else (),
        pauses_s=tuple(
            pace.think_s(rng, scenario.think) for _ in range(PAUSES if scenario.think.kind != "none" else 0)
        ),
        answer=answer_to(rng),
        plan_mode=spec.plan_mode,
        subagents=spec.subagents,
        parallel_tool_calls=scenario.parallel_tool_calls,
        cached_double_count=scenario.cached_double_count,
    )
    return SessionPlan(
        session=spec.session,
        task_template=task.template,
        task_kind=task.kind,
        task_size=task.size,
        task_seed=task.seed,
        task_name=task.name,
        profile=spec.profile,
        cwd=cwd,
        heads=(),
        pool=(),
        tail=b"",
        turns=(),
        check=task.check,
        live=start,
    )


def floor_s(start: LiveStart) -> float:
    """A guess at the least that a session takes; decides how many more sessions its slot needs."""
    return LEAST_S + LEAST_TURN_S * len(start.path)


def _manner(spec: SessionSpec, scenario: Scenario, cwd: str) -> Manner:
    return Manner(
        profile=find_profile(spec.profile),
        parallel_tool_calls=scenario.parallel_tool_calls,
        plan_mode=spec.plan_mode,
        seed=spec.seed,
        cwd=cwd,
    )


def _limits(scenario: Scenario) -> Limits:
    assert scenario.live is not None
    live = scenario.live
    return Limits(live.max_turns, live.max_session_s, live.max_output_tok, live.max_reply_tok)
