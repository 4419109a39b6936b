"""A recorded solution as one client would have it: the same work, in the replies that its protocol leads to.

Pure: steps in, steps out. A task's recipe knows two styles only; what else sets clients apart is put in here.
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulator.cline.classic.calls import as_native
from simulator.cline.profiles import Profile
from simulator.core.action import (
    LOOKS,
    Action,
    Command,
    Complete,
    Definitions,
    Edit,
    ListFiles,
    Propose,
    Step,
    SwitchToAct,
    Write,
)
from simulator.tasks.plan_text import answer_to, plan_of

#: of neighbouring looks of one kind, how many go into the reply before; gives about one reply in eleven several calls
JOIN_SHARE, JOIN_MOST = 0.35, 3
#: of replies to a client that reads one call, how many go on after it, and of these how many with a second call
UNREAD_SHARE, SECOND_CALL_SHARE = 0.35, 0.5
EXPLORE_MOST = 8


@dataclass(frozen=True, slots=True)
class Manner:
    """How a session goes about its task. seed: decides what is drawn. cwd: as the prompts show it."""

    profile: Profile
    parallel_tool_calls: bool
    plan_mode: bool
    seed: int
    cwd: str


def prepared(steps: Sequence[Step], manner: Manner) -> tuple[Step, ...]:
    """The steps as this client's model would take them."""
    rng = random.Random(f"{manner.seed}/manner")
    profile = manner.profile
    made = [replace(s, actions=tuple(adapted(a, profile.missing) for a in s.actions)) for s in steps]
    native = profile.client == "classic" and profile.calls == "native"
    if native and manner.parallel_tool_calls:
        made = joined(made, rng)
    if manner.plan_mode:
        made = planned_first(made, profile.client, rng)
    if native and not manner.parallel_tool_calls:
        made = read_to_first_call(made, rng, manner.cwd)
    return tuple(made)


def adapted(action: Action, missing: tuple[str, ...]) -> Action:
    """A command in the place of an action for which the client has no tool."""
    if type(action).__name__ not in missing:
        return action
    match action:
        case ListFiles(path, True):
            return Command(f"git ls-files -co --exclude-standard -- {shlex.quote(path)} | sort")
        case ListFiles(path):
            return Command(f"ls -1p {shlex.quote(path)}")
        case Definitions(path):
            return Command(f"grep -rnE '^ *(async def|def|class|function|export) ' {shlex.quote(path)}")
        case _:
            return action


def joined(steps: Sequence[Step], rng: random.Random) -> list[Step]:
    """Neighbouring looks of one kind, where chance says so, in one reply."""
    out: list[Step] = []
    for step in steps:
        last = out[-1] if out else None
        if last and _joins(last, step) and len(last.actions) < JOIN_MOST and rng.random() < JOIN_SHARE:
            out[-1] = replace(
                last,
                say=" ".join(filter(None, [last.say, step.say])),
                actions=(*last.actions, *step.actions),
                reasoning="\n".join(filter(None, [last.reasoning, step.reasoning])),
                progress=step.progress or last.progress,
            )
        else:
            out.append(step)
    return out


def _joins(one: Step, other: Step) -> bool:
    kinds = {type(a) for a in (*one.actions, *other.actions)}
    return bool(one.actions and other.actions) and len(kinds) == 1 and issubclass(kinds.pop(), LOOKS)


def read_to_first_call(steps: Sequence[Step], rng: random.Random, cwd: str) -> list[Step]:
    """One call a reply, and after some of them text or a second call that the client does not read any more."""
    single = [one for step in steps for one in _split(step)]
    out: list[Step] = []
    for step, following in zip(single, [*single[1:], None], strict=True):
        goes_on = step.actions and not isinstance(step.actions[0], Complete | Propose)
        if not (goes_on and following and following.actions) or rng.random() >= UNREAD_SHARE:
            out.append(step)
            continue
        name, arguments = as_native(following.actions[0], "", cwd)
        call = f"\n<tool_call>\n{name} {arguments}\n</tool_call>"
        prose = following.say or "With that known, the next step follows from the result."
        out.append(replace(step, unread=call if rng.random() < SECOND_CALL_SHARE else prose))
    return out


def _split(step: Step) -> list[Step]:
    if len(step.actions) < 2:
        return [step]
    return [replace(step, actions=step.actions[:1]), *(Step("", (action,)) for action in step.actions[1:])]


def planned_first(steps: Sequence[Step], client: str, rng: random.Random) -> list[Step]:
    """The session begins in plan mode: its first looks, a plan, the user's answer, and then the work."""
    at = 0
    while at < min(EXPLORE_MOST, len(steps) - 1) and all(_harmless(a) for a in steps[at].actions):
        at += 1
    say = "I have seen enough to say how I would go about it."
    out = [*steps[:at], Step(say, (Propose(plan_of(steps[at:]), answer_to(rng)),))]
    if client == "sdk":
        out.append(Step("Agreed, so I leave plan mode.", (SwitchToAct(),)))
    return [*out, *steps[at:]]


def _harmless(action: Action) -> bool:
    if isinstance(action, Command):
        return not action.effects
    return not isinstance(action, Edit | Write | Complete)
