"""The data room: accounts, leases, loans, permits, lists and letters in the formats in which they lie about."""

from __future__ import annotations

import html
import random
import textwrap
from pathlib import Path

from simulator.tasks import words
from simulator.tasks.office import Formula, Heading, Paragraph
from simulator.tasks.office import Sheet as Page

from .._kit_documents import paper
from .._kit_documents.code import grammar
from .._kit_documents.house import long_date
from .._kit_documents.paper import Paper
from .._kit_documents.printing import Printer
from .world import TOPICS, Sheet, World, printed_value

_TEXT = Path(__file__).parent / "files" / "topics.yaml"


def sheet_path(world: World, s: Sheet) -> str:
    """File names tell topic and company, not which paper counts."""
    key = words.plain(s.company.split()[1])
    number = 1 + sum(x.topic == s.topic and x.company == s.company for x in world.sheets[: world.sheets.index(s)])
    order = (number * 7 + len(s.company) + len(s.topic)) % 5 + 1
    return world.house.inbox(f"{key}_{s.topic}_{order}{'abc'[number - 1]}.{TOPICS[s.topic][1]}")


def all_papers(seed: int, world: World) -> dict[str, Paper]:
    """Path -> paper."""
    made = (_paper(words.stream(seed, "room", k), world, s) for k, s in enumerate(world.sheets))
    return {p.path: p for p in made}


def _paper(r: random.Random, world: World, s: Sheet) -> Paper:
    text = grammar(_TEXT)
    title = words.say(r, r.choice(text["topics"][s.topic]["titles"]))
    lines = _lines(r, world, s)
    head = [f"Concerning: {s.company}", f"Dated: {long_date(s.day)}"]
    if s.standing == "draft":
        head.append(r.choice(("DRAFT, figures may change", "DRAFT for comments", "Status: DRAFT")))
    path, needed = sheet_path(world, s), s.standing != "sister"
    match TOPICS[s.topic][1]:
        case "pdf":
            p = Printer(f"{s.company}, {title}", "Page {page} of {pages}", font=r.choice(("Times", "Helvetica")))
            p.line(title, size=13, bold=True)
            for line in head:
                p.line(line)
            for line in lines:
                p.prose(line)
            return paper.print_pdf(path, p, s.day, author=s.author.name, needed=needed)
        case "docx":
            blocks = [Heading(1, title), *map(Paragraph, head)]
            blocks += [Paragraph(f"{k}. {line}") for k, line in enumerate(lines, 1)]
            return paper.word(path, blocks, s.day, author=s.author.name, needed=needed)
        case "xlsx":
            return _workbook(r, s, path, title, head, lines, needed=needed)
        case "html":
            body = f"<h1>{title}</h1>\n" + "\n".join(f"<p>{html.escape(line)}</p>" for line in (*head, *lines))
            rows = [
                ["No.", "Matter", "Clerk"],
                *(
                    [words.pattern(r, "##/####"), words.company(r).short, words.person(r).last]
                    for _ in range(r.randint(6, 16))
                ),
            ]
            return paper.text(path, paper.page(title, body + paper.table(rows, "matters"), r), needed=needed)
        case "csv":
            rows = [
                [title],
                *(line.split(": ", 1) for line in head),
                *([line] for line in lines),
                ["Customer", "Sales", "Since"],
            ]
            rows += [
                [
                    words.company(r).name,
                    f"{words.cents(r, 90_000, 9_000_000) / 100:.2f}".replace(".", ","),
                    str(r.randint(1998, 2023)),
                ]
                for _ in range(r.randint(10, 24))
            ]
            return paper.csv(path, rows, sep=";", encoding=r.choice(("cp1252", "utf-8-sig")), needed=needed)
        case "eml":
            who = s.author
            body = "\n\n".join([*head, *(textwrap.fill(line, 78) for line in lines), who.name]) + "\n"
            to = world.house.asker
            return paper.mail(
                path,
                (who.name, who.email("room.example")),
                (to.name, to.email(world.house.firm.domain)),
                title,
                s.day,
                body,
                needed=needed,
            )
    return paper.text(
        path, "\n\n".join([title, "\n".join(head), *(textwrap.fill(x, 84) for x in lines)]) + "\n", needed=needed
    )


def _lines(r: random.Random, world: World, s: Sheet) -> list[str]:
    text = grammar(_TEXT)
    topic = text["topics"][s.topic]
    key = words.say(r, r.choice(topic["key"]), value=printed_value(s.topic, s.value), year=s.day.year - 1)
    fill = [*r.sample(topic["around"], len(topic["around"])), *r.sample(text["fill"], r.randint(11, 16))]
    lines = [_filled(r, world, s, line) for line in fill]
    lines.insert(r.randint(1, len(lines) - 1), key)
    return lines


def _filled(r: random.Random, world: World, s: Sheet, line: str) -> str:
    return words.say(
        r,
        line,
        n=r.randint(3, 28),
        m=r.randint(30, 96),
        k=r.randrange(150, 9_000, 50),
        who=words.person(r).name,
        firm=r.choice(world.house.strangers).short,
        city=words.address(r).city,
        year=s.day.year - r.randint(2, 12),
        company=s.company,
    )


def _workbook(
    r: random.Random, s: Sheet, path: str, title: str, head: list[str], lines: list[str], *, needed: bool
) -> Paper:
    rows: list[list[object]] = [
        [title],
        *([line] for line in head),
        *([line] for line in lines),
        [],
        ["Name", "Site", "Hours"],
    ]
    first = len(rows) + 1
    hours = 0
    for _ in range(r.randint(18, 40)):
        share = r.choice((20, 30, 40, 40, 40))
        hours += share
        rows.append([words.person(r).name, words.address(r).city, share])
    rows.append(["Sum of weekly hours, extract", None, Formula(f"=SUM(C{first}:C{len(rows)})", hours)])
    notes: list[list[object]] = [["Sites"], *([words.address(r).city] for _ in range(5))]
    sheets = [Page("People", rows, [1], ["A1:C1"], [("A", 40)]), Page("Sites", notes, [1])]
    return paper.workbook(path, sheets, s.day, author=s.author.name, needed=needed)
