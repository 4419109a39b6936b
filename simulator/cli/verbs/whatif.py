"""`sim whatif`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import Sets


def whatif(
    scenario: Annotated[Path, typer.Argument(help="Scenario file; its agents are asked about.")],
    more: Annotated[list[str] | None, typer.Argument(metavar="[ENGINE]...", help="Further engines.")] = None,
    engines: Annotated[
        list[str] | None, typer.Option(help="Engine settings: a shipped name, such as top or baseline, or a file.")
    ] = None,
    agents: Annotated[str, typer.Option(help="Numbers of agents.")] = "8,32,128,512",
    slo: Annotated[str | None, typer.Option(help="ttft_p95<5s or ttft_s=5; default: the scenario's.")] = None,
    minutes: Annotated[float, typer.Option(help="Simulated minutes that are measured, in each cell.")] = 5.0,
    out: Annotated[Path | None, typer.Option(help="New folder for whatif.md and whatif.json.")] = None,
    set_: Sets = None,
) -> None:
    """Compare emulated engines in virtual time: agents by engines, with what fits and which wins."""
    from simulator.cli.run import read_scenario
    from simulator.cli.whatif import Question
    from simulator.cli.whatif import main as whatif_main

    named = [name for part in [*(engines or []), *(more or [])] for name in part.split(",") if name]
    question = Question(scenario, tuple(named or ["baseline", "top"]), agents, slo, minutes, out, tuple(set_ or ()))
    raise typer.Exit(whatif_main(question, read_scenario(scenario)))
