"""From a task to a live session: how it begins, and beside it the plan of the recorded solution, where the task has
one. The plan shows that the task can be solved and its check is sound, tells how far a model leaves the recorded way,
and is what an oracle plays (solutions.py); nothing of it is sent."""

from __future__ import annotations

import random
from dataclasses import replace

from simulator.core.action import ListFiles, Listing
from simulator.core.live import Limits, LiveStart
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario
from simulator.core.task import Task
from simulator.tasks import pace
from simulator.tasks.mix import SessionSpec
from simulator.tasks.plan_text import answer_to
from simulator.tasks.recording import EPOCH_S, Bench, Terms, record, shown_dir, steps_of

#: pauses that are drawn; a longer session begins again with the first
PAUSES = 256
#: a guess at a session's least time: even one that gives up has to be set up and asked
LEAST_S, LEAST_TURN_S = 8.0, 0.25


def begin(spec: SessionSpec, task: Task, bench: Bench, terms: Terms) -> SessionPlan:
    """SimError when there is a recorded solution and it does not solve the task."""
    listing = bench.do(ListFiles(".", recursive=True))
    assert isinstance(listing, Listing)
    start = _start(spec, task, listing, bench.head, terms)
    made = record(spec, task, bench, terms) if task.steps else _without_a_way(spec, task)
    return replace(made, live=start)


def floor_s(start: LiveStart) -> float:
    """A guess at the least that a session takes; decides how many more sessions its slot needs."""
    return LEAST_S + LEAST_TURN_S * len(start.path)


def _start(spec: SessionSpec, task: Task, listing: Listing, head: str, terms: Terms) -> LiveStart:
    scenario = terms.scenario
    rng = random.Random(f"{spec.seed}/live")
    steps = steps_of(spec, task, listing, scenario) if task.recorded and task.steps else ()
    pauses = PAUSES if scenario.think.kind != "none" else 0
    return LiveStart(
        prompt=task.prompt,
        model=terms.model,
        repo_name=task.name,
        listing=listing,
        latest_commit=head,
        start_unix_s=float(EPOCH_S + rng.randrange(8 * 3600)),
        context_window_tok=scenario.context_window_tok,
        limits=_limits(scenario),
        path=tuple(step.actions for step in steps),
        pauses_s=tuple(pace.think_s(rng, scenario.think) for _ in range(pauses)),
        answer=answer_to(rng),
        plan_mode=spec.plan_mode,
        subagents=spec.subagents,
        parallel_tool_calls=scenario.parallel_tool_calls,
        cached_double_count=scenario.cached_double_count,
        usage=scenario.usage,
    )


def _without_a_way(spec: SessionSpec, task: Task) -> SessionPlan:
    return SessionPlan(
        session=spec.session,
        task_template=task.template,
        task_kind=task.kind,
        task_size=task.size,
        task_seed=task.seed,
        task_name=task.name,
        profile=spec.profile,
        cwd=shown_dir(spec, task.name),
        heads=(),
        pool=(),
        tail=b"",
        turns=(),
        check=task.check,
    )


def _limits(scenario: Scenario) -> Limits:
    assert scenario.live is not None
    live = scenario.live
    return Limits(live.max_turns, live.max_session_s, live.max_output_tok, live.max_reply_tok)
