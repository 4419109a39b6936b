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
from simulator.cline.profiles import Profile
from simulator.cline.profiles import profile as find_profile
from simulator.cline.setup import Setup
from simulator.core.action import Action, Delegate, ListFiles, Listing, Outcome, Propose, Ran, Step
from simulator.core.normalise import comparable, outcome_text
from simulator.core.plan import PlannedCall, SessionPlan, Turn
from simulator.core.scenario import Scenario
from simulator.core.task import Task
from simulator.core.usage import stream_options
from simulator.errors import SimError
from simulator.tasks import delegation, pace
from simulator.tasks.assembly import Assembly
from simulator.tasks.mix import SessionSpec
from simulator.tasks.steps import Manner, prepared
from simulator.tasks.turns import Done, turns_of

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


def steps_of(spec: SessionSpec, task: Task, listing: Listing, scenario: Scenario) -> tuple[Step, ...]:
    """The recorded solution as this session goes about it. listing: the repository's files."""
    manner = Manner(
        profile=find_profile(spec.profile),
        parallel_tool_calls=scenario.parallel_tool_calls,
        plan_mode=spec.plan_mode,
        seed=spec.seed,
        cwd=shown_dir(spec, task.name),
    )
    steps = prepared(task.steps, manner)
    return delegation.inserted(steps, listing, task.prompt, spec.seed) if spec.subagents else steps


def record(spec: SessionSpec, task: Task, bench: Bench, terms: Terms) -> SessionPlan:
    """Carries the recorded solution out on the bench. SimError when it does not solve the task."""
    return _Recording(spec, task, bench, terms).plan()


class _Recording:
    def __init__(self, spec: SessionSpec, task: Task, bench: Bench, terms: Terms) -> None:
        self._spec, self._task, self._bench, self._terms = spec, task, bench, terms
        self._profile = find_profile(spec.profile)
        self._rng = random.Random(f"{spec.seed}/pace")
        self._others_rng = random.Random(f"{spec.seed}/pace of sub-agents")  # the session's own pace stays the same
        self._clock_s = float(EPOCH_S + self._rng.randrange(8 * 3600))
        self._setup = self._set_up()
        self._talk = Conversation(self._profile, self._setup, terms.count)
        self._assembly = Assembly(self._talk)

    def plan(self) -> SessionPlan:
        turns: list[Turn] = []
        asked = False  # the step before put a plan before the user
        for step in steps_of(self._spec, self._task, self._setup.listing, self._terms.scenario):
            think = self._think_s(turns, asked=asked)
            drafts = self._talk.requests()
            reply = self._talk.reply(step)
            done = self._carry_out(step, self._profile)
            turns += turns_of(len(turns), drafts, reply, done, think)
            # The prompts tell the time; in a replay it is the plan's own clock that moves.
            self._clock_s += think + reply.output_tok * 0.012 + 1.0 + done.took_s
            self._talk.results(done.outcomes, self._clock_s)
            asked = any(isinstance(action, Propose) for action in step.actions)
            if self._talk.ended:
                break
        if not self._talk.ended:
            complaints = self._bench.check(self._task)
            if complaints:
                what = f"{self._task.template} seed {self._task.seed}"
                if self._task.recorded:
                    raise SimError(f"{what}: its recorded solution fails its check: {complaints[0]}")
                raise SimError(
                    f"{what}: its `solution` fails its check: {complaints[0]}; try it with `sim tasks check`"
                )
        return self._made(tuple(turns))

    def _think_s(self, turns: list[Turn], *, asked: bool) -> float:
        if not turns:
            return 0.0
        think = self._terms.scenario.think
        return pace.answer_s(self._rng, think) if asked else pace.think_s(self._rng, think)

    def _carry_out(self, step: Step, profile: Profile) -> Done:
        outcomes: list[Outcome] = []
        calls: list[PlannedCall] = []
        spawns: list[int] = []
        waited_s = 0.0
        for action in step.actions:
            if isinstance(action, Delegate):
                sent = delegation.send_out(action, self._setup, profile, self._terms.count, self._look)
                spawns += [self._assembly.branch(branch) for branch in sent.branches]
                outcomes.append(sent.reports)
                waited_s += sent.took_s
                continue
            outcome = self._do(action)
            outcomes.append(outcome)
            recorded_s = pace.tool_s(self._rng, profile.client, action)
            calls.append(PlannedCall(action, comparable(outcome_text(outcome)), recorded_s))
        took_s = waited_s + sum(call.recorded_s for call in calls)
        return Done(tuple(outcomes), tuple(calls), tuple(spawns), took_s)

    def _look(self, action: Action) -> tuple[Outcome, PlannedCall]:
        """A sub-agent's call."""
        outcome = self._do(action)
        recorded_s = pace.tool_s(self._others_rng, self._profile.client, action)
        return outcome, PlannedCall(action, comparable(outcome_text(outcome)), recorded_s)

    def _do(self, action: Action) -> Outcome:
        return _steady(self._bench.do(action), self._rng)

    def _set_up(self) -> Setup:
        listing = self._bench.do(ListFiles(".", recursive=True))
        assert isinstance(listing, Listing)
        scenario = self._terms.scenario
        return Setup(
            task_prompt=self._task.prompt,
            cwd=shown_dir(self._spec, self._task.name),
            repo_name=self._task.name,
            model=self._terms.model,
            context_window_tok=scenario.context_window_tok,
            listing=listing,
            latest_commit=self._bench.head,
            start_unix_s=self._clock_s,
            cached_double_count=scenario.cached_double_count,
            parallel_tool_calls=scenario.parallel_tool_calls,
            subagents=self._spec.subagents,
            mode="plan" if self._spec.plan_mode else "act",
            must_fit=scenario.mode != "live",  # a model may find a shorter way, and the window is then its own affair
            extra_body={"stream_options": stream_options(scenario.usage)},
        )

    def _made(self, turns: tuple[Turn, ...]) -> SessionPlan:
        spec, task, scenario = self._spec, self._task, self._terms.scenario
        start = min(int(spec.age * len(turns)), len(turns) - 1)
        while start and turns[start - 1].purpose == "compaction":
            start -= 1  # a summary call and the request that carries its result belong together
        parts = self._assembly.parts()
        return SessionPlan(
            session=spec.session,
            task_template=task.template,
            task_kind=task.kind,
            task_size=task.size,
            task_seed=task.seed,
            task_name=task.name,
            profile=spec.profile,
            cwd=self._setup.cwd,
            heads=parts.heads,
            pool=parts.pool,
            tail=parts.tails[0],
            tails=parts.tails,
            turns=turns,
            check=task.check,
            start_turn=start,
            end_turn=None if scenario.max_turns is None else start + scenario.max_turns,
            branches=parts.branches,
            ends=self._talk.ended,
        )


def _steady(outcome: Outcome, rng: random.Random) -> Outcome:
    """A recorded outcome must be the same each time it is recorded: the durations that a test runner printed are
    replaced by drawn ones."""
    if not isinstance(outcome, Ran):
        return outcome
    return replace(outcome, output=_ELAPSED.sub(lambda m: f"in {rng.lognormvariate(-5.5, 0.8):.3f}s", outcome.output))
