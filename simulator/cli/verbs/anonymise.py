"""`sim anonymise`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def anonymise(
    trace: Annotated[Path, typer.Argument(help="A trace, from `sim import`.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The trace to write.")],
    secret: Annotated[
        str,
        typer.Option(
            help="The same one gives the same words; who knows it can guess them back.", envvar="AGENT_SIM_SECRET"
        ),
    ] = "",
) -> None:
    """Replace all that was said in a trace, and keep its sizes, sharing, times and tool names."""
    from simulator.cli.anonymise import main as anonymise_main

    raise typer.Exit(anonymise_main(trace, out, secret))
