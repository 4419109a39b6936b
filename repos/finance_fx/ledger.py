"""A ledger's open items and rates, and what a revaluation makes of them: cents and exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

Round = Callable[[Fraction], int]
#: account classes that are revalued; the others keep their historical amount
MONETARY = ("cash", "receivable", "payable", "loan")


@dataclass(frozen=True, slots=True)
class Item:
    """foreign: hundredths of the currency, liabilities with a minus; booked: cents at the rate of its day. kind: class
    of account, or "reval" for last month's revaluation of `number`. settled: (day, cents) when it was paid, else None.
    contract: number of a forward contract, "" for none."""

    day: date
    number: str
    kind: str
    currency: str
    foreign: int
    booked: int
    settled: tuple[date, int] | None
    contract: str


@dataclass(frozen=True, slots=True)
class Quote:
    """value: millionths. quoted: "local", local currency for `units` of the currency; "foreign", currency for one
    local; "cross", units of the cross currency for one."""

    day: date
    currency: str
    quoted: str
    units: int
    value: int


@dataclass(frozen=True, slots=True)
class Market:
    quotes: tuple[Quote, ...]
    forwards: dict[str, int]
    cross: str


def rate(m: Market, currency: str, day: date, on: frozenset[str]) -> Fraction:
    """Local currency for one unit."""
    found = [q for q in m.quotes if q.currency == currency]
    if "last" in on:
        found = [q for q in found if q.day <= day]
    q = max(found, key=lambda q: q.day)
    value = Fraction(q.value, 1_000_000)
    if "units" in on:
        value /= q.units
    if q.quoted == "foreign" and "inverse" in on:
        return 1 / value
    if q.quoted == "cross" and "cross" in on:
        return value * rate(m, m.cross, day, on)
    return value


def figures(items: Sequence[Item], m: Market, day: date, on: frozenset[str], cents: Round) -> dict[str, int]:
    book = closing = gain = loss = realised = 0
    back = {i.number: i.booked for i in items if i.kind == "reval"}
    for i in items:
        if i.kind == "reval":
            continue
        booked = i.booked + (back.get(i.number, 0) if "reval" not in on else 0)
        if i.settled and i.settled[0] <= day and "settled" in on:
            realised += i.settled[1] - booked
            continue
        if i.kind not in MONETARY and "monetary" in on:
            continue
        price = Fraction(m.forwards[i.contract], 1_000_000) if i.contract and "forward" in on else None
        now = cents(i.foreign * (price if price is not None else rate(m, i.currency, day, on)))
        book, closing = book + booked, closing + now
        gain += max(0, now - booked)
        loss += max(0, booked - now)
    return {"book": book, "closing": closing, "gain": gain, "loss": loss, "net": gain - loss, "realised": realised}
