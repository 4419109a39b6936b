"""`sim import`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def import_trace(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders of recorded sessions.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The trace to write.")],
    form: Annotated[str, typer.Option("--format", help="Take all files for this format; default: look at each.")] = "",
    every: Annotated[bool, typer.Option("--all", help="List everything that was left out.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the trace if there is one already.")] = False,
) -> None:
    """Bring recorded sessions of other programs into one trace."""
    from simulator.cli.importing import main as import_main

    raise typer.Exit(import_main(paths, out, form, every=every, force=force))
