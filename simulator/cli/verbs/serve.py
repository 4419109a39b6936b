"""`sim serve`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.errors import UsageError


def serve(
    config: Annotated[str, typer.Argument(help="An engine's configuration: top, ladder:mtp1, or a file like those.")],
    port: Annotated[
        int | None, typer.Option(min=1, max=65_535, help="Default: a free one, which is told; --dry-run: 8000.")
    ] = None,
    log: Annotated[Path | None, typer.Option(help="The engine's output; default: a temporary file.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be started, and start nothing.")] = False,
    gpu_mib: Annotated[
        int | None, typer.Option(min=1, help="With --dry-run: the memory of a GPU that is not here.")
    ] = None,
) -> None:
    """Start an engine by its configuration and keep it until Ctrl-C."""
    from simulator.cli.serve import dry as dry_main
    from simulator.cli.serve import main as serve_main

    if gpu_mib is not None and not dry_run:
        raise UsageError("--gpu-mib belongs to --dry-run; give that too")
    raise typer.Exit(dry_main(config, gpu_mib, port) if dry_run else serve_main(config, port, log))
