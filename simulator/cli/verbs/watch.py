"""`sim watch`: what the command line takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.errors import UsageError


def watch(
    folder: Annotated[Path, typer.Argument(help="Run folder, growing or finished.")],
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the full screen.")] = False,
) -> None:
    """Show a run, while it grows or after it ended."""
    from simulator.view.live import watch as watch_run

    try:
        watch_run(folder, plain=plain)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as error:
        raise UsageError(f"{folder} cannot be shown: {type(error).__name__}: {error!s:.120}") from None
