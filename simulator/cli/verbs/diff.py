"""`sim diff`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="Run folder(s), with commas; a folder of them; label:NAME.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other side, what is on trial.")],
    primary: Annotated[
        str | None,
        typer.Option(help="Metric that decides, e.g. 'TTFT p95', synthetic:output; of live runs solved tasks."),
    ] = None,
    fail_on: Annotated[
        str, typer.Option(help="regression: primary worse; worse: any metric; inconclusive: not shown good; never.")
    ] = "regression",
    equivalence: Annotated[
        str | None, typer.Option(help="Values this near are equal, e.g. 2%; default 2 and 5 %.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="Differences you ask for: seed,scenario,model,gpu,kind,client.")
    ] = None,
    in_: Annotated[list[Path] | None, typer.Option("--in", help="Further folder to look for labels in.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every metric and every setting.")] = False,
    md: Annotated[Path | None, typer.Option(help="Write it as Markdown, too.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write it as a page, too.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write it for programs, too, with each run's values.")] = None,
) -> None:
    """Compare two engines by their runs: pairs by seed, intervals, verdicts, and what was configured differently."""
    from simulator.cli.diff import Asked
    from simulator.cli.diff import main as diff_main

    asked = Asked(
        a, b, primary, fail_on, equivalence, tuple(allow or ()), tuple(in_ or ()), every, md=md, html=html, json=json
    )
    raise typer.Exit(diff_main(asked))
