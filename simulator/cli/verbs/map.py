"""`sim map`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.verbs.given import HtmlFile, JsonFile, MarkdownFile, Model
from simulator.errors import UsageError


def map(
    a: Annotated[str, typer.Argument(help="An emulated engine: shipped name or file. Alone: the folder of a map.")],
    b: Annotated[str | None, typer.Argument(help="The engine to set against it.")] = None,
    concurrency: Annotated[str, typer.Option(help="Requests at once: the columns.")] = "1,4,16,64,128,256",
    inputs: Annotated[str, typer.Option(help="Prompt lengths, tokens: the rows.")] = "512,4096,16384,49152",
    outputs: Annotated[str, typer.Option(help="Reply lengths, tokens.")] = "512",
    cached: Annotated[str | None, typer.Option(help="Cached shares of the prompts; default 0,0.93.")] = None,
    mark: Annotated[Path | None, typer.Option(help="Run folder whose own traffic gets a row and a mark.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for map.json; the same command goes on there.")] = None,
    endpoint_a: Annotated[str | None, typer.Option(help="Measure a real engine instead, as A.")] = None,
    endpoint_b: Annotated[str | None, typer.Option(help="And another, as B.")] = None,
    model: Model = None,
    md: MarkdownFile = None,
    html: HtmlFile = None,
    json: JsonFile = None,
) -> None:
    """Where one engine beats another: requests at once by prompt, reply and cached share, with your traffic marked."""
    from simulator.cli.map import MAP, Question, draw
    from simulator.cli.map import main as map_main
    from simulator.cli.outputs import Outputs

    files = Outputs(md, html, json)
    if b is None:
        if not (Path(a) / MAP).is_file():
            raise UsageError(f"{a}: no map lies there ({MAP}); give the folder of one, or two engines")
        raise typer.Exit(draw(Path(a), files))
    if (endpoint_a is None) != (endpoint_b is None):
        raise UsageError("--endpoint-a and --endpoint-b go together; give both, or neither for emulated engines")
    pair = None if endpoint_a is None or endpoint_b is None else (endpoint_a, endpoint_b)
    shares = cached if cached is not None else "0,0.93" if pair is None else "0"
    raise typer.Exit(map_main(Question(a, b, concurrency, inputs, outputs, shares, mark, out, pair, model), files))
