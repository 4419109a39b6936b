"""What virtual time can play at all: said before anything is loaded or planned."""

from __future__ import annotations

from simulator.core.scenario import Scenario
from simulator.errors import UsageError

_CURE = "virtual time plays closed loops only; run this scenario in real time (`sim run` without --virtual)"


def closed_loops(scenario: Scenario) -> None:
    """UsageError for a scenario whose sessions or synthetic requests arrive by a clock."""
    if scenario.sessions and scenario.arrival.kind != "closed":
        raise UsageError(f"`arrival`: {_CURE}")
    block = scenario.synthetic
    if block is not None and (block.arrival.kind != "closed" or block.concurrency is None):
        raise UsageError(f"`synthetic.arrival`: {_CURE}")
