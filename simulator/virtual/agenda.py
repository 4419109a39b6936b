"""What happens next: a queue of moments and a clock that jumps from one to the following."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

INTERRUPT_EVERY = 4_096


class Agenda:
    """Calls in order of time; those of one moment in the order in which they were asked for. now_s: seconds from the
    run's start."""

    __slots__ = ("_asked", "_heap", "now_s")

    def __init__(self) -> None:
        self.now_s = 0.0
        self._asked = 0
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []

    def at(self, t_s: float, call: Callable[..., None], *arguments: Any) -> None:
        """Calls at t_s, or now when that is past."""
        self._asked += 1
        heapq.heappush(self._heap, (max(t_s, self.now_s), self._asked, call, arguments))

    @property
    def next_s(self) -> float:
        """When something happens next; infinity, never."""
        return self._heap[0][0] if self._heap else float("inf")

    def run(self, until_s: float, go_on: Callable[[], bool], stop: Callable[[float], bool]) -> None:
        """Plays up to and including until_s, as long as go_on() holds. stop(now_s) is asked now and then; true ends at
        once. The clock ends at until_s when nothing more happens before it."""
        heap, pop, played = self._heap, heapq.heappop, 0
        while go_on():
            if not heap or heap[0][0] > until_s:
                if until_s != float("inf"):
                    self.now_s = max(self.now_s, until_s)
                return
            self.now_s, _order, call, arguments = pop(heap)
            call(*arguments)
            played += 1
            if played % INTERRUPT_EVERY == 0 and stop(self.now_s):
                return
