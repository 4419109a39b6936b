"""`sim shape`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import HtmlFile, JsonFile, MarkdownFile


def shape(
    source: Annotated[Path, typer.Argument(metavar="TRACE|RUN", help="A trace of `sim import`, or a run folder.")],
    against: Annotated[list[Path] | None, typer.Option(help="Another trace or run to compare with.")] = None,
    kv_tok: Annotated[list[int] | None, typer.Option(min=1, help="KV cache, tokens; default: several sizes.")] = None,
    scenario_out: Annotated[Path | None, typer.Option(help="Write a scenario that sends such traffic.")] = None,
    html: HtmlFile = None,
    md: MarkdownFile = None,
    json: JsonFile = None,
) -> None:
    """What traffic looks like: sizes, gaps, tools, concurrency, prefix reuse, and what a 512/512 test has of it."""
    from simulator.cli.outputs import Outputs
    from simulator.cli.shape import Question
    from simulator.cli.shape import main as shape_main

    question = Question(source, tuple(against or ()), tuple(kv_tok or ()), scenario_out, Outputs(md, html, json))
    raise typer.Exit(shape_main(question))
