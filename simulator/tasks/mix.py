"""Which sessions a scenario asks for: a pure draw from scenario and seed, one spec a session.

A stationary start looks into a running service: a slot is more often found in a long session than in a short one, in
proportion to length, and anywhere in it with equal chance. Later sessions of a slot are drawn plainly.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.core.scenario import Scenario

#: about how many turns a session of a size has; used only to weigh the first sessions of a stationary start
TYPICAL_TURNS = {"medium": 45.0, "long": 110.0}
#: seconds that even a fast engine and paced tools need a turn; decides how many sessions are planned for a slot
FASTEST_TURN_S = 1.6


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """One session to plan. age: share of its turns already done at the start (0, from the beginning). workdir: the
    name of its folder in the prompts, None for the task's own name."""

    session: str
    slot: int
    kind: str
    size: str
    seed: int
    profile: str
    age: float
    shared_dir: bool


def draw(scenario: Scenario, expected_run_s: float) -> list[list[SessionSpec]]:
    """For each slot the sessions it will play, in order. expected_run_s: how long the agents' part may last; enough
    sessions are drawn for a fast engine to stay busy that long."""
    slots: list[list[SessionSpec]] = []
    number = 0
    for slot in range(scenario.sessions):
        queue: list[SessionSpec] = []
        covered = 0.0
        while True:
            stationary = not queue and scenario.start == "stationary"
            spec = _one(scenario, number, slot, stationary=stationary)
            number += 1
            queue.append(spec)
            turns = TYPICAL_TURNS[spec.size] * (1.0 - spec.age)
            if scenario.max_turns is not None:
                turns = min(turns, scenario.max_turns)
            # A young or short session may have fewer turns than is typical.
            covered += 0.6 * turns * FASTEST_TURN_S
            if not scenario.refill or covered >= expected_run_s:
                break
        slots.append(queue)
    return slots


def _one(scenario: Scenario, number: int, slot: int, *, stationary: bool) -> SessionSpec:
    rng = random.Random(f"{scenario.seed}/session/{number}")
    sizes = {s: w * (TYPICAL_TURNS[s] if stationary else 1.0) for s, w in scenario.sizes.items()}
    return SessionSpec(
        session=f"s{number:04d}",
        slot=slot,
        kind=_pick(rng, scenario.tasks),
        size=_pick(rng, sizes),
        seed=rng.randrange(1 << 31),
        profile=_pick(rng, scenario.profiles),
        age=rng.random() if stationary else 0.0,
        shared_dir=scenario.workdir == "shared",
    )


def _pick(rng: random.Random, weights: Mapping[str, float]) -> str:
    names = sorted(weights)
    return rng.choices(names, [weights[name] for name in names])[0]
