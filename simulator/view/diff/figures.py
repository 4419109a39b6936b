"""The numbers of a comparison as a reader sees them."""

from __future__ import annotations

import math

from simulator.core.compare.comparison import Row
from simulator.view.format import DASH, digits, measure


def cells(row: Row) -> tuple[str, str, str, str, str, str]:
    """A, B, change in %, interval, p, verdict; p is Student's, of other metrics than the primary one after
    Holm. One kind in one column: the sign flip's p of few pairs is coarse, and stands in the headline."""
    unit = "" if row.metric.unit in ("tok/s", "/s", "/h") else row.metric.unit
    values = [DASH if value is None else measure(value, unit) for value in (row.a, row.b)]
    if row.found is None:
        return (values[0], values[1], "", "", "", "")
    change = signed(row.found.ratio)
    p = "" if row.word is None else p_text(row.p_adjusted if row.p_adjusted is not None else row.found.p_t)
    word = "" if row.word is None else str(row.word)
    return (values[0], values[1], change, interval(row), p, word)


def signed(ratio: float) -> str:
    """A ratio as per cent of change: +6.8, -12, +0.02, +310; a factor from ten on: x12."""
    change = 100 * (ratio - 1)
    if ratio >= 10:
        return f"x{digits(ratio, 2)}" if ratio < 1e4 else ">x10,000"
    if abs(change) < 0.05:
        return "0.0"
    return f"{change:+.1f}" if abs(change) < 99.5 else f"{change:+.0f}"


def interval(row: Row) -> str:
    if row.found is None or row.found.low is None or row.found.high is None:
        return ""
    return f"{signed(row.found.low)}..{signed(row.found.high)}"


def share(value: float) -> str:
    """A share of 1 as 6.8 %, 19.5 %, 310 %."""
    percent = 100 * value
    if percent >= 99.5:
        return f"{percent:,.0f} %"
    return f"{percent:.1f} %" if percent >= 0.05 or percent == 0 else "less than 0.1 %"


def p_text(p: float | None) -> str:
    if p is None or not math.isfinite(p):
        return ""
    return f"{p:.3f}" if p >= 0.001 else "<.001"
