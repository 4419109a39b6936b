"""Template `finance_bankrec`: bank accounts reconciled with their ledgers, entry by entry.

account.py has the entries and lines of an account and the right figures, case.py draws them and writes them down,
files/calc.py is the agent's script, files/identity.py what the check adds up; the rest is the finance kit's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.core.task import Style, Task

from .._kit_finance import assemble
from .case import Accounts

KIND = "finance"


def make(seed: int, size: str, style: Style) -> Task:
    """size: one, three or nine accounts."""
    return assemble.task(Accounts, __file__, seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
    return assemble.broken(Accounts, __file__, task)
