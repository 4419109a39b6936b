"""`sim ladder --show`: a ladder's table, from its ladder.json alone."""

from __future__ import annotations

from pathlib import Path

from simulator.cli.ladder_report import load_sentences
from simulator.cli.screen import whole_lines
from simulator.store.ladder import read_ladder
from simulator.view.ladder import final


def show(folder: Path) -> int:
    """Raises UsageError when there is no ladder in it."""
    told = read_ladder(folder)
    whole_lines().print(final(told, str(folder), load_sentences(told)))
    return 0
