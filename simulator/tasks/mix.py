"""Which sessions a scenario asks for: a pure draw from scenario and seed, one spec a session.

A stationary start looks into a running service: a slot is more often found in a long session than in a short one, in
proportion to length, and anywhere in it with equal chance. The first sessions of the slots are spread so that their
shares are the scenario's, of the first few slots as of all; later sessions of a slot are drawn plainly.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.core.scenario import Recording, Scenario

#: about how many turns a session of a size has; used only to weigh the first sessions of a stationary start
TYPICAL_TURNS = {"small": 18.0, "medium": 45.0, "long": 110.0}
#: seconds until the histories of a stationary start are prefilled, generously
PREFILL_ALLOWANCE_S = 45.0


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """One session to plan. age: share of its turns already done at the start (0, from the beginning). shared_dir: its
    prompts name the one folder that all agents share, not one of its own. plan_mode: it begins in plan mode.
    subagents: it sends out sub-agents. recorded: of kind "trace": which of the trace's sessions, and which copy."""

    session: str
    slot: int
    kind: str
    size: str
    seed: int
    profile: str
    age: float
    shared_dir: bool
    plan_mode: bool = False
    subagents: bool = False
    recorded: tuple[int, int] = (0, 0)


def draw(scenario: Scenario, slot: int, nth: int) -> SessionSpec:
    """The nth session (from 0) of a slot. Depends on scenario and seed alone, not on how many are drawn."""
    number = slot + nth * scenario.sessions
    if scenario.trace is not None:
        return _recorded(scenario, scenario.trace, slot, nth, number)
    stationary = nth == 0 and scenario.start == "stationary"
    rng = random.Random(f"{scenario.seed}/session/{number}")
    sizes = {s: w * (TYPICAL_TURNS[s] if stationary else 1.0) for s, w in scenario.sizes.items()}

    def pick(what: str, weights: Mapping[str, float]) -> str:
        if nth:
            return _pick(rng, weights)
        return spread(f"{scenario.seed}/{what}", tuple(sorted(weights.items())), _at_least(slot + 1))[slot]

    return SessionSpec(
        session=f"s{number:04d}",
        slot=slot,
        kind=pick("kind", scenario.tasks),
        size=pick("size", sizes),
        seed=rng.randrange(1 << 31),
        profile=pick("profile", scenario.profiles),
        age=rng.random() if stationary else 0.0,
        shared_dir=scenario.workdir == "shared",
        plan_mode=pick("plan_mode", _yes(scenario.plan_mode)) == "yes",
        subagents=pick("subagents", _yes(scenario.subagents)) == "yes",
    )


def _recorded(scenario: Scenario, recording: Recording, slot: int, nth: int, number: int) -> SessionSpec:
    """A session of a trace. Drawn ones come in rounds, each with every session once, in an order of its own."""
    rng = random.Random(f"{scenario.seed}/session/{number}")
    round_, place = divmod(number, recording.total)
    if recording.sessions == "drawn":
        place = _order(f"{scenario.seed}/round/{round_}", recording.total)[place]
    age = rng.random() if nth == 0 and scenario.start == "stationary" else 0.0
    return SessionSpec(
        session=f"s{number:04d}", slot=slot, kind="trace", size="recorded", seed=rng.randrange(1 << 31), profile="",
        age=age, shared_dir=False, recorded=(place, round_),
    )  # fmt: skip


@functools.lru_cache(maxsize=8)
def _order(seed: str, n: int) -> tuple[int, ...]:
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return tuple(order)


def more(scenario: Scenario, slot: int, nth: int) -> bool:
    """Whether a slot has an nth session: drawn ones have no end, recorded ones are played once."""
    recording = scenario.trace
    return recording is None or recording.sessions == "drawn" or slot + nth * scenario.sessions < recording.total


@functools.lru_cache(maxsize=64)
def spread(seed: str, weights: tuple[tuple[str, float], ...], n: int) -> tuple[str, ...]:
    """n names in seeded order, such that after any number k of them no name came as often as k * share + 1 times, and
    where all k * share are whole numbers each came just so often. A longer sequence begins with the shorter one.

    Each place goes to a name by chance, in proportion to how far it has fallen behind; one that is a whole place behind
    goes first.
    """
    rng = random.Random(seed)
    total = sum(weight for _, weight in weights)
    names = [name for name, _ in weights]
    given = dict.fromkeys(names, 0)
    out = []
    for k in range(1, n + 1):
        # a hair less than the exact share, so that a rounding error counts for nothing
        behind = {name: k * weight / total - given[name] - 1e-9 for name, weight in weights}
        late = [name for name in names if behind[name] >= 1 - 1e-6]
        name = max(late, key=lambda n: behind[n]) if late else _pick(rng, {n: b for n, b in behind.items() if b > 1e-6})
        given[name] += 1
        out.append(name)
    return tuple(out)


def _at_least(n: int) -> int:
    """The next power of two, so that few sequences are made."""
    return 1 << max(6, (n - 1).bit_length())


def _yes(share: float) -> dict[str, float]:
    return {"no": 1.0 - share, "yes": share}


def needed_s(scenario: Scenario) -> float:
    """How long a slot must have work for: the window, and what may pass before it opens. 0: one session a slot;
    infinite: all that it has."""
    if scenario.refill and scenario.window_s is None and scenario.trace is not None and not scenario.arrival.open:
        return math.inf
    if not scenario.refill or scenario.window_s is None:
        return 0.0
    return scenario.ramp_s + PREFILL_ALLOWANCE_S + scenario.window_s


def _pick(rng: random.Random, weights: Mapping[str, float]) -> str:
    names = sorted(weights)
    return rng.choices(names, [weights[name] for name in names])[0]
