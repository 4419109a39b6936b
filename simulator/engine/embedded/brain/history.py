"""What a conversation shows of the way that has been gone: which step of a solution each of its replies is.

A client may have cut the history, repaired a call's arguments, left out what came behind the first call, or written
notes of its own; what is looked for is therefore the last reply that is one of the solution's, and where two steps read
alike, the replies before it decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import xxhash

from simulator.core.solution import Said, Solution

Message = Mapping[str, Any]
#: what the oracle's own summaries say of the place (summary.py)
BEHIND = re.compile(r"(\d+) of (\d+) steps are behind me")
#: shorter texts are no evidence when they are only the beginning of what came
TELLING_CHARS = 40
_CLOSERS = ("}", '"}', "]}", '"]}', "}]}", '"}]}')


@dataclass(frozen=True, slots=True)
class Shown:
    """next: the step that comes next, None where the conversation does not tell. tries: replies since the last step
    that are none of the way."""

    next: int | None
    tries: int = 0


class Signs:
    """A solution's replies in a form in which they are found again."""

    def __init__(self, solution: Solution) -> None:
        self._exact: dict[bytes, list[int]] = {}
        self._calls: dict[bytes, list[int]] = {}
        self._texts: list[tuple[str, int]] = []
        self.steps = len(solution.ways)
        for step, way in enumerate(solution.ways):
            for said in (way.reply, way.wrong):
                if said is not None:
                    self._learn(step, said)

    def _learn(self, step: int, said: Said) -> None:
        calls = [(name, _canonical(arguments)[0]) for name, arguments in said.calls]
        _note(self._exact, _sign(said.content, calls), step)
        if calls:
            _note(self._calls, _sign("", calls), step)
        else:
            self._texts.append((flat(said.content), step))

    def read(self, message: Message) -> tuple[list[int], bool]:
        """Steps that an assistant's message may be, and whether one of its calls is no JSON."""
        content, calls, broken = text_of(message), [], False
        for call in message.get("tool_calls") or ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                arguments, bad = _canonical(str(function.get("arguments") or "{}"))
                calls.append((str(function.get("name")), arguments))
                broken |= bad
        found = self._exact.get(_sign(content, calls)) or (self._calls.get(_sign("", calls)) if calls else None)
        if found is None and not calls:
            found = self._alike(flat(content))
        return found or [], broken

    def _alike(self, text: str) -> list[int]:
        """Steps whose text this one begins with, as it may go on behind its call. A text that is only the beginning of
        a step's is a call that was cut."""
        return [step for own, step in self._texts if len(own) >= TELLING_CHARS and text.startswith(own)]


def shown(signs: Signs, messages: Sequence[Message]) -> Shown:
    """Where a conversation stands."""
    replies = [n for n, message in enumerate(messages) if message.get("role") == "assistant"]
    readings = ((at, *signs.read(messages[at])) for at in reversed(replies))
    tries = 0
    for at, steps, broken in readings:
        if not steps:
            tries += 1
            continue
        step = _chosen(steps, (found for _, found, _ in readings), len(replies) - 1 - tries)
        if broken and objected(messages[at + 1 :]):
            return Shown(step, tries + 1)
        return Shown(step + 1, tries)
    if not replies and not _summarised(messages):
        return Shown(0)
    return Shown(_told(messages, signs.steps), tries)


def _chosen(steps: list[int], before: Iterable[list[int]], older: int) -> int:
    """Of steps that read alike, the one which the replies before it (latest first) lead to. older: how many there are;
    in a history that nothing was cut from the step has that number, mistakes aside."""
    left, back = steps, 0
    if len(left) == 1:
        return left[0]
    for found in before:
        if not found:
            continue
        back += 1
        fitting = [step for step in left if step - back in found]
        if not fitting:
            break
        left = fitting
        if len(left) == 1:
            break
    return min(left, key=lambda step: abs(step - older))


def _summarised(messages: Sequence[Message]) -> bool:
    return any(BEHIND.search(text_of(m)) for m in messages if m.get("role") == "user")


def _told(messages: Sequence[Message], steps: int) -> int | None:
    """The place that one of the oracle's own summaries names."""
    for message in reversed(messages):
        found = BEHIND.findall(text_of(message)) if message.get("role") == "user" else []
        if found and int(found[-1][1]) == steps:
            return int(found[-1][0])
    return None


def objected(following: Sequence[Message]) -> bool:
    """Whether what came after a reply is a complaint about its call and no result: classic begins a result with
    `[tool for 'argument'] Result:`, sdk says `success` in an object."""
    for message in following:
        if message.get("role") == "assistant":
            break
        text = text_of(message)
        if message.get("role") == "tool" and re.search(r'"success": ?true', text):
            return False
        if message.get("role") == "user" and re.match(r"\[.*\] Result:\n", text) and "<error>" not in text[:2_000]:
            return False
    return True


def text_of(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _canonical(arguments: str) -> tuple[bytes, bool]:
    """Arguments in one form whatever their blanks and order of keys; True: they are JSON only when closed, or not at
    all."""
    for closer in ("", *_CLOSERS):
        try:
            return orjson.dumps(orjson.loads(arguments + closer), option=orjson.OPT_SORT_KEYS), bool(closer)
        except orjson.JSONDecodeError:
            continue
    return arguments.encode(errors="replace"), True


def _sign(content: str, calls: Sequence[tuple[str, bytes]]) -> bytes:
    parts = [flat(content).encode(errors="replace")]
    for name, arguments in calls:
        parts += [name.encode(errors="replace"), arguments]
    return xxhash.xxh3_128_digest(b"\0".join(parts))


def flat(text: str) -> str:
    """Without blanks and line ends."""
    return "".join(text.split())


def _note(table: dict[bytes, list[int]], key: bytes, step: int) -> None:
    steps = table.setdefault(key, [])
    if step not in steps:
        steps.append(step)
