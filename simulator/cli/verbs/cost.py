"""`sim cost`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def cost(
    folder: Annotated[Path | None, typer.Argument(help="Run folder, or a ladder's: a line a rung.")] = None,
    gpu: Annotated[str | None, typer.Option(help="Which GPU is priced, e.g. H200; default: the run's own.")] = None,
    gpus: Annotated[int | None, typer.Option(help="How many the engine has; default: the run's, else 1.")] = None,
    price_hour: Annotated[float | None, typer.Option(help="US dollars for one GPU for an hour.")] = None,
    owned: Annotated[
        str | None, typer.Option(help="price,years,watts,kwh: bought instead of rented, e.g. 32000,4,1000,0.12.")
    ] = None,
    pue: Annotated[float | None, typer.Option(help="With --owned: power of the site over the machine's.")] = None,
    api: Annotated[list[str] | None, typer.Option(help="API to compare with; default: all of the price file.")] = None,
    utilisation: Annotated[str, typer.Option(help="Share of the paid hours that is used, e.g. 40% or 0.4.")] = "50%",
    prices: Annotated[Path | None, typer.Option(help="A price file of your own; adds to the shipped one.")] = None,
    rates: Annotated[
        str | None, typer.Option(help="Instead of a run: tokens a second, e.g. output=11840,input=11840,cached=0.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """What a run's tokens cost on its GPUs, and what an API asks for the same tokens."""
    from simulator.cli.cost import main as cost_main
    from simulator.cli.cost_asked import Question

    raise typer.Exit(
        cost_main(
            Question(
                folder=folder,
                rates=rates,
                gpu=gpu,
                gpus=gpus,
                price_hour=price_hour,
                owned=owned,
                pue=pue,
                apis=tuple(api or ()),
                utilisation=utilisation,
                prices=prices,
                json=json,
            )
        )
    )
