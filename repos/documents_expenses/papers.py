"""Expense sheets (XLSX with merged cells and formulas), card exports (CSV in three encodings), exchange rates."""

from __future__ import annotations

import random
from datetime import date, datetime, time

from simulator.tasks import words
from simulator.tasks.office import Formula, Sheet

from .._kit_documents import paper
from .._kit_documents.house import MONTHS, printed
from .._kit_documents.paper import Paper
from .world import CURRENCIES, KM_RATE_CENTS, Traveller, World

#: of the three card companies: (encoding, separator, notation of amounts, form of dates)
EXPORTS = (
    ("utf-8-sig", ",", "en", "%Y-%m-%d"),
    ("cp1252", ";", "de", "%d.%m.%Y"),
    ("utf-16", "\t", "de", "%d/%m/%Y"),
)


def sheet_path(world: World, t: Traveller) -> str:
    return world.house.inbox(f"expenses_{words.plain(t.person.last)}_{world.month:%Y%m}.xlsx")


def card_path(world: World, issuer: int) -> str:
    return world.house.inbox(f"{words.plain(world.issuers[issuer])}_{world.month:%m-%Y}.csv")


def rates_path(world: World) -> str:
    return world.house.inbox(f"reference_rates_{world.month:%Y-%m}.csv")


def all_papers(seed: int, world: World) -> list[Paper]:
    r = words.stream(seed, "expense papers")
    found = [_sheet(r, world, t) for t in world.travellers]
    used = sorted({c.issuer for c in world.charges})
    return [*found, *(_card(r, world, k) for k in used), _rates(world)]


def _sheet(r: random.Random, world: World, t: Traveller) -> Paper:
    columns = list(t.heads)
    title = f"Expenses {MONTHS[world.month.month - 1]} {world.month.year}"
    rows: list[list[object]] = [[title], [], ["Name", None, t.person.name], ["Cost centre", None, t.centre]]
    rows += [[words.say(r, "[Please fill in completely|Receipts are to be stapled|One line a receipt]")]] * r.randint(
        0, 1
    )
    rows += [[], [t.heads[c] for c in columns]]
    head, merged, kind_from = len(rows), ["A1:G1"], len(rows) + 1
    for number, item in enumerate(t.items):
        first = number == 0 or t.items[number - 1].kind != item.kind
        if first:
            _merge(merged, kind_from, len(rows))
            kind_from = len(rows) + 1
        cells: dict[str, object] = {
            "day": _date_cell(r, item.day),
            "kind": item.kind.capitalize() if first else None,
            "text": item.text,
            "amount": item.cents / 100 if r.random() < 0.7 else printed(item.cents, r.choice(("de", "en"))),
            "currency": item.currency,
            "payment": "company card" if item.card else r.choice(("cash", "own card", "own")),
            "remark": r.choice(("private", "PRIVATE", "private, sorry")) if item.private else _remark(r),
        }
        rows.append([cells[c] for c in columns])
    _merge(merged, kind_from, len(rows))
    letter = "ABCDEFG"[columns.index("amount")]
    known = sum(c for c in (row[columns.index("amount")] for row in rows[head:]) if isinstance(c, float))
    total: list[object] = [None] * len(columns)
    total[0], total[columns.index("amount")] = (
        "Total",
        Formula(f"=SUM({letter}{head + 1}:{letter}{len(rows)})", round(known, 2)),
    )
    rows += [total, [], [words.say(r, "Signed [electronically|on paper], {name}", name=t.person.name)]]
    sheets = [Sheet("Expenses", rows, [1, head], merged, [("C", 28), ("D", 14)])]
    if t.trips:
        sheets.append(_mileage(t))
    sheets.append(Sheet("How to", [[line] for line in _instructions(r)], [1]))
    return paper.workbook(sheet_path(world, t), sheets, world.house.day, author=t.person.name)


def _merge(merged: list[str], first: int, last: int) -> None:
    if last > first:
        merged.append(f"B{first}:B{last}")


def _date_cell(r: random.Random, day: date) -> object:
    return datetime.combine(day, time()) if r.random() < 0.75 else f"{day:%d.%m.%Y}"


def _remark(r: random.Random) -> str | None:
    return r.choice((None, None, None, None, "receipt lost", "shared ride", "see receipt", "late booking"))


def _mileage(t: Traveller) -> Sheet:
    rows: list[list[object]] = [["Own car"], ["Date", "Way", "km", "EUR"]]
    for number, trip in enumerate(t.trips, 3):
        rows.append(
            [
                datetime.combine(trip.day, time()),
                trip.way,
                trip.km,
                Formula(f"=C{number}*{KM_RATE_CENTS / 100:g}", trip.km * KM_RATE_CENTS / 100),
            ]
        )
    total = sum(trip.km for trip in t.trips)
    rows.append(
        [
            "Total",
            None,
            Formula(f"=SUM(C3:C{len(rows)})", total),
            Formula(f"=SUM(D3:D{len(rows)})", total * KM_RATE_CENTS / 100),
        ]
    )
    return Sheet("Mileage", rows, [1, 2], ["A1:D1"], [("B", 24)])


def _instructions(r: random.Random) -> list[str]:
    lines = [
        "[One sheet a month|A new sheet every month], please.",
        "Receipts in the order of [lines|rows].",
        "Ask {who} about [advances|lost receipts].",
        "Foreign money stays foreign, accounts converts it.",
        "The total adds up numbers [whatever their currency|of all currencies] and is for your orientation only.",
        "Breakfast is part of the hotel.",
        "Tips up to {n} per cent are [fine|accepted].",
    ]
    return ["How to fill this in", *(words.say(r, x, who=words.person(r).name, n=r.randint(5, 15)) for x in lines)]


def _card(r: random.Random, world: World, issuer: int) -> Paper:
    encoding, sep, notation, dates = EXPORTS[issuer]
    heads = r.choice(
        (
            ["Booked", "Cardholder", "Merchant", "Amount", "Currency", "Reference"],
            ["Date", "Holder", "Payee", "Amount", "Ccy", "Auth"],
        )
    )
    rows = [heads]
    own = sorted((c for c in world.charges if c.issuer == issuer), key=lambda c: (c.day, c.merchant, c.cents))
    for c in own:
        rows.append(
            [
                c.day.strftime(dates),
                c.holder,
                c.merchant,
                printed(c.cents, notation),
                c.currency,
                words.pattern(r, "######"),
            ]
        )
    return paper.csv(card_path(world, issuer), rows, sep=sep, encoding=encoding)


def _rates(world: World) -> Paper:
    names = [c for c in CURRENCIES if c != "EUR"]
    rows = [["Date", *names]]
    for day, rates in sorted(world.rates.items(), reverse=True):
        rows.append([day.isoformat(), *(f"{rates[c] / 10_000:.4f}" for c in names)])
    return paper.csv(rates_path(world), rows, sep=",", encoding="utf-8")
