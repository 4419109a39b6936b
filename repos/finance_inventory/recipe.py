"""Template `finance_inventory`: stock at cost and at net realisable value, FIFO and moving average.

article.py has an article's movements and the right figures, case.py draws them and writes them down, files/calc.py is
the agent's script, files/identity.py the flow of value that the check adds up; the rest is the finance kit's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.core.task import Style, Task

from .._kit_finance import assemble
from .case import Stock

KIND = "finance"


def make(seed: int, size: str, style: Style) -> Task:
    """size: one, three or nine articles."""
    return assemble.task(Stock, __file__, seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
    return assemble.broken(Stock, __file__, task)
