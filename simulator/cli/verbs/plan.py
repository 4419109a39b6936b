"""`sim plan`: what the command line takes."""

from __future__ import annotations

from typing import Annotated

import typer

from simulator.cli.verbs.given import ScenarioFile, Seed, Sets


def plan(
    scenario: ScenarioFile,
    seed: Seed = None,
    set_: Sets = None,
    model: Annotated[
        str | None, typer.Option(help="Name of the model that will be served: plans are kept for a run against it.")
    ] = None,
) -> None:
    """Show the shape of the traffic that a scenario would send."""
    from simulator.cli.plan import main as plan_main
    from simulator.cli.run import read_scenario

    overrides = (*(set_ or ()), *(() if seed is None else (f"seed={seed}",)))
    raise typer.Exit(plan_main(read_scenario(scenario), scenario, overrides, model))
