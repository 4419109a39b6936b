"""`sim why`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import HtmlFile, JsonFile, MarkdownFile


def why(
    a: Annotated[Path, typer.Argument(help="Run folder of the first engine; also LADDER/RUNG or label:NAME.")],
    b: Annotated[Path, typer.Argument(help="Run folder of the second.")],
    traffic: Annotated[str, typer.Option(help="agents, synthetic, or both.")] = "both",
    md: MarkdownFile = None,
    html: HtmlFile = None,
    json: JsonFile = None,
) -> None:
    """Split the throughput ratio of two runs into factors that both measured, and say what made the difference."""
    from simulator.cli.outputs import Outputs
    from simulator.cli.why import main as why_main

    raise typer.Exit(why_main(a, b, traffic, Outputs(md, html, json)))
