"""Claims as e-mails with lists, reports and estimates attached; the conditions (DOCX); the list of policies (XLSX)."""

from __future__ import annotations

import itertools
import random
from datetime import datetime, time, timedelta
from pathlib import Path

from simulator.tasks import words
from simulator.tasks.office import Formula, Heading, Paragraph, Sheet, Table

from .._kit_documents import paper
from .._kit_documents.code import grammar
from .._kit_documents.house import long_date, printed
from .._kit_documents.paper import Paper
from .._kit_documents.printing import Column, Printer
from .world import Claim, World

_PROSE = Path(__file__).parent / "files" / "prose.yaml"


def mail_path(world: World, c: Claim) -> str:
    return world.house.inbox(f"{words.plain(c.number)}_{words.plain(c.sender.last)}.eml")


def conditions_path(world: World) -> str:
    return world.house.inbox("conditions_household.docx")


def policies_path(world: World) -> str:
    return world.house.inbox(f"policies_{world.house.day:%Y%m}.xlsx")


def all_papers(seed: int, world: World) -> tuple[list[Paper], dict[str, list[Paper]]]:
    """(papers, claim number -> what is attached to its mail)."""
    r = words.stream(seed, "claim papers")
    attached = {c.number: _attached(r, world, c) for c in world.claims}
    mails = [_mail(r, world, c, attached[c.number]) for c in world.claims]
    return [*mails, _conditions(r, world), _policies(r, world)], attached


def _attached(r: random.Random, world: World, c: Claim) -> list[Paper]:
    found = [_list(c), _report(r, world, c)]
    return [*found, _estimate(r, world, c)] if c.works else found


def _list(c: Claim) -> Paper:
    rows = [["Item", "Category", "Bought", "Price", "Number", "Größe/Remark"]]
    for k, i in enumerate(c.items):
        bought = f"{i.bought:%d.%m.%Y}" if i.bought else ("unknown", "?", "not known")[k % 3]
        rows.append(
            [i.name, i.category, bought, printed(i.cents, "de"), str(i.count), ("", "", "défectueux", "schön")[k % 4]]
        )
    return paper.csv(f"list_{words.plain(c.number)}.csv", rows, sep=";", encoding="cp1252")


def _report(r: random.Random, world: World, c: Claim) -> Paper:
    p = Printer(
        f"Report on {c.number}",
        "Page {page} of {pages}",
        font=r.choice(("Times", "Helvetica")),
        producer="Report Writer",
    )
    p.line(c.expert.name, size=12, bold=True)
    for line in (*c.expert.address.lines, c.expert.phone):
        p.line(line)
    p.line()
    p.line(f"Report on claim {c.number}", size=11, bold=True)
    p.line(f"Policy {c.policy.number}, {c.policy.holder}")
    p.line()
    day = c.loss + timedelta(days=r.randint(2, 14))
    lines = [
        words.say(
            r,
            x,
            day=long_date(day),
            who=words.person(r).name,
            n=r.randint(3, 25),
            year=r.randint(1890, 2005),
            city=c.expert.address.city,
        )
        for x in r.sample(grammar(_PROSE)["report"], r.randint(8, 12))
    ]
    middle = r.randint(1, len(lines) - 1)
    for line in lines[:middle]:
        p.prose(line)
    p.line(f"Cause established: {c.established}")
    if c.established != c.claimed:
        p.prose(f"The holder assumed {c.claimed}; what was found does not support this.")
    for line in lines[middle:]:
        p.prose(line)
    return paper.print_pdf(f"report_{words.plain(c.number)}.pdf", p, day, author=c.expert.name)


def _estimate(r: random.Random, world: World, c: Claim) -> Paper:
    firm, tax = words.company(r, "building"), world.conditions.tax_percent
    p = Printer(f"{firm.short} estimate", "{page}/{pages}", producer="Craft Office")
    p.line(firm.name, size=12, bold=True)
    for line in (*firm.address.lines, firm.phone, f"For claim {c.number}"):
        p.line(line)
    p.line()
    columns = (Column("Pos", 12), Column("Work", 110), Column("EUR", 40, True))
    sums = [0, *itertools.accumulate(cents for _, cents in c.works)]
    rows = [(str(k), text, printed(cents, "en")) for k, (text, cents) in enumerate(c.works, 1)]
    p.table(columns, rows, lambda n: ("Carried over", printed(sums[n], "en")))
    net = sums[-1]
    gross = net + (2 * net * tax + 100) // 200
    p.pair("Total net", printed(net, "en"))
    p.pair(f"VAT {tax} %", printed(gross - net, "en"))
    p.pair("Total gross", printed(gross, "en"), bold=True)
    p.prose("Valid for 30 days. Hidden damage is not included and is charged by the hour.")
    return paper.print_pdf(f"estimate_{words.plain(c.number)}.pdf", p, c.loss + timedelta(days=9), author=firm.name)


