"""Time as an object that is passed. Seconds from the run's start, monotonic, one origin for every process of a run."""

from __future__ import annotations

import time

#: uvloop rounds timers to a millisecond, down as well: what must not happen before its time waits so much longer
ROUNDING_S = 0.001


class RunClock:
    """`origin` is a time.monotonic() reading: CLOCK_MONOTONIC is shared by all processes of one host, so stamps taken
    in the tool host and in the load generator lie on one axis."""

    __slots__ = ("origin",)

    def __init__(self, origin: float | None = None) -> None:
        """origin: another process's, to share its axis; None starts a new one now."""
        self.origin = time.monotonic() if origin is None else origin

    def now(self) -> float:
        return time.monotonic() - self.origin

    def at(self, monotonic_s: float) -> float:
        """A time.monotonic() reading, from this or another process, as seconds of the run."""
        return monotonic_s - self.origin
