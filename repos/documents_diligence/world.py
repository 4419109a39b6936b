"""Facts: a group's companies, what is asked about each, and the papers on it: current, older and unfinished ones."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.tasks import words
from simulator.tasks.words import Person

from .._kit_documents.house import House, house, money, people

LABEL = "documents_diligence"
#: (companies asked about, topics of each)
SIZE: Mapping[str, tuple[int, int]] = {"small": (1, 5), "medium": (2, 9), "long": (4, 12)}
#: topic -> (kind of answer, form of the paper)
TOPICS: Mapping[str, tuple[str, str]] = {
    "revenue": ("thousand", "pdf"),
    "employees": ("count", "xlsx"),
    "lease": ("day", "docx"),
    "rent": ("money", "eml"),
    "loan": ("money", "docx"),
    "interest": ("percent", "eml"),
    "permit": ("day", "txt"),
    "insurance": ("million", "pdf"),
    "litigation": ("money", "html"),
    "customer": ("percent", "csv"),
    "pension": ("thousand", "txt"),
    "patents": ("count", "html"),
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """One paper of the data room. value: as TOPICS' kind has it, cents for "money", "thousand", "million", days since
    year 1 for "day", hundredths for "percent". standing: "current", "older", "draft" or "sister" (another company)."""

    topic: str
    company: str
    day: date
    value: int
    standing: str
    author: Person


@dataclass(frozen=True, slots=True)
class Question:
    number: str
    company: str
    topic: str


@dataclass(frozen=True, slots=True)
class World:
    house: House
    companies: tuple[str, ...]
    sister: str
    questions: tuple[Question, ...]
    sheets: tuple[Sheet, ...]

    def papers_of(self, q: Question) -> list[Sheet]:
        return [s for s in self.sheets if (s.company, s.topic) == (q.company, q.topic)]


def build(seed: int, size: str, attempt: int = 0) -> World:
    n, count = SIZE[size]
    base = house(
        seed,
        LABEL,
        size,
        0,
        index="index|inventory|listing",
        merge="merge|collect|put_together",
        part="part|batch|notes",
    )
    r = words.stream(seed, LABEL, "world", size, attempt)
    root = r.choice(words.ROOTS)
    trades = r.sample(("Works", "Services", "Logistics", "Systems", "Trading", "Energy", "Estates", "Tools"), n + 1)
    companies = [f"{root} {trade} {r.choice(('GmbH', 'Ltd', 'B.V.', 'ApS'))}" for trade in trades]
    writers = people(r, 12)
    topics = [t for t in TOPICS if t in r.sample(sorted(TOPICS), count)]
    questions, sheets = [], list[Sheet]()
    for company in companies[:n]:
        for topic in topics:
            questions.append(Question(f"Q{len(questions) + 1:02d}", company, topic))
            sheets += _sheets(r, base.day, company, topic, writers, first=len(questions))
    for topic in r.sample(topics, max(1, len(topics) // 2)):
        day = base.day - timedelta(days=r.randint(15, 60))
        sheets.append(Sheet(topic, companies[n], day, _value(r, topic, base.day), "sister", r.choice(writers)))
    return World(base, tuple(companies[:n]), companies[n], tuple(questions), tuple(sheets))


def _sheets(r: random.Random, today: date, company: str, topic: str, writers: list[Person], first: int) -> list[Sheet]:
    """The current paper and, for the first questions surely, an older one and a draft that is newer than both."""
    value, current = _value(r, topic, today), today - timedelta(days=r.randint(60, 200))
    made = [Sheet(topic, company, current, value, "current", r.choice(writers))]
    if first in (1, 3) or r.random() < 0.55:
        day = current - timedelta(days=r.randint(90, 400))
        made.append(Sheet(topic, company, day, _other(r, topic, today, value), "older", r.choice(writers)))
    if first in (2, 3) or r.random() < 0.3:
        day = current + timedelta(days=r.randint(8, 50))
        made.append(Sheet(topic, company, day, _other(r, topic, today, value), "draft", r.choice(writers)))
    return made


def _value(r: random.Random, topic: str, today: date) -> int:
    match TOPICS[topic][0]:
        case "thousand":
            return r.randint(310, 48_000) * 100_000
        case "million":
            return r.randrange(5, 200, 5) * 10_000_000
        case "money":
            return words.cents(r, 240_000, 190_000_000)
        case "percent":
            return r.randint(110, 4_600)
        case "day":
            return (today + timedelta(days=r.randint(100, 2_400))).toordinal()
    return r.randint(4, 480)


def _other(r: random.Random, topic: str, today: date, value: int) -> int:
    found = value
    while found == value:
        found = _value(r, topic, today)
    return found


def answer(topic: str, value: int) -> str:
    """As the results have it."""
    match TOPICS[topic][0]:
        case "thousand" | "million" | "money":
            return money(value)
        case "percent":
            return f"{value / 100:.2f}"
        case "day":
            return date.fromordinal(value).isoformat()
    return str(value)


def printed_value(topic: str, value: int) -> str:
    """As the papers have it."""
    match TOPICS[topic][0]:
        case "thousand":
            return f"EUR {value // 100_000:,} thousand"
        case "million":
            return f"EUR {value / 100_000_000:g} million"
        case "money":
            return f"EUR {value / 100:,.2f}"
        case "percent":
            return f"{value / 100:.2f} per cent"
        case "day":
            day = date.fromordinal(value)
            return f"{day.day} {day:%B} {day.year}"
    return str(value)
