"""Where a session's time goes: every stretch of it belongs to exactly one part, by construction, since a cursor moves
forward and each stretch is booked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

PARTS = ("think", "model", "subagent", "tool_run", "tool_queue", "tool_pace", "backoff", "client")


@dataclass(slots=True)
class Wall:
    """Books each stretch of a session's time to one part, seconds."""

    now: Callable[[], float]
    cursor: float = 0.0
    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))

    def book(self, part: str, until_s: float | None = None) -> None:
        until = self.now() if until_s is None else max(self.cursor, until_s)
        self.parts[part] += until - self.cursor
        self.cursor = until
