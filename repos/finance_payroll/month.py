"""A department's month: what each person earns, pays and receives; whole cents and exact fractions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

Round = Callable[[Fraction], int]


@dataclass(frozen=True, slots=True)
class Person:
    """Amounts in cents. joined, left: within the month, else None. hours: overtime in quarters of an hour. raises:
    months (before this one) for which `raised` more is owed each. cash: paid out at the desk. stepped: its tax
    base is cut down to the scheme's step."""

    number: str
    salary: int
    joined: date | None
    left: date | None
    hours: int
    hourly: int
    bonus: int
    raises: int
    raised: int
    advance: int
    cash: bool
    stepped: bool


@dataclass(frozen=True, slots=True)
class Scheme:
    """brackets: (from, rate in per cent) of the yearly amount, in cents, rising. social, employer: shares in
    thousandths. ceiling: monthly, cents. coin: smallest coin in cents. step: the tax base's step in cents."""

    brackets: tuple[tuple[int, int], ...]
    social: int
    employer: int
    ceiling: int
    coin: int
    step: int


def yearly_tax(s: Scheme, amount: Fraction) -> Fraction:
    """By slices: each part of the amount at the rate of its bracket."""
    total = Fraction(0)
    for k, (start, rate) in enumerate(s.brackets):
        end = s.brackets[k + 1][0] if k + 1 < len(s.brackets) else None
        if amount > start:
            part = amount - start if end is None else min(amount, Fraction(end)) - start
            total += part * rate / 100
    return total


@dataclass(frozen=True, slots=True)
class Pay:
    gross: int
    social: int
    employer: int
    base: int
    bonus: int
    tax: int
    net: int


@functools.lru_cache(maxsize=30_000)
def pay(p: Person, s: Scheme, end: date, on: frozenset[str], cents: Round) -> Pay:
    salary = p.salary
    if "days" in on and (p.joined or p.left):
        first = p.joined.day if p.joined else 1
        last = p.left.day if p.left else end.day
        salary = cents(Fraction(p.salary * (last - first + 1), end.day))
    plain = cents(Fraction(p.hours * p.hourly, 4))
    premium = cents(Fraction(p.hours * p.hourly, 16))
    back = p.raises * p.raised if "back" in on else 0
    gross = salary + plain + premium + back + p.bonus
    insured = min(gross, s.ceiling) if "ceiling" in on else gross
    social = cents(Fraction(insured * s.social, 1000))
    employer = cents(Fraction(insured * s.employer, 1000))
    base = gross - social - (premium if "premium" in on else 0) - (p.bonus if "bonus" in on else 0)
    base = max(base, 0)
    if "step" in on and p.stepped:
        base -= base % s.step
    year = Fraction(12 * base)
    tax = cents(yearly_tax(s, year) / 12)
    if "bonus" in on and p.bonus:
        tax += cents(yearly_tax(s, year + p.bonus) - yearly_tax(s, year))
    net = gross - social - tax - (p.advance if "advance" in on else 0)
    if "coin" in on and p.cash:
        net = s.coin * cents(Fraction(net, s.coin))
    return Pay(gross, social, employer, base, p.bonus if "bonus" in on else 0, tax, net)
