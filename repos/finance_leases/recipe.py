"""Template `finance_leases`: lease liabilities and rights of use from contracts and payment journals.

lease.py has a contract and the right figures, case.py draws contracts and writes them down, files/calc.py is the
agent's script, files/identity.py the annuity formulas of the check; the rest is the finance kit's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.core.task import Style, Task

from .._kit_finance import assemble
from .case import Leases

KIND = "finance"


def make(seed: int, size: str, style: Style) -> Task:
    """size: one, three or nine leases."""
    return assemble.task(Leases, __file__, seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
    return assemble.broken(Leases, __file__, task)
