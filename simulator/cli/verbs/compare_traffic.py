"""`sim compare-traffic`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import HtmlFile, JsonFile, MarkdownFile


def compare_traffic(
    place: Annotated[
        Path, typer.Argument(metavar="DIR", help="A run folder, a ladder's folder, or a folder of run folders.")
    ],
    agents_by: Annotated[str, typer.Option(help="What agents judge by: output, turn, ttft or tpot.")] = "output",
    md: MarkdownFile = None,
    html: HtmlFile = None,
    json: JsonFile = None,
) -> None:
    """Agents against the synthetic test: on one engine, or which rung of a ladder each would choose, and the price."""
    from simulator.cli.compare_traffic import main as compare_main
    from simulator.cli.outputs import Outputs

    raise typer.Exit(compare_main(place, agents_by, Outputs(md, html, json)))
