"""Document parsing: invoices, agreements, confirmations, a goods-in workbook and exports become checked JSON."""

from __future__ import annotations

from simulator.core.task import Style, Task

from . import assemble

KIND = "documents"


def make(seed: int, size: str, style: Style) -> Task:
    """One session's task, pure in its arguments. size: "medium" (1 or 2 suppliers) or "long" (5 to 7)."""
    return assemble.make(seed, size, style)
