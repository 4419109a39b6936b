"""Identical calls in a row, as the clients watch for them: pure state, moved on by each call.

Both clients tell the model at the third identical call. sdk ends the run at the fifth; classic does not, but takes the
third reply in a row without any tool as a reason to stop.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

from simulator.cline import texts

SOFT, HARD = 3, 5
NO_TOOL_LIMIT = 3
Level = Literal["", "soft", "hard"]


@dataclass(frozen=True, slots=True)
class Guard:
    """last: the latest call; times: how often it came in a row."""

    last: Hashable = None
    times: int = 0

    def after(self, call: Hashable) -> Guard:
        return Guard(call, self.times + 1 if call == self.last and self.times else 1)

    @property
    def level(self) -> Level:
        """At the call just made; "soft" from SOFT on, "hard" from HARD on."""
        return "hard" if self.times >= HARD else "soft" if self.times >= SOFT else ""


def notice(client: Literal["classic", "sdk"], name: str, times: int) -> str:
    """What the model is told about the `times`-th identical call of tool `name`."""
    values = {"name": name, "times": str(times), "left": str(max(0, HARD - times))}
    return texts.fill(texts.load(f"{client}/repeated.md"), values)
