"""Contract text: one clause for each fact, several ways of saying it, among clauses that hold nothing to extract."""

from __future__ import annotations

import random
from datetime import date

from simulator.tasks import words
from simulator.tasks.office import Heading, Paragraph, Table

from .data import grammar
from .layouts import MONTHS
from .world import Supplier, World

_PARTY = "{name}, {street}, {city}[, VAT no. {vat}|, registered as {vat}] [(the {role})|– hereinafter {role}]"


def contract_blocks(r: random.Random, world: World, supplier: Supplier) -> list[Heading | Paragraph | Table]:
    """The whole agreement: title, parties, clauses in a mixed order, signatures, the annex of rates."""
    c, buyer, seller = supplier.contract, world.buyer, supplier.company
    title = r.choice(("Framework Supply Agreement", "Supply Agreement", "Master Purchase Agreement", "Frame Contract"))
    out: list[Heading | Paragraph | Table] = [Heading(1, f"{title} {c.number}")]
    for role, firm in (("Buyer", buyer), ("Supplier", seller)):
        street, city = firm.address.lines
        values = {"name": firm.name, "street": street, "city": city, "vat": firm.vat_id, "role": role}
        out.append(Paragraph(words.say(r, _PARTY, **values)))
    section = r.choice(("{n}. {name}", "§ {n} {name}", "Clause {n}: {name}"))
    for number, (name, paragraphs) in enumerate(_clauses(r, world, supplier), 1):
        out.append(Heading(2, section.format(n=number, name=name)))
        out += [Paragraph(f"{number}.{k} {text}") for k, text in enumerate(paragraphs, 1)]
    sides = f"{c.signatory.name} for the Supplier and {world.requester.name} for the Buyer"
    out.append(Paragraph(f"Signed in {c.court} on {long_date(c.signed)} by {sides}."))
    out.append(Heading(2, f"Annex {c.number[0]}: rates"))
    rows = [("Code", "Description", "Unit", f"Rate {supplier.layout.currency}")]
    out.append(Table(rows + [(p.sku, p.name, p.unit, f"{p.price_cents / 100:,.2f}") for p in c.rates]))
    return out


def _clauses(r: random.Random, world: World, supplier: Supplier) -> list[tuple[str, list[str]]]:
    text = grammar("clauses")
    out = [
        (r.choice(part["titles"].split("|")), [_fact(r, supplier, r.choice(part["sentences"]))])
        for part in text["facts"].values()
    ]
    for name in r.sample(sorted(text["others"]), r.randint(10, 14)):
        sentences = [s for s in text["others"][name] if r.random() < 0.85] or text["others"][name][:1]
        out.append((name, [_other(r, world, supplier, s) for s in sentences]))
    r.shuffle(out)
    return out


def long_date(d: date) -> str:
    return f"{d.day} {MONTHS[d.month - 1]} {d.year}"


def grouped(iban: str) -> str:
    return " ".join(iban[i : i + 4] for i in range(0, len(iban), 4))


def _fact(r: random.Random, supplier: Supplier, pattern: str) -> str:
    c = supplier.contract
    return words.say(
        r,
        pattern,
        starts=long_date(c.starts),
        term=c.term_months,
        notice=c.notice_days,
        payment=c.payment_days,
        discount=f"{c.discount_tenths / 10:g}",
        discount_days=c.discount_days,
        interest=f"{c.interest_tenths / 10:g}",
        currency=supplier.layout.currency,
        cap=f"{c.cap_cents / 100:,.2f}",
        review=MONTHS[c.review_month - 1],
        annex=c.number[0],
        ceiling=r.randint(2, 6),
        law=c.law,
        court=c.court,
        iban=grouped(c.iban),
        contact=c.contact.name,
        mail=c.contact.email(supplier.company.domain),
    )


def _other(r: random.Random, world: World, supplier: Supplier, pattern: str) -> str:
    text = grammar("clauses")
    events = r.sample(text["events"].split("|"), 2)
    numbers = {"n": r.randint(2, 29), "m": r.randint(2, 9), "p": r.randint(2, 45), "q": r.randint(5, 12)}
    numbers |= {"h": r.randint(6, 9), "h2": r.randint(14, 18), "cm": r.randrange(120, 220, 5)}
    numbers |= {"kg": r.randrange(400, 1000, 20), "mo": r.randint(6, 48), "k": r.randrange(100, 2500, 50)}
    return words.say(
        r,
        pattern,
        month=r.choice(MONTHS),
        city=world.buyer.address.city,
        country=supplier.contract.law,
        standard=r.choice(text["standards"].split("|")),
        event=events[0],
        event2=events[1],
        a=supplier.company.short,
        b=world.buyer.short,
        **numbers,
    )
