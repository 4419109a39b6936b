"""About how many sessions a run's plan will have, told from the start: by how long sessions of a size last, later by
how long the planned ones do."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.core.scenario import Scenario
from simulator.store.plans import PlannedSession
from simulator.tasks.mix import TYPICAL_TURNS, draw

#: floor of a turn (pace.floor_s), with tools at their recorded pace and without; medians of many plans
TURN_S = {True: 4.0, False: 1.0}
#: of that, where `max_turns` ends sessions early: they begin by looking around, which is quick
EARLY = 0.5
#: of a recorded session that nobody has looked at
RECORDED_TURNS = 25.0
#: sessions from which on the planned ones say more than the typical ones
ENOUGH = 5


class Forecast:
    """needed_s: work that a slot must have; 0, one session a slot."""

    def __init__(self, scenario: Scenario, slots: int, needed_s: float, planned: Iterable[PlannedSession] = ()) -> None:
        self._scenario, self._needed_s = scenario, needed_s
        self._floors: list[list[float]] = [[] for _ in range(slots)]
        self._guesses: list[list[float]] = [[] for _ in range(slots)]
        self._told_s = self._guessed_s = 0.0
        self._count = 0
        for row in planned:
            self.add(row)

    def add(self, row: PlannedSession) -> None:
        """Sessions of a slot come in their order."""
        self._guessed_s += self._guess(row.slot, len(self._floors[row.slot]))
        self._floors[row.slot].append(row.floor_s)
        self._told_s += row.floor_s
        self._count += 1

    @property
    def expected(self) -> int:
        """Sessions in all."""
        if not self._needed_s:
            return len(self._floors)
        if self._scenario.trace is not None:  # not known before each was looked at
            return max(self._count, len(self._floors))
        scale = self._told_s / self._guessed_s if self._count >= ENOUGH and self._told_s else 1.0
        return sum(self._of(slot, scale) for slot in range(len(self._floors)))

    def _of(self, slot: int, scale: float) -> int:
        number, covered_s = len(self._floors[slot]), sum(self._floors[slot])
        while not number or covered_s < self._needed_s:
            covered_s += max(1.0, scale * self._guess(slot, number))
            number += 1
        return number

    def _guess(self, slot: int, nth: int) -> float:
        known, scenario = self._guesses[slot], self._scenario
        while len(known) <= nth:
            spec = draw(scenario, slot, len(known))
            typical = TYPICAL_TURNS.get(spec.size, RECORDED_TURNS)
            turns, most = typical * (1 - spec.age), scenario.max_turns or float("inf")
            turn_s = TURN_S[scenario.tools == "paced"] * (EARLY if most < turns else 1.0)
            known.append(min(turns, most) * turn_s)
        return known[nth]
