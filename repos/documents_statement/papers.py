"""Invoices and credit notes (PDF, over several pages), bank statements (PDF), remittance advices (e-mail)."""

from __future__ import annotations

import itertools
import random
from datetime import date, timedelta

from simulator.tasks import words

from .._kit_documents import paper
from .._kit_documents.house import printed
from .._kit_documents.paper import Paper
from .._kit_documents.printing import Column, Printer
from .answers import moves
from .world import Invoice, Move, Supplier, World

_COLUMNS = (
    Column("#", 9),
    Column("Code", 25),
    Column("Text", 72),
    Column("Qty", 14, True),
    Column("Price", 24, True),
    Column("Amount", 28, True),
)
_SMALL = (
    "[Goods|Deliveries] remain our property until paid in full. [Place of performance|Venue]: {city}.",
    "[Please|Kindly] quote the number of this document with every payment. Contact in accounts: {who}, {phone}.",
    "Complaints are to be made within {n} days of receipt, in writing, to {who}.",
    "Our office in {city} is closed for stocktaking on {n} days of the coming month.",
)


def invoice_path(world: World, s: Supplier, number: str) -> str:
    return world.house.inbox(f"{s.key}_{words.plain(number)}.pdf")


def statement_path(world: World, month: date) -> str:
    return world.house.inbox(f"{words.plain(world.bank['name'].split()[0])}_{month:%Y-%m}.pdf")


def advice_path(world: World, number: str) -> str:
    return world.house.inbox(f"remittance_{words.plain(number)}.eml")


def all_papers(seed: int, world: World) -> list[Paper]:
    r = words.stream(seed, "statement papers")
    found = [_bill(r, world, s, i) for s, i in world.pairs()]
    found += [_credit(r, world, s, i) for s, i in world.pairs() if i.credit]
    found += [_advice(r, world, number) for number in world.transfers]
    return found + _statements(world)


def _printer(r: random.Random, s: Supplier, head: str) -> Printer:
    font = r.choice(("Helvetica", "Times"))
    return Printer(
        f"{s.company.short} {head}", "Page {page} / {pages}", font=font, producer=r.choice(("Navigo", "Books 5"))
    )


def _top(p: Printer, world: World, s: Supplier, title: str) -> None:
    p.line(s.company.name, size=12, bold=True)
    for text in (*s.company.address.lines, s.company.phone, f"VAT {s.company.vat_id}"):
        p.line(text)
    p.line()
    for text in (world.house.firm.name, *world.house.firm.address.lines):
        p.line(text)
    p.line()
    p.line(title, size=12, bold=True)


def _bill(r: random.Random, world: World, s: Supplier, i: Invoice) -> Paper:
    p, label = _printer(r, s, i.number), s.labels
    _top(p, world, s, label["title"])
    p.line(f"{label['number']}: {i.number}")
    p.line(f"{label['issued']}: {s.date(i.issued)}")
    terms = f"{s.net_days} {label['days']} {label['net']}"
    if s.discount_tenths:
        terms = f"{s.discount_tenths / 10:g} % / {s.discount_days} {label['days']}, {terms}"
    p.line(terms)
    p.line()
    amounts = [product.price_cents * n for product, n in i.lines]
    rows = [
        (str(k), product.sku, product.name, str(n), printed(product.price_cents, s.numbers), printed(a, s.numbers))
        for k, ((product, n), a) in enumerate(zip(i.lines, amounts, strict=True), 1)
    ]
    sums = [0, *itertools.accumulate(amounts)]
    p.table(_COLUMNS, rows, carry=lambda n: (label["carried"], printed(sums[n], s.numbers)))
    p.pair(label["sub"], printed(i.net, s.numbers))
    p.pair(f"{label['tax']} {i.tax_percent} %", printed(i.gross - i.net, s.numbers))
    p.pair(label["gross"], printed(i.gross, s.numbers), bold=True)
    _bottom(r, p, s)
    return paper.print_pdf(invoice_path(world, s, i.number), p, i.issued, author=s.company.name)


