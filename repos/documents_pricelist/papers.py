"""Catalogue pages (HTML with tables inside tables) and letters with our conditions (DOCX or e-mail)."""

from __future__ import annotations

import html
import random
from datetime import timedelta

from simulator.tasks import words
from simulator.tasks.office import Heading, Paragraph, Table

from .._kit_documents import paper
from .._kit_documents.house import long_date, printed
from .._kit_documents.paper import Paper
from .world import Article, Group, Maker, World


def page_path(world: World, m: Maker, number: int) -> str:
    return world.house.inbox(f"{m.key}_catalogue_{number + 1}.html")


def letter_path(world: World, m: Maker) -> str:
    return world.house.inbox(f"conditions_{m.key}.docx")


def all_papers(seed: int, world: World) -> list[Paper]:
    r = words.stream(seed, "price papers")
    found = []
    for m in world.makers:
        found += [_page(r, world, m, k) for k in range(len(m.pages))]
        found.append(_letter(r, world, m))
    return found


def _page(r: random.Random, world: World, m: Maker, number: int) -> Paper:
    blocks = []
    for group in m.pages[number]:
        blocks.append(
            f"<h2>{html.escape(group.name)}</h2>\n<p>{html.escape(_praise(r, group))}</p>\n{_items(r, m, group)}"
        )
    goods = [words.product(r, m.company.sector) for _ in range(r.randint(3, 6))]
    offers = paper.table(
        [
            ["Others bought", "Code", "Price"],
            *([html.escape(p.name), p.sku, printed(p.price_cents, m.notation)] for p in goods),
        ],
        "offers",
    )
    body = (
        f'<table class="outer"><tr><td class="main" valign="top">\n<h1>{html.escape(m.company.short)}: catalogue, page '
        f"{number + 1}</h1>\n"
        + "\n".join(blocks)
        + f'\n</td><td class="side" valign="top">\n{offers}\n</td></tr></table>'
    )
    return paper.text(page_path(world, m, number), paper.page(m.company.name, body, r))


def _praise(r: random.Random, group: Group) -> str:
    return words.say(
        r,
        "[Our|The] {name} [comes|is delivered] [within {n} days|from stock] and [keeps|lasts] for "
        "{k} [months|seasons]. [Quantities below {n} are repacked by hand.|Ask for samples.|]",
        name=group.name.lower(),
        n=r.randint(2, 12),
        k=r.randint(6, 48),
    )


def _items(r: random.Random, m: Maker, group: Group) -> str:
    rows = [["Code", "Article", "Unit", "Price"]]
    for a in group.articles:
        detail = paper.table([["Pack", words.pattern(r, "##")], ["Weight", f"{r.randint(1, 90) / 10:.1f} kg"]], "facts")
        rows.append([f"<b>{a.code}</b>", f"{html.escape(a.name)}{detail}", a.unit, _price(m, a)])
    return paper.table(rows, "items")


def _price(m: Maker, a: Article) -> str:
    if a.on_request:
        return "<i>on request</i>"
    text = printed(a.list_cents, m.notation)
    old = f"<s>{printed(a.old_cents, m.notation)}</s> " if a.old_cents else ""
    per = " <small>per 100</small>" if a.per == 100 else ""
    return f"{old}<span class=price>{text}</span>{per}"


def _letter(r: random.Random, world: World, m: Maker) -> Paper:
    day = world.house.day - timedelta(days=r.randint(10, 60))
    who, to = words.person(r), world.house.asker
    groups = m.groups()
    blocks: list[Heading | Paragraph | Table] = [
        Heading(
            1,
            words.say(r, "[Your conditions|Conditions for {buyer}|Agreement on prices]", buyer=world.house.firm.short),
        ),
        Paragraph(f"{m.company.name}, {long_date(day)}"),
        Paragraph(
            words.say(
                r,
                "Dear {to}, [as discussed|following our talk], these conditions [hold|apply] for your orders "
                "until further notice.",
                to=to.name,
            )
        ),
        Heading(2, "Discounts"),
        Table(
            [
                ("Group", "Discount"),
                *((g.name, f"{g.discount_percent} %") for g in groups if g.discount_percent >= 0 and not g.fixed),
            ]
        ),
        Paragraph(f"On all other groups the discount is {m.default_percent} %."),
    ]
    for g in (g for g in groups if g.fixed):
        blocks.append(Paragraph(f"{g.name}: fixed prices, no discount."))
    blocks += [
        Heading(2, "Special net prices"),
        Paragraph(
            "Net prices instead of list price and discount, for the period given; for articles with a price per 100 "
            "they are per 100 as well."
        ),
        Table(
            [
                ("Code", "Net", "From", "Until"),
                *(
                    (s.code, printed(s.net_cents, m.notation), f"{s.first:%d.%m.%Y}", f"{s.last:%d.%m.%Y}")
                    for s in m.specials
                ),
            ]
        ),
        Heading(2, "No longer delivered"),
        Paragraph(words.say(r, "[Please remove|We have stopped making]: {codes}.", codes=", ".join(m.dropped))),
        Paragraph(
            words.say(
                r,
                "[Freight is free from {n}00 upwards.|Pallets are exchanged.|Payment within {n} days.] "
                "[Our terms apply otherwise.|We look forward to your orders.] {who}",
                n=r.randint(3, 9),
                who=who.name,
            )
        ),
    ]
    return paper.word(letter_path(world, m), blocks, day, author=who.name)
