"""`sim report`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(folder: Annotated[Path, typer.Argument(help="Run folder, also of a run that was killed.")]) -> None:
    """Fold a run's records again: writes summary.json and report.md, prints the headline."""
    from simulator.cli.report import main as report_main

    raise typer.Exit(report_main(folder))
