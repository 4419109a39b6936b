"""What the oracle answers to a client that asks for a summary of the conversation so far."""

from __future__ import annotations

import re
from collections.abc import Sequence

from simulator.core.solution import Solution, Way
from simulator.engine.embedded.brain.history import Message, text_of

_ASKS = re.compile(r"summar", re.IGNORECASE)
#: of a request, how much is looked through for the word
_LOOKED_AT_CHARS = 2_000
_SHOWN, _LINE_CHARS = 60, 160
#: shorter texts occur by chance
_TELLING_CHARS = 24


def asked(messages: Sequence[Message], solution: Solution, *, tools: bool) -> bool:
    """A request without tools and without a reply in it that speaks of a summary."""
    if tools or solution.syntax == "xml" or any(m.get("role") == "assistant" for m in messages):
        return False
    return any(_ASKS.search(text_of(m)[:_LOOKED_AT_CHARS]) for m in messages)


def done_in(messages: Sequence[Message], solution: Solution) -> int:
    """How many steps of the way a history told as text shows: up to the last whose call or words stand in it."""
    text = "\n".join(text_of(m) for m in messages)
    for step in range(len(solution.ways), 0, -1):
        if _stands_in(text, solution.ways[step - 1]):
            return step
    return 0


def _stands_in(text: str, way: Way) -> bool:
    said = way.reply
    calls = [arguments for _, arguments in said.calls if len(arguments) >= _TELLING_CHARS]
    if calls:
        return all(arguments in text for arguments in calls) and said.content in text
    return len(said.content) >= _TELLING_CHARS and said.content in text


def summary(solution: Solution, done: int) -> str:
    """After `done` steps. Its last section names the place (history.BEHIND), should no reply be left to tell it."""
    steps = [f"{n}. {way.did[:_LINE_CHARS]}" for n, way in enumerate(solution.ways[:done], 1)]
    if len(steps) > _SHOWN:
        steps = [f"(steps 1 to {len(steps) - _SHOWN} are left out)", *steps[-_SHOWN:]]
    following = solution.ways[done].did if done < len(solution.ways) else "nothing, the work is finished"
    return "\n\n".join(
        [
            f"## Request\n{solution.request}",
            "## What was done\n" + ("\n".join(steps) or "Nothing so far."),
            f"## Where the work stands\n{done} of {len(solution.ways)} steps are behind me. Next: {following}",
        ]
    )
