"""Template `finance_fx`: revaluation of multi-currency ledgers at the reporting date.

ledger.py has a ledger's items and the right figures, case.py draws them and writes them down,
files/calc.py is the agent's
script, files/identity.py what the check adds up by currency; the rest is the finance kit's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.core.task import Style, Task

from .._kit_finance import assemble
from .case import Ledgers

KIND = "finance"


def make(seed: int, size: str, style: Style) -> Task:
    """size: one, three or nine ledgers."""
    return assemble.task(Ledgers, __file__, seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
    return assemble.broken(Ledgers, __file__, task)
