"""`sim export`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run folders, or ladders: rows are stacked.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="A .csv or .parquet file, or a folder for several.")],
    form: Annotated[str, typer.Option("--format", help="csv or parquet; default: by -o's ending, else parquet.")] = "",
    what: Annotated[str, typer.Option(help="Some of requests, tools, sessions, engine, chunks, or all.")] = "requests",
) -> None:
    """Write runs' records as CSV or Parquet."""
    from simulator.cli.export import Question
    from simulator.cli.export import main as export_main

    raise typer.Exit(export_main(Question(tuple(folders), out, form, what)))
