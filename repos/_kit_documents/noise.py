"""Papers that have nothing to do with the question: circulars, offers, lists, in the formats in which they come."""

from __future__ import annotations

import html
import random
import textwrap
from datetime import timedelta
from pathlib import Path

from simulator.tasks import words
from simulator.tasks.office import Heading, Paragraph, Table

from . import paper
from .code import grammar
from .house import House, long_date
from .paper import Paper
from .printing import Printer

_FILE = Path(__file__).parent / "files" / "noise.yaml"
#: how often each form is taken; office files are slow to make
_FORMS = {"html": 4, "txt": 4, "eml": 4, "csv": 2, "docx": 1, "pdf": 1}


def papers(r: random.Random, house: House, number: int) -> list[Paper]:
    topics = grammar(_FILE)["topics"]
    deck: list[str] = []
    made: dict[str, Paper] = {}
    while len(made) < number:
        deck = deck or r.sample(sorted(topics), len(topics))
        topic = deck.pop()
        form = r.choices(list(_FORMS), list(_FORMS.values()))[0]
        mark = r.choice((f"{r.randint(1, 12):02d}", words.pattern(r, "@#").lower(), f"{house.day.year}", "copy", "fwd"))
        path = house.inbox(f"{topic}_{mark}.{form}")
        made.setdefault(path, _paper(r, house, topic, path, form))
    return list(made.values())


def _sentences(r: random.Random, house: House, topic: str) -> list[str]:
    text = grammar(_FILE)
    lines = text["topics"][topic]["lines"]
    chosen = r.sample(lines, min(len(lines), r.randint(5, 8))) + r.sample(text["common"], r.randint(2, 4))
    r.shuffle(chosen)
    return [_filled(r, house, line) for line in chosen]


def _filled(r: random.Random, house: House, line: str) -> str:
    stranger = r.choice(house.strangers)
    day = house.day - timedelta(days=r.randint(20, 300))
    values = {"n": r.randint(3, 29), "m": r.randint(30, 95), "k": r.randrange(150, 4_000, 50), "h": r.randint(7, 17)}
    return words.say(
        r,
        line,
        who=words.person(r).name,
        other=words.person(r).name,
        firm=stranger.short,
        house=house.firm.short,
        city=stranger.address.city,
        day=long_date(day),
        product=words.product(r, stranger.sector).name,
        phone=stranger.phone,
        **values,
    )


def _paper(r: random.Random, house: House, topic: str, path: str, form: str) -> Paper:
    text = grammar(_FILE)["topics"][topic]
    title, lines = _filled(r, house, text["title"]), _sentences(r, house, topic)
    day, author = house.day - timedelta(days=r.randint(20, 200)), words.person(r)
    if form == "csv":
        return _list(r, house, path)
    if form == "docx":
        blocks: list[Heading | Paragraph | Table] = [Heading(1, title), *map(Paragraph, lines)]
        return paper.word(path, blocks, day, author=author.name, needed=False)
    if form == "pdf":
        printer = Printer(title, "Page {page} of {pages}", font=r.choice(("Helvetica", "Times")))
        printer.line(title, size=13, bold=True)
        for line in lines:
            printer.prose(line)
        return paper.print_pdf(path, printer, day, author=author.name, needed=False)
    if form == "html":
        body = "\n".join(f"<p>{html.escape(line)}</p>" for line in lines)
        rows = [["Contact", "Phone", "Room"]]
        rows += [[words.person(r).name, words.pattern(r, "####"), words.pattern(r, "@#.##")] for _ in range(4)]
        content = paper.page(title, f"<h1>{html.escape(title)}</h1>\n{body}\n{paper.table(rows, 'contacts')}", r)
        return paper.text(path, content, needed=False)
    if form == "eml":
        firm = r.choice(house.strangers)
        sender, to = (author.name, author.email(firm.domain)), (house.clerk.name, house.clerk.email(house.firm.domain))
        body = "\n\n".join(textwrap.fill(line, 76) for line in lines) + f"\n\n{author.first}\n"
        return paper.mail(path, sender, to, title, day, body, needed=False)
    return paper.text(path, "\n\n".join([title.upper(), *(textwrap.fill(x, 88) for x in lines)]) + "\n", needed=False)


def _list(r: random.Random, house: House, path: str) -> Paper:
    """A table that nobody asked for."""
    rows: list[list[str]] = [["item", "place", "since", "person", "count"]]
    for _ in range(r.randint(14, 34)):
        firm = r.choice(house.strangers)
        day = house.day - timedelta(days=r.randint(100, 2_000))
        rows.append(
            [
                words.product(r, firm.sector).name,
                words.pattern(r, "@#.##"),
                day.isoformat(),
                words.person(r).name,
                str(r.randint(1, 40)),
            ]
        )
    return paper.csv(path, rows, sep=r.choice((",", ";")), encoding="utf-8", needed=False)
