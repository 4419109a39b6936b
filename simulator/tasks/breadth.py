"""For how many slots a scenario's sessions are planned, and in which form several loads of one scenario share them."""

from __future__ import annotations

from simulator.core.arrival import MAX_SESSIONS, session_times
from simulator.core.scenario import Arrival, Scenario


def planned_slots(scenario: Scenario) -> int:
    """One a concurrent place; in an open loop one an arrival, played once by whichever place is free."""
    return len(session_times(scenario)) if scenario.arrival.open else scenario.sessions


def planned_as(scenario: Scenario) -> Scenario:
    """The scenario that decides its sessions. An open loop's do not depend on when and how many of them arrive, so a
    faster or a longer one shares the plans of a slower or shorter one."""
    if not scenario.arrival.open:
        return scenario
    return shared(scenario.model_copy(update={"arrival": Arrival(), "window_s": None, "ramp_s": 0.0, "refill": False}))


def shared(scenario: Scenario) -> Scenario:
    """The same scenario with as many slots as there can be: which session a slot plays next then does not depend on
    how many slots are used, so all loads up to the largest share one plan."""
    return scenario.model_copy(update={"sessions": MAX_SESSIONS})
