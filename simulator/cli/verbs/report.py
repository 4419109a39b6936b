"""`sim report`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Run folders, also of killed runs, or ladders.")
    ],
    html: Annotated[bool, typer.Option("--html", help="Also report.html: charts and tables, opens offline.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write the files there, not beside the run.")
    ] = None,
) -> None:
    """Fold runs' records again: writes summary.json and report.md, prints the headline (of several, a line each).
    Beside a published run (packed records) nothing is written but a page that is asked for."""
    from simulator.cli.report import main as report_main

    raise typer.Exit(report_main(folders, html=html, out=out))
