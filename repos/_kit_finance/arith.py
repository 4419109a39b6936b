"""The recipe's own arithmetic: whole cents and exact fractions. The agent's scripts use `decimal`; nothing is shared,
so that a truth and a recorded result agree only when both are right."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

UP, EVEN = "half up", "half even"


def nearest(x: Fraction | int, mode: str) -> int:
    """To the nearest integer; ties away from zero (UP) or to the even neighbour (EVEN)."""
    if mode == EVEN:
        return round(Fraction(x))
    n, d = abs(x.numerator), x.denominator
    whole = (2 * n + d) // (2 * d)
    return whole if x >= 0 else -whole


def plain(cents: int) -> str:
    """-123456 -> '-1234.56', as files and results have it."""
    whole, part = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}.{part:02d}"


def shown(cents: int) -> str:
    """-123456 -> '-1,234.56', as prose has it."""
    whole, part = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole:,}.{part:02d}"


def span(start: date, end: date, basis: str) -> Fraction:
    """Share of a year between two dates: ACT/365, ACT/360 or 30E/360."""
    if basis == "30E/360":
        months = (end.year - start.year) * 12 + end.month - start.month
        return Fraction(30 * months + min(end.day, 30) - min(start.day, 30), 360)
    return Fraction(end.toordinal() - start.toordinal(), 365 if basis == "ACT/365" else 360)


def shift(anchor: date, months: int) -> date:
    """The same day `months` later; a day that the month lacks becomes its last one."""
    index = anchor.year * 12 + anchor.month - 1 + months
    year, month = divmod(index, 12)
    following = date(year + (month == 11), (month + 1) % 12 + 1, 1)
    last = (following - date(year, month + 1, 1)).days
    return date(year, month + 1, min(anchor.day, last))


def scaled(value: int, decimals: int) -> str:
    """A number held as an integer of its last decimal, as results have it: (-123456, 4) -> '-12.3456'."""
    if not decimals:
        return str(value)
    whole, part = divmod(abs(value), 10**decimals)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{decimals}d}"


def last_day(day: date) -> date:
    """Of the day's month."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1) - timedelta(days=1)
