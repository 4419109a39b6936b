"""Time as an object that is passed. Seconds from the run's start, monotonic, one origin for every process of a run."""

from __future__ import annotations

import time


class RunClock:
    """`origin` is a time.monotonic() reading: CLOCK_MONOTONIC is shared by all processes of one host, so stamps taken
    in the tool host and in the load generator lie on one axis."""

    __slots__ = ("origin",)

    def __init__(self) -> None:
        self.origin = time.monotonic()

    def now(self) -> float:
        return time.monotonic() - self.origin

    def at(self, monotonic_s: float) -> float:
        """A time.monotonic() reading, from this or another process, as seconds of the run."""
        return monotonic_s - self.origin
