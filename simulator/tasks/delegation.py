"""Where a session sends out sub-agents, and what they do: each a conversation of its own in the parent's workspace."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from simulator.cline.conversation import Conversation
from simulator.cline.profiles import Profile, subagent
from simulator.cline.setup import Setup
from simulator.core.action import (
    Action,
    Complete,
    Delegate,
    Edit,
    Finished,
    Listing,
    Outcome,
    Report,
    Reports,
    Step,
    Write,
)
from simulator.core.plan import PlannedCall, Turn
from simulator.tasks import explore
from simulator.tasks.assembly import Grown
from simulator.tasks.turns import Done, turns_of

#: how many are sent out at once
NUMBERS, WEIGHTS = (2, 3, 4, 5), (3, 4, 2, 1)
#: the first are sent out before this step; the next ones about so many steps later, with this chance
FIRST_WITHIN, EVERY, AGAIN_SHARE = 3, 25, 0.7
Look = Callable[[Action], tuple[Outcome, PlannedCall]]


@dataclass(frozen=True, slots=True)
class Sent:
    """took_s: as long as the slowest of them took, by the plan's clock."""

    branches: tuple[Grown, ...]
    reports: Reports
    took_s: float


def inserted(steps: Sequence[Step], listing: Listing, task_prompt: str, seed: int) -> tuple[Step, ...]:
    """The steps with some more, in which sub-agents are sent out: early in the session, and now and then later."""
    rng = random.Random(f"{seed}/delegation")
    out = list(steps)
    first = next((k for k, s in enumerate(out) if any(isinstance(a, Edit | Write) for a in s.actions)), len(out) - 1)
    at = min(first, rng.randint(1, FIRST_WITHIN), len(out) - 1)
    while at < len(out) - 1:
        found = explore.parts(listing, rng.choices(NUMBERS, WEIGHTS)[0])
        if not found:
            break  # an empty repository
        asked = tuple(explore.prompt(part, task_prompt, rng) for part in found)
        number = f"{len(asked)} sub-agents" if len(asked) > 1 else "a sub-agent"
        say = f"Several parts of the repository bear on this. I send out {number} to look into them at the same time."
        out.insert(at, Step(say, (Delegate(asked),)))
        at += 1 + EVERY + rng.randint(-8, 8)
        if rng.random() >= AGAIN_SHARE:
            break
    return tuple(out)


def send_out(action: Delegate, setup: Setup, parent: Profile, count: Callable[[str], int], look: Look) -> Sent:
    """All of a call's sub-agents, one after the other here; a run has them at the same time."""
    found = explore.parts(setup.listing, len(action.prompts))
    branches: list[Grown] = []
    reports: list[Report] = []
    took_s = 0.0
    for number, (prompt, part) in enumerate(zip(action.prompts, found, strict=True)):
        own = replace(setup, task_prompt=prompt, mode="act", subagents=False)
        talk = Conversation(subagent(parent), own, count)
        rng = random.Random(f"{prompt}/{number}")
        turns, text, seconds = _grow(talk, explore.explorer(part, rng), look, setup.start_unix_s)
        branches.append(Grown(f"explorer {number + 1}: {part.folder}", talk, turns))
        calls = sum(len(t.calls) for t in turns)
        sums = sum(t.prompt_tok for t in turns), sum(t.output_tok for t in turns)
        reports.append(Report(prompt, text, len(turns), calls, *sums))
        took_s = max(took_s, seconds)
    return Sent(tuple(branches), Reports(tuple(reports)), took_s)


def _grow(talk: Conversation, walk: explore.Walk, look: Look, now_unix_s: float) -> tuple[tuple[Turn, ...], str, float]:
    """Turns, the report's text, and seconds by the plan's clock."""
    turns: list[Turn] = []
    took_s = 0.0
    step = next(walk)
    while True:
        drafts = talk.requests()
        reply = talk.reply(step)
        (action,) = step.actions
        outcome: Outcome = Finished()
        calls: tuple[PlannedCall, ...] = ()
        if not isinstance(action, Complete):
            outcome, call = look(action)
            calls = (call,)
        done = Done((outcome,), calls, (), sum(c.recorded_s for c in calls))
        turns += turns_of(len(turns), drafts, reply, done, purpose="subagent")
        took_s += reply.output_tok * 0.012 + 1.0 + done.took_s
        talk.results(done.outcomes, now_unix_s)
        if isinstance(action, Complete):
            return tuple(turns), action.result, took_s
        step = walk.send(outcome)
