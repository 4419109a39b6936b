"""Template `finance_payroll`: a month of payroll by department, with brackets, ceilings and rounding rules.

month.py has the people of a department and the right figures, case.py draws them and writes them down,
files/calc.py is the agent's script, files/identity.py the closed form of the tax; the rest is the finance kit's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simulator.core.task import Style, Task

from .._kit_finance import assemble
from .case import Payroll

KIND = "finance"


def make(seed: int, size: str, style: Style) -> Task:
    """size: one, three or nine departments."""
    return assemble.task(Payroll, __file__, seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
    return assemble.broken(Payroll, __file__, task)
