"""`sim agree`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import HtmlFile, JsonFile, MarkdownFile, Seed, Sets


def agree(
    a: Annotated[str | None, typer.Argument(metavar="A", help="Address, or a configuration as of --engine.")] = None,
    b: Annotated[str | None, typer.Argument(metavar="B", help="The same of what is on trial.")] = None,
    scenario: Annotated[Path | None, typer.Option(help="Scenario file whose turns are the prompts.")] = None,
    turns: Annotated[int, typer.Option(min=1, max=10_000, help="How many turns, drawn by seed.")] = 64,
    max_tokens: Annotated[int, typer.Option(min=1, max=100_000, help="Longest reply.")] = 512,
    concurrency: Annotated[int, typer.Option(min=1, max=1_024, help="At once; 1 keeps batches out of it.")] = 1,
    twice: Annotated[bool, typer.Option("--twice", help="Ask A twice: how far it agrees with itself.")] = False,
    model_a: Annotated[str | None, typer.Option(help="Model name at A; default: the only one served.")] = None,
    model_b: Annotated[str | None, typer.Option(help="Model name at B.")] = None,
    out: Annotated[Path | None, typer.Option(help="A new folder; default: below reports/agree.")] = None,
    show: Annotated[Path | None, typer.Option(help="Only fold the replies in such a folder again.")] = None,
    seed: Seed = None,
    set_: Sets = None,
    md: MarkdownFile = None,
    html: HtmlFile = None,
    json: JsonFile = None,
) -> None:
    """Hold two engines' greedy replies to the same agents' prompts against each other."""
    from simulator.cli.outputs import Outputs
    from simulator.errors import UsageError

    outputs = Outputs(md, html, json)
    if show is not None:
        from simulator.cli.agree import show as show_again

        raise typer.Exit(show_again(show, outputs))
    if a is None or b is None or scenario is None:
        raise UsageError("say which two and which prompts: sim agree A B --scenario scenarios/8_agents_smoke.yaml")
    from simulator.cli.agree import Asked, Side
    from simulator.cli.agree import main as agree_main

    asked = Asked(
        Side(a, model_a),
        Side(b, model_b),
        scenario,
        turns,
        max_tokens,
        concurrency,
        seed,
        twice,
        out,
        tuple(set_ or ()),
    )
    raise typer.Exit(agree_main(asked, outputs))
