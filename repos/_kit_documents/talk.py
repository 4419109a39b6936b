"""What the agent says: lines of a template's own talk and of files/talk.yaml, no variant twice before all had their
turn, no thought twice within so many others, no reply twice in a session."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.tasks import words

from .code import grammar

if TYPE_CHECKING:
    from .case import Case

_REMEMBERED = 150
_FILE = Path(__file__).parent / "files" / "talk.yaml"


class Talk:
    """`line(beat, part)`: part is "plan" (what comes next, and why) or "saw" (what the result showed)."""

    def __init__(self, r: random.Random, case: Case) -> None:
        self._r, self._own, self._shared = r, case.talk, grammar(_FILE)
        house = case.house
        self._common: dict[str, object] = {
            **house.names,
            "firm": house.firm.short,
            "asker": house.asker.name,
            "clerk": house.clerk.name,
            "needed": sum(p.needed for p in case.papers),
            **case.values,
        }
        self._decks: dict[tuple[str, str], list[str]] = {}
        self._said: set[str] = set()
        self._thought_of: deque[str] = deque(maxlen=_REMEMBERED)

    def line(self, beat: str, part: str, **values: object) -> str:
        own = self._own.get(beat, {}).get(part)
        return self._draw((beat, part), own or self._shared[beat][part], values)

    def reply(self, seen: str, plan: str, beat: str, values: Mapping[str, object], length: int) -> str:
        """What was seen, what comes next, and thoughts up to about so many characters."""
        say = f"{seen} {plan}".strip()
        for source in ("why", *["thoughts"] * 5):
            if len(say) >= length:
                break
            thought = self._thought(beat, source, values)
            say = f"{say} {thought}".strip()
        while say in self._said:
            say = f"{say} {self._thought(beat, 'thoughts', values)}"
        self._said.add(say)
        return say

    def _thought(self, beat: str, source: str, values: Mapping[str, object]) -> str:
        pool = self._own.get(beat, self._shared.get(beat, {})).get("why") if source == "why" else None
        if source == "thoughts":
            pool = [*self._shared["thoughts"], *self._own.get("thoughts", ())]
        if not pool:
            return ""
        key = (beat, "why") if source == "why" else ("", "thoughts")
        for _ in range(6):
            made = self._draw(key, pool, values)
            if made not in self._thought_of:
                self._thought_of.append(made)
                return made
        return ""

    def _draw(self, key: tuple[str, str], variants: Sequence[str], values: Mapping[str, object]) -> str:
        deck = self._decks.setdefault(key, [])
        if not deck:
            deck += self._r.sample(list(variants), len(variants))
        return words.say(self._r, deck.pop(), **{**self._common, **values})
