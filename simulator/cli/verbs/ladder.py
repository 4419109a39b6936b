"""`sim ladder`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from simulator.cli.verbs.given import Procs, Seed, Sets


def ladder(
    file: Annotated[Path | None, typer.Argument(help="Ladder file, for example serving/ladder.yaml.")] = None,
    scenario: Annotated[Path | None, typer.Option(help="Scenario file; default: the ladder's own.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the ladder; one that is there is gone on with.")] = None,
    pairs: Annotated[int, typer.Option(min=1, max=200, help="Repeats of each rung, in pairs.")] = 1,
    only: Annotated[str, typer.Option(help="Some of the rungs: baseline,top.")] = "",
    agents_only: Annotated[bool, typer.Option("--agents-only", help="Without synthetic traffic.")] = False,
    synthetic_only: Annotated[bool, typer.Option("--synthetic-only", help="Without agents.")] = False,
    concurrency: Annotated[str, typer.Option(help="Levels for both kinds of traffic: 8,32,128.")] = "",
    lanes: Annotated[int | None, typer.Option(min=1, max=64, help="Servers side by side, a GPU each.")] = None,
    gpus: Annotated[str, typer.Option(help="A lane's GPU each: 0,1; several for a lane: 0+1,2+3.")] = "",
    repeats_per_life: Annotated[int, typer.Option(min=1, max=200, help="Repeats in one life of a server.")] = 1,
    budget: Annotated[float | None, typer.Option(min=1, help="Seconds after which the ladder has stopped.")] = None,
    order: Annotated[
        Literal["file", "ends-first"] | None,
        typer.Option(help="Rungs as in the file, or the first and last one's pairs first; the latter with --budget."),
    ] = None,
    keep_going: Annotated[bool, typer.Option(help="Go on when a rung does not start.")] = True,
    seed: Seed = None,
    set_: Sets = None,
    procs: Procs = None,
    show: Annotated[Path | None, typer.Option(help="Only show the results in a ladder's folder.")] = None,
) -> None:
    """Measure engine configurations, a fresh server each: agents and synthetic traffic, repeats in pairs."""
    from simulator.errors import UsageError

    if show is not None:
        from simulator.cli.ladder_show import show as show_ladder  # without what measuring needs

        raise typer.Exit(show_ladder(show))
    if file is None:
        raise UsageError("say which ladder: sim ladder serving/ladder.yaml --scenario scenarios/32_agents.yaml")
    from simulator.cli.ladder import main as ladder_main
    from simulator.cli.ladder_asked import Asked

    raise typer.Exit(
        ladder_main(
            Asked(
                file=file,
                scenario=scenario,
                out=out,
                pairs=pairs,
                only=only,
                agents_only=agents_only,
                synthetic_only=synthetic_only,
                concurrency=concurrency,
                lanes=lanes,
                gpus=gpus,
                repeats_per_life=repeats_per_life,
                budget_s=budget,
                order=order,
                keep_going=keep_going,
                seed=seed,
                overrides=tuple(set_ or ()),
                procs=procs,
            )
        )
    )
