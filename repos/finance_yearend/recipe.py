"""Template `finance_yearend`: a group's year-end figures (loans, fund returns, consolidation and more) from ledgers.

The pieces are in close/: world.py (shared facts), a module of facts and right figures for each chapter with the
recorded way beside it (`*_path.py`), house.py (the repository around them), frame.py (request, first look, report).
Text templates of scripts, helpers and tests are in files/.
"""

from __future__ import annotations

from pathlib import Path

from simulator.core.task import Style, Task

from .close import KIND, assemble

__all__ = ["KIND", "make"]


def make(seed: int, size: str, style: Style) -> Task:
    """The task of this seed. size: "medium" (28-50 turns) or "long" (80-130). Pure, about 0.1 s."""
    return assemble(Path(__file__).resolve().parent.name, seed, size, style)
