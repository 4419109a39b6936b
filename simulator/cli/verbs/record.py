"""`sim record`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def record(
    upstream: Annotated[str, typer.Option(help="Where requests go on to, e.g. http://127.0.0.1:8000.")],
    listen: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")] = 8100,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The log, or a folder for it; default: record-TIME.jsonl.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    session_header: Annotated[str, typer.Option(help="A header of your clients that names the session.")] = "",
    chunks: Annotated[bool, typer.Option("--chunks", help="Keep each event of a stream, verbatim.")] = False,
    ca: Annotated[Path | None, typer.Option(help="PEM file of certificates for an https upstream.")] = None,
) -> None:
    """Stand between real agents and their engine, and record what passes."""
    from simulator.cli.record import main as record_main

    raise typer.Exit(record_main(upstream, host, listen, out, session_header, ca, chunks=chunks))
