"""From a task to a session's plan: its recorded solution is carried out once, in a scratch workspace, and every request
that the client would send on the way is written down.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from simulator.cline.conversation import Conversation
from simulator.cline.profiles import profile as find_profile
from simulator.cline.setup import Draft, Setup
from simulator.core.action import Action, ListFiles, Listing, Outcome, Ran, outcome_text
from simulator.core.normalise import comparable
from simulator.core.plan import PlannedCall, SessionPlan, Turn
from simulator.core.scenario import Scenario
from simulator.core.task import Task
from simulator.errors import SimError
from simulator.tasks import pace
from simulator.tasks.mix import SessionSpec

#: sessions "begin" on this Monday morning, UTC, each at a minute of its own; replay must not depend on today
EPOCH_S = 1_772_438_400
SHARED_DIR = "/home/dev/projects/workspace"
_ELAPSED = re.compile(r"\bin \d+\.\d+s\b")


class Bench(Protocol):
    """A scratch workspace of one task at its HEAD. `do` carries an action out; `head` is the full commit hash."""

    head: str

    def do(self, action: Action) -> Outcome: ...

    def check(self, task: Task) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class Terms:
    """What all sessions of a run share. model: name in the requests; count: tokens of a text."""

    scenario: Scenario
    model: str
    count: Callable[[str], int]


def shown_dir(spec: SessionSpec, task_name: str) -> str:
    """The folder that the prompts name. It decides whether agents share their prompts' prefix."""
    return SHARED_DIR if spec.shared_dir else f"/home/dev/projects/{task_name}"


def record(spec: SessionSpec, task: Task, bench: Bench, terms: Terms) -> SessionPlan:
    """Carries the recorded solution out on the bench. SimError when it does not solve the task."""
    profile = find_profile(spec.profile)
    rng = random.Random(f"{spec.seed}/pace")
    clock_s = float(EPOCH_S + rng.randrange(8 * 3600))
    conversation = Conversation(profile, _setup(spec, task, bench, terms, clock_s), terms.count)
    turns: list[Turn] = []
    for step in task.steps:
        think = pace.think_s(rng, terms.scenario.think) if turns else 0.0
        drafts = conversation.requests()
        output_tok = conversation.reply(step)
        outcomes = [_steady(bench.do(action), rng) for action in step.actions]
        calls = tuple(
            PlannedCall(action, comparable(outcome_text(outcome)), pace.tool_s(rng, profile.client, action))
            for action, outcome in zip(step.actions, outcomes, strict=True)
        )
        for number, draft in enumerate(drafts):
            last = number == len(drafts) - 1  # a summary call comes before the agent's own request
            turns.append(
                _turn(
                    len(turns),
                    draft,
                    output_tok if last else draft.output_tok,
                    think if number == 0 else 0.0,
                    calls if last else (),
                )
            )
        # The prompts tell the time; in a replay it is the plan's own clock that moves.
        clock_s += think + output_tok * 0.012 + 1.0 + sum(c.recorded_s for c in calls)
        conversation.results(outcomes, clock_s)
    complaints = bench.check(task)
    if complaints:
        raise SimError(f"{task.template} seed {task.seed}: its recorded solution fails its check: {complaints[0]}")
    return _plan(spec, task, conversation, tuple(turns), terms.scenario)


def _setup(spec: SessionSpec, task: Task, bench: Bench, terms: Terms, clock_s: float) -> Setup:
    listing = bench.do(ListFiles(".", recursive=True))
    assert isinstance(listing, Listing)
    return Setup(
        task_prompt=task.prompt,
        cwd=shown_dir(spec, task.name),
        repo_name=task.name,
        model=terms.model,
        context_window_tok=terms.scenario.context_window_tok,
        listing=listing,
        latest_commit=bench.head,
        start_unix_s=clock_s,
        extra_body={"stream_options": {"continuous_usage_stats": True}},
    )


def _steady(outcome: Outcome, rng: random.Random) -> Outcome:
    """A recorded outcome must be the same each time it is recorded: the durations that a test runner printed are
    replaced by drawn ones."""
    if not isinstance(outcome, Ran):
        return outcome
    return replace(outcome, output=_ELAPSED.sub(lambda m: f"in {rng.lognormvariate(-5.5, 0.8):.3f}s", outcome.output))


def _turn(index: int, draft: Draft, output_tok: int, think_s: float, calls: tuple[PlannedCall, ...]) -> Turn:
    return Turn(
        index=index,
        purpose=draft.purpose,
        view=draft.view,
        cut=draft.cut,
        head=draft.head,
        prompt_tok=draft.prompt_tok,
        output_tok=output_tok,
        think_s=think_s,
        calls=calls,
        max_tok=draft.max_tok,
    )


def _plan(
    spec: SessionSpec, task: Task, conversation: Conversation, turns: tuple[Turn, ...], scenario: Scenario
) -> SessionPlan:
    start = min(int(spec.age * len(turns)), len(turns) - 1)
    while start and turns[start - 1].purpose == "compaction":
        start -= 1  # a summary call and the request that carries its result belong together
    return SessionPlan(
        session=spec.session,
        task_template=task.template,
        task_kind=task.kind,
        task_size=task.size,
        task_seed=task.seed,
        task_name=task.name,
        profile=spec.profile,
        cwd=shown_dir(spec, task.name),
        heads=tuple(conversation.heads),
        pool=tuple(conversation.pool),
        tail=conversation.tail,
        tails=tuple(conversation.tails),
        turns=turns,
        check=task.check,
        start_turn=start,
        end_turn=None if scenario.max_turns is None else start + scenario.max_turns,
    )
