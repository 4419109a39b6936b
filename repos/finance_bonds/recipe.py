"""Template `finance_bonds`: accrued interest, value and yield of a bond portfolio from trades and term sheets.

case.py has the bonds and the right figures, files/calc.py the agent's script,
files/identity.py the closed form that the
check works out; the rest is the finance kit's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.core.task import Style, Task

from .._kit_finance import assemble
from .case import Bonds

KIND = "finance"


def make(seed: int, size: str, style: Style) -> Task:
    """size: one, four or ten bonds."""
    return assemble.task(Bonds, __file__, seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
    return assemble.broken(Bonds, __file__, task)
