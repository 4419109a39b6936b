"""`sim saturate`: what the command line takes."""

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
    Seed,
    Sets,
    settings_file,
)


def saturate(
    scenario: Annotated[Path, typer.Argument(help="Scenario of agents, for example scenarios/saturate_demo.yaml.")],
    slo: Annotated[
        str, typer.Option(help="What must hold, e.g. 'ttft_p95<2s,tpot_p95<50ms'; default: the scenario's slo.")
    ] = "",
    low: Annotated[float | None, typer.Option(help="Smallest load to try; default: 1 agent, or 0.05/s.")] = None,
    high: Annotated[float | None, typer.Option(help="Largest load to try; default: 512 agents, or 20/s.")] = None,
    rate: Annotated[bool, typer.Option("--rate", help="Search sessions a second (open loop), not agents.")] = False,
    window: Annotated[float | None, typer.Option(min=0.1, help="Seconds that a probe measures.")] = None,
    endpoint: Endpoint = None,
    model: Model = None,
    engine: Engine = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the search; one that is there is gone on with.")] = None,
    seed: Seed = None,
    label: Label = "",
    set_: Sets = None,
    procs: Procs = None,
    virtual: InVirtualTime = False,
    engine_params: EngineParams = None,
) -> None:
    """Find the largest number of agents (or sessions a second) that meets objectives."""
    from simulator.cli.run import Options, Virtual
    from simulator.cli.saturate import Search
    from simulator.cli.saturate import main as saturate_main

    settings = settings_file(engine_params)
    options = Options(
        scenario=scenario,
        endpoint=endpoint,
        model=model,
        engine=engine,
        out=out,
        seed=seed,
        label=label,
        plain=True,
        keep=False,
        overrides=tuple(set_ or ()),
        virtual=Virtual(settings, 1) if virtual else None,
        procs=procs,
        settings=settings,
    )
    raise typer.Exit(saturate_main(options, Search(slo, low, high, rate, window)))
