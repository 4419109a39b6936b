"""When things happened, as bare numbers: what is left to know of records that have gone to disk."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

PULSE_S = 0.5


@dataclass(slots=True)
class Times:
    """Beginnings and ends, seconds, in the order in which they were told."""

    begun_s: array[float] = field(default_factory=lambda: array("d"))
    ended_s: array[float] = field(default_factory=lambda: array("d"))

    def add(self, begun_s: float, ended_s: float) -> None:
        self.begun_s.append(begun_s)
        self.ended_s.append(ended_s)

    def extend(self, other: Times) -> None:
        self.begun_s += other.begun_s
        self.ended_s += other.ended_s


@dataclass(slots=True)
class Load:
    """One kind of traffic. requests: all of them; ok_s, failed_s: ends of those; beats[n]: output tokens that arrived
    after beat n - 1 and up to beat n, which is at n * PULSE_S."""

    requests: Times = field(default_factory=Times)
    ok_s: array[float] = field(default_factory=lambda: array("d"))
    failed_s: array[float] = field(default_factory=lambda: array("d"))
    beats: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def ended(self, call_s: float, end_s: float, outcome: str) -> None:
        self.requests.add(call_s, end_s)
        if outcome == "ok":
            self.ok_s.append(end_s)
        elif outcome == "failed":
            self.failed_s.append(end_s)

    def arrived(self, at_s: NDArray[np.float64], tokens: NDArray[np.uint16]) -> None:
        """Chunks of one reply in order of time, with the tokens of each."""
        if not len(at_s):
            return
        beat = np.ceil(at_s / PULSE_S).astype(np.int64)
        first, last = int(beat[0]), int(beat[-1])
        self._reach(last + 1)
        self.beats[first : last + 1] += np.bincount(beat - first, tokens).astype(np.int64)

    def extend(self, other: Load) -> None:
        self.requests.extend(other.requests)
        self.ok_s += other.ok_s
        self.failed_s += other.failed_s
        self._reach(len(other.beats))
        self.beats[: len(other.beats)] += other.beats

    def _reach(self, n: int) -> None:
        if n > len(self.beats):
            self.beats = np.concatenate([self.beats, np.zeros(max(n, 2 * len(self.beats)) - len(self.beats), np.int64)])
