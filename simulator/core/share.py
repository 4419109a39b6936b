"""How the work of a run is divided between client processes. Pure: any process can name its part by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """The part of process `index` (from 0) of `of`. The parts of all processes are disjoint and make up the whole."""

    index: int = 0
    of: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.of:
            raise ValueError(f"part {self.index} of {self.of}")

    def numbers(self, count: int) -> range:
        """Which of `count` equal things, from 0 (agents' slots, warm-up requests), are this process's."""
        return range(self.index, count, self.of)

    def requests(self, count: int, concurrency: int) -> list[int]:
        """Which of `count` requests, from 0, are sent here: as many as this process has of the concurrent places, so
        that all processes come to their end together."""
        return [number for number in range(count) if number % concurrency % self.of == self.index]

    def rate(self, per_s: float | None) -> float | None:
        """This process's part of a cap on starts a second."""
        return None if per_s is None else per_s / self.of


WHOLE = Share()
