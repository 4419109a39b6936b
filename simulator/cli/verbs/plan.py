"""`sim plan`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import ScenarioFile, Seed, Sets, TasksDir, from_tasks
from simulator.errors import UsageError


def plan(
    scenario: ScenarioFile,
    seed: Seed = None,
    set_: Sets = None,
    tasks_dir: TasksDir = None,
    model: Annotated[
        str | None, typer.Option(help="Name of the model that will be served: plans are kept for a run against it.")
    ] = None,
    concurrency: Annotated[
        str, typer.Option(help="8,32,128: the plans that `sim ladder` shares among these levels.")
    ] = "",
    solutions: Annotated[
        Path | None, typer.Option(help="Write the recorded solutions to this file, for the oracle (docs/oracle.md).")
    ] = None,
    cwd: Annotated[
        str | None, typer.Option(help="With --solutions: the folder that the client works in; default: the plans' own.")
    ] = None,
) -> None:
    """Show the shape of the traffic that a scenario would send.

    The plans stay in a cache, from which `sim run` and the others take them: ~/.cache/agent-sim/plans, or below
    $XDG_CACHE_HOME. Past 2 GB those used longest ago go. Another version of agent-sim plans anew.
    """
    from simulator.cli.plan import main as plan_main
    from simulator.cli.run import read_scenario

    if cwd is not None and solutions is None:
        raise UsageError("--cwd belongs to --solutions; give that too")
    overrides = (*(set_ or ()), *(() if seed is None else (f"seed={seed}",)), *from_tasks(tasks_dir))
    raise typer.Exit(plan_main(read_scenario(scenario), scenario, overrides, model, solutions, cwd, concurrency))
