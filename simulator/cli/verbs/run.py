"""`sim run`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import (
    Endpoint,
    Engine,
    EngineParams,
    InVirtualTime,
    Label,
    Model,
    Procs,
    ScenarioFile,
    Seed,
    Sets,
    TasksDir,
    from_tasks,
    settings_file,
)
from simulator.errors import UsageError


def run(
    scenario: ScenarioFile,
    endpoint: Endpoint = None,
    model: Model = None,
    engine: Engine = None,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: a new one under reports/runs/.")] = None,
    seed: Seed = None,
    label: Label = "",
    plain: Annotated[
        bool, typer.Option("--plain", help="One progress line every few seconds instead of the TUI.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the sessions' workspaces in the run folder.")] = False,
    set_: Sets = None,
    tasks_dir: TasksDir = None,
    procs: Procs = None,
    virtual: InVirtualTime = False,
    engine_params: EngineParams = None,
    replicas: Annotated[int | None, typer.Option(help="With --virtual: engines that share the sessions.")] = None,
    faults: Annotated[Path | None, typer.Option(help="Fault schedule for the embedded engine, YAML.")] = None,
    allow_unsandboxed: Annotated[
        bool, typer.Option("--allow-unsandboxed", help="Live sessions' commands run on this machine as they are.")
    ] = False,
    oracle: Annotated[
        str | None,
        typer.Option(metavar="RATES", help="Live agents: the oracle's mistakes, e.g. malformed=0.05,loop=0.1."),
    ] = None,
) -> None:
    """Run a scenario: agents, then synthetic traffic, live view and report."""
    from simulator.cli.run import Options, Virtual
    from simulator.cli.run import main as run_main

    if not virtual and replicas is not None:
        raise UsageError("--replicas belongs to --virtual; give that too")
    settings = settings_file(engine_params)
    chosen = Virtual(settings, 1 if replicas is None else replicas) if virtual else None
    raise typer.Exit(
        run_main(
            Options(
                scenario=scenario,
                endpoint=endpoint,
                model=model,
                engine=engine,
                out=out,
                seed=seed,
                label=label,
                plain=plain,
                keep=keep,
                overrides=(*(set_ or ()), *from_tasks(tasks_dir)),
                virtual=chosen,
                faults=faults,
                procs=procs,
                settings=settings,
                allow_unsandboxed=allow_unsandboxed,
                oracle=oracle,
            )
        )
    )
