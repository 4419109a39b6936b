"""`sim serve`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    config: Annotated[str, typer.Argument(help="An engine's configuration: top, ladder:mtp1, or a file like those.")],
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Default: a free one, which is told.")] = None,
    log: Annotated[Path | None, typer.Option(help="The engine's output; default: a temporary file.")] = None,
) -> None:
    """Start an engine by its configuration and keep it until Ctrl-C."""
    from simulator.cli.serve import main as serve_main

    raise typer.Exit(serve_main(config, port, log))
