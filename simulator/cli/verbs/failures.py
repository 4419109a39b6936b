"""`sim failures`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def failures(
    names: Annotated[list[str] | None, typer.Argument(metavar="[CASE...]", help="Some of them; default: all.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where expected.yaml and its scenarios are; default: the shipped ones.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the runs; default: a new one in reports/runs/.")] = None,
    only_list: Annotated[bool, typer.Option("--list", help="Say which there are, and run nothing.")] = False,
) -> None:
    """Live through failures that people report, each held to its expected outcome."""
    from simulator.cli.failures import DEFAULT, Question
    from simulator.cli.failures import main as failures_main

    raise typer.Exit(failures_main(Question(tuple(names or ()), folder or DEFAULT, out, only_list)))
