"""Templates that this machine cannot play, so that a scenario's sessions are drawn from the others."""

from __future__ import annotations

from pathlib import Path

from simulator.core.scenario import Scenario
from simulator.core.wording import left_out
from simulator.tasks import catalog


def absent(scenario: Scenario) -> dict[str, str]:
    """Name -> what it needs, of all that the scenario could draw. A trace draws none."""
    if not scenario.sessions or scenario.trace is not None:
        return {}
    own = Path(scenario.tasks_dir) if scenario.tasks_dir else None
    return catalog.unplayable(scenario.tasks, own, scenario.templates)


def sentences(scenario: Scenario) -> tuple[str, ...]:
    return left_out(absent(scenario))
