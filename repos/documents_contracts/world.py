"""Facts: agreements, amendments that are in force or not, notices of termination."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.tasks import words
from simulator.tasks.words import Company

from .._kit_documents.house import House, house

LABEL = "documents_contracts"
SIZE: Mapping[str, int] = {"small": 3, "medium": 6, "long": 15}
FIELDS = ("payment_days", "price_cap", "liability_cap", "notice_days", "renewal_months")


@dataclass(frozen=True, slots=True)
class Amendment:
    """changes: field -> value. state: "signed", "draft" (says so) or "unsigned" (a side has not signed)."""

    number: int
    dated: date
    effective: date
    changes: Mapping[str, int]
    state: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """price_cap in tenths of a per cent, liability_cap in whole euros, renewal_months 0 for none. starts is the
    first of a month. notice: when a notice of termination was received."""

    number: str
    partner: Company
    title: str
    signed: date
    starts: date
    term_months: int
    terms: Mapping[str, int]
    amendments: tuple[Amendment, ...]
    notice: date | None


@dataclass(frozen=True, slots=True)
class World:
    house: House
    day: date
    agreements: tuple[Agreement, ...]


def add_months(first: date, months: int) -> date:
    """first: the first of a month."""
    k = first.year * 12 + first.month - 1 + months
    return date(k // 12, k % 12 + 1, 1)


def build(seed: int, size: str, attempt: int = 0) -> World:
    n = SIZE[size]
    base = house(
        seed, LABEL, size, n, agreements="agreements|contracts|read_contracts", register="register|in_force|overview"
    )
    r = words.stream(seed, LABEL, "world", size, attempt)
    day = base.day - timedelta(days=r.randint(2, 15))
    made: list[Agreement] = []
    for k, partner in enumerate(base.partners):
        number = words.pattern(r, r.choice(("FA-####", "C##-###", "RV-####", "MSA-#####", "K-####-@")))
        while any(number == a.number for a in made):
            number = words.pattern(r, "K-#####")
        made.append(_agreement(r, number, partner, day, k))
    return World(base, day, tuple(made))


def _value(r: random.Random, field: str) -> int:
    match field:
        case "payment_days":
            return r.choice((10, 14, 21, 30, 45, 60))
        case "price_cap":
            return r.choice((15, 20, 25, 30, 40, 50))
        case "liability_cap":
            return r.randrange(50, 900, 5) * 1_000
        case "notice_days":
            return r.choice((30, 60, 90, 120))
    return r.choice((0, 12, 12, 12, 24))


def _agreement(r: random.Random, number: str, partner: Company, day: date, k: int) -> Agreement:
    signed = day - timedelta(days=r.randint(420, 1_500))
    starts = add_months(signed.replace(day=1), r.randint(1, 3))
    terms = {field: _value(r, field) for field in FIELDS}
    if k in (0, 3):
        terms["renewal_months"] = 12
    title = r.choice(
        ("Supply Agreement", "Framework Agreement", "Service Agreement", "Maintenance Contract", "Lease of Equipment")
    )
    notice = day - timedelta(days=r.randint(10, 55)) if k == 3 or (k > 3 and r.random() < 0.15) else None
    return Agreement(
        number,
        partner,
        title,
        signed,
        starts,
        r.choice((12, 24, 24, 36)),
        terms,
        _amendments(r, terms, starts, day, k),
        notice,
    )


def _amendments(r: random.Random, terms: Mapping[str, int], starts: date, day: date, k: int) -> tuple[Amendment, ...]:
    """The first agreement has two for one field, whose order in time is not that of their numbers; the second a draft;
    the third one that begins later."""

    def change(fields: list[str], current: Mapping[str, int]) -> dict[str, int]:
        out = {}
        for field in fields:
            value = _value(r, field)
            while value == current[field]:
                value = _value(r, field)
            out[field] = value
        return out

    def made(
        number: int, effective: date, fields: list[str], state: str = "signed", base: Mapping[str, int] = terms
    ) -> Amendment:
        return Amendment(number, effective - timedelta(days=r.randint(8, 40)), effective, change(fields, base), state)

    early, late = day - timedelta(days=r.randint(150, 300)), day - timedelta(days=r.randint(20, 90))
    if k == 0:
        first = made(1, late, ["payment_days", "liability_cap"])
        return (first, made(2, early, ["payment_days"], base=first.changes))
    if k == 1:
        return (
            made(1, early, ["notice_days"]),
            made(2, late, ["payment_days", "price_cap"], r.choice(("draft", "unsigned"))),
        )
    if k == 2:
        later = day + timedelta(days=r.randint(12, 80))
        return (made(1, early, ["price_cap"]), made(2, later, ["liability_cap", "notice_days"]))
    out: list[Amendment] = []
    for number in range(1, r.randint(0, 3) + 1):
        effective = words.day(r, max(starts, day - timedelta(days=500)), day + timedelta(days=70))
        state = r.choices(("signed", "draft", "unsigned"), (6, 1, 1))[0]
        out.append(made(number, effective, r.sample(FIELDS, r.randint(1, 2)), state))
    return tuple(out)
