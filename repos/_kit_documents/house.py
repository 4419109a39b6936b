"""The office of a session: who asks, who keeps the papers, what its folders and its code are called."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from simulator.tasks import words
from simulator.tasks.words import Company, Person

_NAMES: Mapping[str, str] = {
    "tools": "tools|lib|scripts|desk|helpers",
    "values": "values|amounts|figures|units|convert",
    "cents": "to_cents|cents_of|read_amount|parse_money|in_cents",
    "day": "to_day|read_date|day_of|parse_day|as_date",
    "money": "as_money|money_text|show_cents|plain_money|out_money",
    "half_up": "half_up|rounded|round_half_up|divide_rounded",
    "form": "form|check_form|lint_output|shape|well_formed",
    "texts": "texts|pages|plain_text|reading|readable",
    "text_of": "text_of|read_text|text_from|as_text",
    "show": "show|peek|view|dump|preview",
    "inbox": "inbox|papers|received|documents|intake|scans",
    "out": "out|result|results|output|answers",
    "docs": "docs|notes|rules|handbook",
    "work": "readers|work|jobs|steps|extract",
}
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True, slots=True)
class House:
    """asker: who wants the answer; clerk: who keeps the papers; day: on which the papers are looked at, later than all
    of them. names: identifiers and folders of this seed. strangers: firms that have nothing to do with the question."""

    firm: Company
    asker: Person
    clerk: Person
    day: date
    names: Mapping[str, str]
    strangers: tuple[Company, ...]
    partners: tuple[Company, ...]

    def inbox(self, name: str) -> str:
        return f"{self.names['inbox']}/{name}"

    def out(self, name: str) -> str:
        return f"{self.names['out']}/{name}"

    def tool(self, name: str) -> str:
        """Path of a helper: "values", "texts", "form" or "show"."""
        return f"{self.names['tools']}/{self.names[name]}.py"

    def job(self, name: str) -> str:
        """Path of a script that the agent writes."""
        return f"{self.names['work']}/{name}.py"


def house(seed: int, label: str, size: str, partners: int, **chosen: str) -> House:
    """chosen: names of the template's own, each a choice such as "match|pair"."""
    r = words.stream(seed, label, "house", size)
    firms = words.companies(r, partners + 9)
    options = {**_NAMES, **chosen}
    names: dict[str, str] = {}
    for name, choice in options.items():
        free = [c for c in choice.split("|") if c not in names.values()]
        names[name] = r.choice(free)
    day = date(r.randint(2024, 2026), r.randint(3, 12), r.randint(1, 28))
    people = _people(r, 2)
    return House(firms[0], *people, day, names, tuple(firms[partners + 1 :]), tuple(firms[1 : partners + 1]))


def _people(r: random.Random, n: int) -> list[Person]:
    found: dict[str, Person] = {}
    while len(found) < n:
        person = words.person(r)
        found.setdefault(person.last, person)
    return list(found.values())


def people(r: random.Random, n: int) -> list[Person]:
    """n people whose last names and first names all differ."""
    found: list[Person] = []
    while len(found) < n:
        person = words.person(r)
        if all(person.last != other.last and person.first != other.first for other in found):
            found.append(person)
    return found


def long_date(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def money(cents: int) -> str:
    """The house's own notation: 1234.50, a leading minus."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def printed(cents: int, style: str) -> str:
    """An amount as papers print it. style: "en" 1,234.50, "de" 1.234,50, "fr" 1 234,50, "ch" 1'234.50."""
    sign, text = "-" if cents < 0 else "", f"{abs(cents) // 100:,}"
    mark, point = {"en": (",", "."), "de": (".", ","), "fr": (" ", ","), "ch": ("'", ".")}[style]
    return f"{sign}{text.replace(',', mark)}{point}{abs(cents) % 100:02d}"


def half_up(numerator: int, denominator: int) -> int:
    """numerator / denominator to the nearest whole number, halves away from zero. denominator > 0."""
    sign = -1 if numerator < 0 else 1
    return sign * ((2 * abs(numerator) + denominator) // (2 * denominator))
