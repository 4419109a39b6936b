"""The scripts that virtual time plays: a scenario's plans, a library of at most 64, tokenised and hashed once."""

from __future__ import annotations

from simulator.cli.forecast import Forecast
from simulator.cli.planning import Progress, plan
from simulator.core.scenario import Scenario
from simulator.engine.embedded.prompts import Prompts
from simulator.store.plans import PlanFolder
from simulator.tasks.breadth import planned_as, planned_slots
from simulator.tasks.mix import needed_s
from simulator.virtual.library import DISTINCT
from simulator.virtual.script import Script, mark_shared, script

#: plans of a run are made for a window of at most so much; a longer one plays them again
PLANNED_WINDOW_S = 150.0


def planned(scenario: Scenario, model: str, progress: Progress) -> PlanFolder:
    """The scenario's own plans; of a larger or longer one, the part that a library holds."""
    return plan(library_scenario(scenario), model, progress)


def library_only(scenario: Scenario) -> Scenario:
    """The same one, or, where its slots would need more sessions than a library holds (a few turns each through a long
    window), a library's worth of them, each played again by whichever slot draws one like it."""
    few = library_scenario(scenario)
    if Forecast(planned_as(few), planned_slots(few), needed_s(few)).expected <= DISTINCT:
        return scenario
    return scenario.model_copy(update={"sessions": DISTINCT, "refill": False, "window_s": None})


def library_scenario(scenario: Scenario) -> Scenario:
    changes: dict[str, object] = {}
    if scenario.sessions > DISTINCT:
        changes = {"sessions": DISTINCT, "refill": False, "window_s": None}
    elif scenario.window_s is not None and scenario.window_s > PLANNED_WINDOW_S:
        changes = {"window_s": PLANNED_WINDOW_S}
    return scenario.model_copy(update=changes)


def scripts(folder: PlanFolder, sessions: int, block_size: int) -> list[list[Script]]:
    """By slot, in playing order. A run of fewer slots than were planned for is given its own slots' plans."""
    prompts = Prompts(block_size)
    rows = sorted(folder.sessions, key=lambda row: (row.slot, row.session))
    made = mark_shared([script(folder.load(row.session), prompts) for row in rows if row.slot < sessions])
    by_slot: dict[int, list[Script]] = {}
    for row, each in zip((row for row in rows if row.slot < sessions), made, strict=True):
        by_slot.setdefault(row.slot, []).append(each)
    return [by_slot[slot] for slot in sorted(by_slot)]
