"""Agreements and amendments (DOCX with clauses and an annex), notices of termination (e-mails)."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

from simulator.tasks import words
from simulator.tasks.office import Heading, Paragraph, Table

from .._kit_documents import paper
from .._kit_documents.code import grammar
from .._kit_documents.house import long_date
from .._kit_documents.paper import Paper
from .world import FIELDS, Agreement, Amendment, World

_TEXT = Path(__file__).parent / "files" / "clauses.yaml"


def agreement_path(world: World, a: Agreement) -> str:
    return world.house.inbox(f"{words.plain(a.number)}_{words.plain(a.partner.short.split()[0])}.docx")


def amendment_path(world: World, a: Agreement, x: Amendment) -> str:
    return world.house.inbox(f"{words.plain(a.number)}_amendment_{x.number}.docx")


def notice_path(world: World, a: Agreement) -> str:
    return world.house.inbox(f"termination_{words.plain(a.number)}.eml")


def all_papers(seed: int, world: World) -> list[Paper]:
    r = words.stream(seed, "contract papers")
    found: list[Paper] = []
    for a in world.agreements:
        places: dict[str, str] = {}
        found.append(_agreement(r, world, a, places))
        found += [_amendment(r, world, a, x, places) for x in a.amendments]
        if a.notice:
            found.append(_notice(r, world, a))
    return found


def _sentence(r: random.Random, a: Agreement, field: str, value: int) -> str:
    text = grammar(_TEXT)
    if field == "renewal_months" and not value:
        return words.say(r, r.choice(text["no_renewal"]))
    spelt = {14: "fourteen", 21: "twenty-one", 30: "thirty", 60: "sixty", 90: "ninety"}.get(value, "")
    days = f"{spelt} ({value}) days" if spelt and r.random() < 0.4 else f"{value} days"
    return words.say(
        r, r.choice(text["facts"][field]), value=value, days=days, percent=f"{value / 10:g}", cap=f"{value:,}.00"
    )


def _agreement(r: random.Random, world: World, a: Agreement, places: dict[str, str]) -> Paper:
    text, buyer = grammar(_TEXT), world.house.firm
    blocks: list[Heading | Paragraph | Table] = [Heading(1, f"{a.title} {a.number}")]
    for role, firm in (("Customer", buyer), ("Partner", a.partner)):
        blocks.append(Paragraph(f"{firm.name}, {', '.join(firm.address.lines)}, VAT no. {firm.vat_id} (the {role})"))
    clauses = [(field, r.choice(text["titles"][field].split("|"))) for field in FIELDS]
    clauses += [("term", "Term")]
    clauses += [("", name) for name in r.sample(sorted(text["others"]), r.randint(7, 10))]
    r.shuffle(clauses)
    for number, (field, title) in enumerate(clauses, 1):
        blocks.append(Heading(2, f"{number}. {title}"))
        if field == "term":
            lines = [words.say(r, r.choice(text["term"]), starts=long_date(a.starts), months=a.term_months)]
        elif field:
            lines = [_sentence(r, a, field, a.terms[field])]
            places[field] = f"{number}.1"
        else:
            fill = text["fill"]
            lines = [
                " ".join(_other(r, a, part) for part in (line, *r.sample(fill, r.randint(2, 5))))
                for line in text["others"][title]
            ]
        blocks += [Paragraph(f"{number}.{k} {line}") for k, line in enumerate(lines, 1)]
    goods = [words.product(r, a.partner.sector) for _ in range(r.randint(10, 26))]
    blocks += [
        Heading(2, "Annex: rates"),
        Table(
            [
                ("Code", "Description", "Unit", "Rate"),
                *((p.sku, p.name, p.unit, f"{p.price_cents / 100:,.2f}") for p in goods),
            ]
        ),
    ]
    blocks += _signatures(r, world, a, "signed", long_date(a.signed))
    return paper.word(agreement_path(world, a), blocks, a.signed, author=world.house.clerk.name)


def _other(r: random.Random, a: Agreement, line: str) -> str:
    return words.say(
        r,
        line,
        n=r.randint(3, 28),
        m=r.randint(2, 9),
        city=a.partner.address.city,
        who=words.person(r).name,
        partner=a.partner.short,
        year=a.signed.year - r.randint(1, 9),
    )


def _signatures(
    r: random.Random, world: World, a: Agreement, state: str, day: str
) -> list[Heading | Paragraph | Table]:
    one, other = words.person(r).name, words.person(r).name
    if state == "unsigned":
        one, other = r.choice(((one, "______________"), ("______________", other)))
    if state == "draft":
        one = other = "______________"
    return [Paragraph(f"For the Customer: {one}"), Paragraph(f"For the Partner: {other}"), Paragraph(f"Date: {day}")]


def _amendment(r: random.Random, world: World, a: Agreement, x: Amendment, places: dict[str, str]) -> Paper:
    title = f"Amendment No. {x.number} to {a.title} {a.number}"
    blocks: list[Heading | Paragraph | Table] = [Heading(1, title)]
    if x.state == "draft":
        blocks.append(Paragraph(r.choice(("DRAFT for discussion, not binding", "DRAFT - subject to approval"))))
    blocks.append(Paragraph(f"between {world.house.firm.name} and {a.partner.name}"))
    blocks.append(Paragraph(words.say(r, "This Amendment takes effect on {day}.", day=long_date(x.effective))))
    for field, value in x.changes.items():
        blocks.append(Paragraph(f"Clause {places[field]} is replaced by the following:"))
        blocks.append(Paragraph(f"{places[field]} {_sentence(r, a, field, value)}"))
    for line in r.sample(grammar(_TEXT)["closing"], r.randint(2, 4)):
        blocks.append(Paragraph(_other(r, a, line)))
    blocks += _signatures(r, world, a, x.state, long_date(x.dated))
    return paper.word(amendment_path(world, a, x), blocks, x.dated, author=world.house.clerk.name)


def _notice(r: random.Random, world: World, a: Agreement) -> Paper:
    assert a.notice
    who = words.person(r)
    sender, to = (
        (who.name, who.email(a.partner.domain)),
        (world.house.asker.name, world.house.asker.email(world.house.firm.domain)),
    )
    body = words.say(
        r,
        "Dear {to},\n\n[with this message|herewith] we give notice to end the {title} {number} at the [earliest|next] "
        "possible date. [The written original follows by post.|A letter follows.] [We thank you for working with us.|"
        "Please confirm.]\n\nThe plant in {city} is closed from {day} on, [so deliveries should be arranged in time|"
        "please plan ahead].\n\n{who}\n{partner}\n",
        to=to[0],
        title=a.title,
        number=a.number,
        city=a.partner.address.city,
        who=who.name,
        partner=a.partner.name,
        day=long_date(a.notice + timedelta(days=r.randint(20, 60))),
    )
    return paper.mail(notice_path(world, a), sender, to, f"Termination of {a.number}", a.notice, body)
