"""Which script a slot plays next. A scenario's own plans come first; when a run asks for more sessions than were
planned, further ones play a planned script of their kind again, under a name and with blocks of their own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.scenario import Scenario
from simulator.tasks.mix import SessionSpec, draw
from simulator.virtual.script import Script

#: scripts that a library holds at most
DISTINCT = 64


@dataclass(frozen=True, slots=True)
class Cast:
    """One session of the run. salt: marks its blocks when its script is played more than once, else empty."""

    session: str
    script: Script
    salt: bytes
    start_turn: int
    end_turn: int


class Library:
    """own: the scripts of the scenario's plans, by slot, in playing order. They are only the scenario's own sessions
    when they were planned for as many slots as it has; of a library for fewer slots, each slot's first."""

    def __init__(self, scenario: Scenario, own: Sequence[Sequence[Script]]) -> None:
        self.scripts = [each for slot in own for each in slot]
        self.reused = 0
        self._scenario, self._own = scenario, own
        self._whole = len(own) == scenario.sessions
        self._by: dict[tuple[str, ...], list[Script]] = {}
        for each in self.scripts:
            for key in _keys(each.profile, each.kind, each.size):
                self._by.setdefault(key, []).append(each)

    def cast(self, slot: int, nth: int) -> Cast | None:
        """The nth session (from 0) of a slot; None when it has no more."""
        scenario = self._scenario
        if scenario.trace is not None and scenario.trace.sessions == "once":
            return self._once(slot, nth)
        if nth and (not scenario.refill or scenario.window_s is None):
            return None
        if slot < len(self._own) and nth < (len(self._own[slot]) if self._whole else 1):
            mine = self._own[slot][nth]
            return Cast(mine.session, mine, b"", mine.start_turn, mine.end_turn)
        self.reused += 1
        spec = draw(scenario, slot, nth)
        script = self._like(spec)
        start = script.start_at(spec.age) if spec.age else 0
        turns = len(script.turns)
        end = turns if scenario.max_turns is None else min(turns, start + scenario.max_turns)
        return Cast(spec.session, script, spec.session.encode(), start, end)

    def _once(self, slot: int, nth: int) -> Cast | None:
        """Recorded sessions are played once each: there are no others."""
        if slot >= len(self._own) or nth >= len(self._own[slot]):
            return None
        mine = self._own[slot][nth]
        return Cast(mine.session, mine, b"", mine.start_turn, mine.end_turn)

    def _like(self, spec: SessionSpec) -> Script:
        """A script as near to the draw as the library has one."""
        rng = random.Random(f"{self._scenario.seed}/again/{spec.session}")
        for key in _keys(spec.profile, spec.kind, spec.size):
            if key in self._by:
                return rng.choice(self._by[key])
        return rng.choice(self.scripts)


def _keys(profile: str, kind: str, size: str) -> list[tuple[str, ...]]:
    return [(profile, kind, size), (profile, size), (profile,)]
