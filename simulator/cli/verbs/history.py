"""`sim history`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def history(
    folders: Annotated[list[Path] | None, typer.Argument(metavar="[DIR]...", help="Where to look; reports/.")] = None,
    label: Annotated[str, typer.Option(help="Only runs with this label; * and ? stand for anything.")] = "",
    scenario: Annotated[str, typer.Option(help="Only runs of this scenario.")] = "",
    engine: Annotated[str, typer.Option(help="real, emulated, a version, a configuration or a model.")] = "",
    last: Annotated[int | None, typer.Option(help="Only the newest so many.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Probes and ladders' runs one by one.")] = False,
    paths: Annotated[bool, typer.Option("--paths", help="Folders only, for other commands.")] = False,
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    pick: Annotated[bool, typer.Option("--pick", help="Choose in the terminal; prints the folders chosen.")] = False,
) -> None:
    """List runs, newest first: who ran what, when, and how fast."""
    from simulator.cli.history import Question, Wanted
    from simulator.cli.history import main as history_main

    wanted = Wanted(label, scenario, engine)
    raise typer.Exit(history_main(Question(tuple(folders or ()), wanted, last, every, paths, json, pick)))
