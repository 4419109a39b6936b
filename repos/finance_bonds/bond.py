"""A bond and what is right of it: whole cents and exact fractions; only the yield is solved in floating point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from .._kit_finance.arith import last_day, shift


@dataclass(frozen=True, slots=True)
class Bond:
    """rate, price: in thousandths of a per cent (of a point). step: (from, rate), a later coupon rate. sinks: (date,
    per cent of the original nominal repaid). trades: (trade day, settlement, nominal in whole units, minus for a sale,
    price). ex_days: days before a coupon from which a buyer no longer gets it."""

    issuer: str
    rate: int
    freq: int
    issue: date
    maturity: date
    basis: str
    price: int
    ex_days: int
    step: tuple[date, int] | None
    sinks: tuple[tuple[date, int], ...]
    trades: tuple[tuple[date, date, int, int], ...]


@dataclass(frozen=True, slots=True)
class Period:
    """Of the coupon that runs on the reporting date. left: coupon dates after it, the next one first."""

    before: date
    start: date
    left: tuple[date, ...]
    ex: bool

    @property
    def next(self) -> date:
        return self.left[0]


def period(b: Bond, day: date, on: frozenset[str]) -> Period:
    months, whole = 12 // b.freq, "eom" in on and b.maturity == last_day(b.maturity)
    dates, k = [b.maturity], 0
    while dates[-1] > day:
        k += 1
        found = shift(b.maturity, -k * months)
        dates.append(last_day(found) if whole else found)
    before, left = dates[-1], tuple(reversed(dates[:-1]))
    start = max(before, b.issue) if "short" in on else before
    ex = "exdiv" in on and left[0] - day <= timedelta(days=b.ex_days)
    return Period(before, start, left, ex)


def fraction(b: Bond, p: Period, start: date, end: date, on: frozenset[str]) -> Fraction:
    """Of a year."""
    days = (end - start).days
    if b.basis == "30E/360":
        months = (end.year - start.year) * 12 + end.month - start.month
        return Fraction(30 * months + min(end.day, 30) - min(start.day, 30), 360)
    if b.basis == "ACT/ACT" and "icma" in on:
        return Fraction(days, (p.next - p.before).days * b.freq)
    return Fraction(days, 360 if b.basis == "ACT/360" else 365)


def rate(b: Bond, p: Period, on: frozenset[str]) -> Fraction:
    """Per cent a year in the running period."""
    stepped = "step" in on and b.step is not None and b.step[0] <= p.before
    return Fraction(b.step[1] if stepped and b.step else b.rate, 1000)


def accrued(b: Bond, day: date, on: frozenset[str]) -> Fraction:
    """Per 100 of nominal."""
    p = period(b, day, on)
    if p.ex:
        return -rate(b, p, on) * fraction(b, p, day, p.next, on)
    return rate(b, p, on) * fraction(b, p, p.start, day, on)


def held(b: Bond, day: date, on: frozenset[str], cents: Callable[[Fraction], int]) -> tuple[int, int]:
    """(nominal, cost in cents) of what was bought and not sold, sales at average cost."""
    nominal = cost = 0
    for traded, settled, units, price in b.trades:
        if (settled if "settle" in on else traded) > day:
            continue
        if units > 0:
            cost += cents(Fraction(units * price, 1000))
        else:
            cost -= cents(Fraction(cost * -units, nominal))
        nominal += units
    return nominal, cost


def flows(b: Bond, day: date, on: frozenset[str]) -> tuple[Fraction, list[Fraction]]:
    """(share of the running period that is left, what is paid at each coupon date from the next one on), per 100."""
    p = period(b, day, on)
    regular = rate(b, p, on) / b.freq
    paid = [regular] * len(p.left)
    if p.start > p.before:
        paid[0] = rate(b, p, on) * fraction(b, p, p.start, p.next, on)
    if p.ex:
        paid[0] = Fraction(0)
    paid[-1] += 100
    return Fraction((p.next - day).days, (p.next - p.before).days), paid


def rate_of_return(b: Bond, day: date, on: frozenset[str]) -> float:
    dirty = float(Fraction(b.price, 1000) + accrued(b, day, on))
    left, paid = flows(b, day, on)
    w, f = float(left), b.freq
    if len(paid) == 1 and "simple" in on:
        return (float(paid[0]) / dirty - 1) * f / w

    def worth(y: float) -> float:
        return sum(float(c) / (1 + y / f) ** (w + k) for k, c in enumerate(paid))

    low, high = -0.9, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) > dirty else (low, middle)
    return (low + high) / 2
