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
#: seconds until the histories of a stationary start are prefilled, generously
PREFILL_ALLOWANCE_S = 45.0


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """One session to plan. age: share of its turns already done at the start (0, from the beginning). shared_dir: its
    prompts name the one folder that all agents share, not one of its own."""

    session: str
    slot: int
    kind: str
    size: str
    seed: int
    profile: str
    age: float
    shared_dir: bool


def draw(scenario: Scenario, slot: int, nth: int) -> SessionSpec:
    """The nth session (from 0) of a slot. Depends on scenario and seed alone, not on how many are drawn."""
    number = slot + nth * scenario.sessions
    stationary = nth == 0 and scenario.start == "stationary"
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


def needed_s(scenario: Scenario) -> float:
    """How long a slot must have work for: the window, and what may pass before it opens. 0: one session a slot."""
    if not scenario.refill or scenario.window_s is None:
        return 0.0
    return scenario.ramp_s + PREFILL_ALLOWANCE_S + scenario.window_s


def _pick(rng: random.Random, weights: Mapping[str, float]) -> str:
    names = sorted(weights)
    return rng.choices(names, [weights[name] for name in names])[0]
