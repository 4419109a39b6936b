"""A lease and its figures: whole cents, interest and present values from exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

Round = Callable[[Fraction], int]


@dataclass(frozen=True, slots=True)
class Lease:
    """start: first of a month. term: months; more: months of an option that will be taken up. pay: cents a month, from
    which `service` per cent are no rent. rate: thousandths of a per cent a year. free: months at the start without
    rent. index: (month from which, change in thousandths). costs: paid for the contract, less incentives. option:
    price at the end, with which the right lasts `life` months. restore: cents, due at the end. paid: (day, cents, what)
    as the journal has them."""

    asset: str
    start: date
    term: int
    more: int
    pay: int
    service: int
    rate: int
    advance: bool
    free: int
    index: tuple[int, int] | None
    costs: int
    option: int
    life: int
    restore: int
    paid: tuple[tuple[date, int, str], ...]


@dataclass(frozen=True, slots=True)
class State:
    """At the reporting date. Amounts in cents; interest and depreciation are of the last twelve months."""

    initial: int
    liability: int
    right: int
    interest: int
    depreciation: int
    current: int


def months(x: Lease, on: frozenset[str]) -> int:
    return x.term + (x.more if "extend" in on else 0)


def payments(x: Lease, on: frozenset[str], cents: Round) -> list[int]:
    """The month's payment, for each month of the term, as known at the start."""
    rent = cents(Fraction(x.pay * (100 - x.service), 100)) if "service" in on else x.pay
    return [0 if "free" in on and k < x.free else rent for k in range(months(x, on))]


def present(x: Lease, due: list[int], on: frozenset[str]) -> Fraction:
    """Value one month before the first payment falls due at a month's end, or on its day when paid in advance."""
    factor = 1 + Fraction(x.rate, 1_200_000)
    early = 1 if "advance" in on and x.advance else 0
    value = Fraction(x.option if "option" in on else 0)
    for k in range(len(due) - 1, -1, -1):
        value = (value + (due[k] if not early else 0)) / factor + (due[k] if early else 0)
    return value


def state(x: Lease, elapsed: int, on: frozenset[str], cents: Round) -> State:
    """After `elapsed` whole months."""
    due = payments(x, on, cents)
    n, early = len(due), "advance" in on and x.advance
    balance = initial = cents(present(x, due, on))
    right = balance + (x.costs if "costs" in on else 0)
    if "restore" in on:
        right += cents(Fraction(x.restore) / (1 + Fraction(x.rate, 1_200_000)) ** n)
    life = x.life if "option" in on and x.option else n
    interest, depreciation, history = [], [], []
    for k in range(n):
        if x.index and "index" in on and k == x.index[0]:
            due = [cents(Fraction(p * (1000 + x.index[1]), 1000)) if i >= k else p for i, p in enumerate(due)]
            again = cents(present(x, due[k:], on))
            right, balance = right + again - balance, again
        base = balance - (due[k] if early else 0)
        gained = cents(Fraction(base * x.rate, 1_200_000))
        balance = base + gained - (0 if early else due[k])
        written = cents(Fraction(right, life - k))
        right -= written
        interest.append(gained)
        depreciation.append(written)
        history.append((balance, right))
    at = elapsed - 1
    year = slice(max(0, elapsed - 12), elapsed)
    later = history[min(at + 12, n - 1)][0] if at + 12 < n else 0
    return State(
        initial, history[at][0], history[at][1], sum(interest[year]), sum(depreciation[year]), history[at][0] - later
    )
