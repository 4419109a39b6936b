"""Template `finance_vat`: quarterly VAT returns with partial exemption, reverse charge and corrections.

quarter.py has a quarter's documents and the right figures, case.py draws them and writes them down,
files/calc.py is the
agent's script, files/identity.py what the check adds up by itself; the rest is the finance kit's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.core.task import Style, Task

from .._kit_finance import assemble
from .case import Returns

KIND = "finance"


def make(seed: int, size: str, style: Style) -> Task:
    """size: one, three or nine registrations."""
    return assemble.task(Returns, __file__, seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
    return assemble.broken(Returns, __file__, task)