def _credit(r: random.Random, world: World, s: Supplier, i: Invoice) -> Paper:
    assert i.credit
    number, cents = i.credit
    p, label, day = _printer(r, s, number), s.labels, i.issued + timedelta(days=r.randint(2, 5))
    _top(p, world, s, label["credit"])
    p.line(f"{label['number']}: {number}")
    p.line(f"{label['issued']}: {s.date(day)}")
    p.line(f"{label['refers']}: {i.number}")
    p.line()
    product, count = r.choice(i.lines)
    p.prose(
        words.say(
            r,
            "[Returned|Taken back|Delivered damaged]: {n} x {sku} {good}.",
            n=r.randint(1, count),
            sku=product.sku,
            good=product.name,
        )
    )
    p.pair(label["gross"], printed(cents, s.numbers), bold=True)
    _bottom(r, p, s)
    return paper.print_pdf(invoice_path(world, s, number), p, day, author=s.company.name)


def _bottom(r: random.Random, p: Printer, s: Supplier) -> None:
    p.line()
    p.line(f"IBAN {s.company.iban}")
    for text in r.sample(_SMALL, r.randint(2, 4)):
        who = words.person(r).name
        p.prose(words.say(r, text, city=s.company.address.city, who=who, phone=s.company.phone, n=r.randint(5, 14)))


def _advice(r: random.Random, world: World, number: str) -> Paper:
    s, day, parts = world.transfers[number]
    clerk, firm = world.house.clerk, world.house.firm
    lines = [
        words.say(r, "[Dear all|Hello|Good morning],"),
        "",
        words.say(r, "[with|by] transfer {n} we [pay|settle] the following [documents|items]:", n=number),
        "",
    ]
    lines += [f"    {doc:<16}{printed(cents, 'en'):>14}" for doc, cents in parts]
    lines += [
        "",
        f"    {'in one amount':<16}{printed(sum(c for _, c in parts), 'en'):>14}",
        "",
        words.say(
            r,
            "[Credit notes are taken off already|Less credits, where there were any]. "
            "[Ask me|Call me] if something is [missing|unclear].",
        ),
        "",
        clerk.name,
        firm.name,
    ]
    to = (s.company.name, f"accounts@{s.company.domain}")
    sender = (clerk.name, clerk.email(firm.domain))
    return paper.mail(
        advice_path(world, number), sender, to, f"Remittance advice {number}", day, "\n".join(lines) + "\n"
    )


def _statements(world: World) -> list[Paper]:
    out, balance, found = [], world.opening, moves(world)
    for number, month in enumerate(world.months, 3):
        own = [m for m in found if (m.day.year, m.day.month) == (month.year, month.month)]
        out.append(_statement(world, month, number, own, balance))
        balance += sum(m.cents for m in own)
    return out


def signed(cents: int, bank: dict[str, str]) -> str:
    text = printed(abs(cents), bank["numbers"])
    if bank["sign"] == "letter":
        return f"{text} {'D' if cents < 0 else 'C'}"
    if cents >= 0:
        return text
    return f"{text}-" if bank["sign"] == "after" else f"-{text}"


def _statement(world: World, month: date, number: int, own: list[Move], opening: int) -> Paper:
    bank = dict(world.bank)
    name = f"{bank['number']} {number}/{month:%Y}"
    p = Printer(
        f"{bank['name']}  {name}", f"{bank['iban']}  sheet {{page}} of {{pages}}", font="Times", producer="Core 9"
    )
    p.line(bank["name"], size=12, bold=True)
    p.line(world.house.firm.name)
    p.line(f"IBAN {bank['iban']}")
    p.line(f"{name}, {month:%m/%Y}", bold=True)
    p.line()
    p.pair("Opening balance", signed(opening, bank))
    columns = (Column("Booked", 26), Column("Details", 104), Column("Amount", 40, True))
    rows = [(m.day.strftime(bank["dates"]), m.who, signed(m.cents, bank)) for m in own]
    sums = list(itertools.accumulate((m.cents for m in own), initial=opening))
    p.table(columns, rows, lambda n: ("Balance carried over", signed(sums[n], bank)), [[m.reference] for m in own])
    p.pair("Closing balance", signed(sums[-1], bank), bold=True)
    p.prose(
        "Entries not objected to within 30 days count as approved. Value dates are available on request. "
        "Deposits are protected up to the legal limit; see the information sheet at your branch."
    )
    return paper.print_pdf(statement_path(world, month), p, month + timedelta(days=33), author=bank["name"])