def _mail(r: random.Random, world: World, c: Claim, attached: list[Paper]) -> Paper:
    clerk, sender = world.house.clerk, c.sender
    body = words.say(
        r,
        grammar(_PROSE)["mail"],
        policy=c.policy.number,
        loss=long_date(c.loss),
        cause=c.claimed,
        who=sender.name,
        paid=long_date(c.loss - timedelta(days=r.randint(20, 200))),
        since=c.policy.first.year - r.randint(0, 9),
        phone=words.pattern(r, "0### ######"),
    )
    return paper.mail(
        mail_path(world, c),
        (sender.name, sender.email("mail.example")),
        (clerk.name, f"claims@{world.house.firm.domain}"),
        f"Claim {c.number}",
        c.reported,
        body,
        attached,
    )


def _conditions(r: random.Random, world: World) -> Paper:
    k = world.conditions
    blocks: list[Heading | Paragraph | Table] = [
        Heading(1, f"Household conditions of {world.house.firm.name}"),
        Heading(2, "1 What is insured"),
        Paragraph(
            "1.1 Damage by fire, burst pipe, burglary and storm within the period of the policy, first and last day "
            "included. The day of the loss decides, not that of the report."
        ),
        Paragraph(
            "1.2 Not insured: damage by groundwater and by wear, and theft through an unlocked door. What the expert "
            "establishes as the cause takes precedence over what the holder states."
        ),
        Heading(2, "2 What is paid for things"),
        Table(
            [("Category", "Less for each full year"), *((name, f"{percent} %") for name, percent in k.yearly.items())]
        ),
        Paragraph(
            f"2.1 A thing is worth its price less the deduction for its age in full years at the day of the loss, but "
            f"{k.floor} per cent at least. Jewellery and cash lose nothing by age."
        ),
        Paragraph(
            f"2.2 Limits for each claim as a whole: cash {printed(k.limits['cash'], 'en')}, jewellery "
            f"{printed(k.limits['jewellery'], 'en')} euros."
        ),
        Paragraph("2.3 Things whose day of purchase is not known are asked about and count for nothing until then."),
        Heading(2, "3 Repairs"),
        Paragraph(
            "3.1 Repairs of the building are paid as estimated; firms, which recover the tax, get the net amount."
        ),
        Heading(2, "4 Duties"),
        Paragraph(
            f"4.1 Damage is reported within {k.report_days} days after the day of the loss. For later reports "
            f"{k.late_percent} per cent of goods and repairs together are deducted."
        ),
        Heading(2, "5 Deductible"),
        Table(
            [
                ("Cause", "Deductible in euros"),
                *((cause, printed(cents, "en")) for cause, cents in k.deductible.items()),
            ]
        ),
        Paragraph(
            "5.1 What is payable after the deduction for late reports is limited to the sum insured; the deductible is "
            "taken off last. Nothing negative is paid."
        ),
    ]
    fill = (
        "{n}.{m} The holder takes [reasonable care|all due care] and lets us see the place within {n} days.",
        "{n}.{m} Premiums are due on the {n}th of a month; after {m} reminders cover may be suspended.",
        "{n}.{m} Changes of address are told within {n} days. Messages go to {city}.",
        "{n}.{m} Complaints are answered within {n} days by {who} or a deputy.",
        "{n}.{m} Cover abroad lasts {n} weeks at most and needs a word from {who} beforehand.",
    )
    blocks.append(Heading(2, "6 Other provisions"))
    for _ in range(r.randint(8, 14)):
        line = words.say(
            r,
            r.choice(fill),
            n=r.randint(6, 28),
            m=r.randint(1, 9),
            city=world.house.firm.address.city,
            who=words.person(r).name,
        )
        blocks.append(Paragraph(line))
    return paper.word(
        conditions_path(world), blocks, world.house.day - timedelta(days=900), author=world.house.asker.name
    )


def _policies(r: random.Random, world: World) -> Paper:
    rows: list[list[object]] = [
        [f"Policies of {world.house.firm.short}"],
        [],
        ["Policy", "Holder", "From", "Until", "Kind", "Sum insured", "Premium"],
    ]
    premiums = 0.0
    for p in sorted(world.policies, key=lambda p: p.number):
        premium = r.randint(90, 700) + 0.5
        premiums += premium
        rows.append(
            [
                p.number,
                p.holder,
                datetime.combine(p.first, time()),
                datetime.combine(p.last, time()),
                "business" if p.business else "private",
                p.sum_cents / 100,
                premium,
            ]
        )
    rows.append(["Total", None, None, None, None, None, Formula(f"=SUM(G4:G{len(rows)})", premiums)])
    notes: list[list[object]] = [
        ["Remarks"],
        *(
            [
                words.say(
                    r,
                    "[Called|Wrote to] {who} about {topic}.",
                    who=words.person(r).name,
                    topic=r.choice(("premium", "address", "a second policy")),
                )
            ]
            for _ in range(r.randint(5, 12))
        ),
    ]
    sheets = [Sheet("Policies", rows, [1, 3], ["A1:G1"], [("B", 32)]), Sheet("Remarks", notes, [1])]
    return paper.workbook(policies_path(world), sheets, world.house.day, author=world.house.clerk.name)
