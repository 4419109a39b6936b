"""Seeded raw material for task recipes: people, companies, addresses, goods, dates, amounts and a small text grammar.

Every function draws from the `random.Random` it is given and from nothing else, so a recipe that starts from
`stream(seed, "part")` gives the same bytes everywhere. Names are invented; a resemblance to a real firm is chance.
Money is in integer cents. Bank and tax numbers carry right check digits, since real parsers verify them.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.tasks.vocabulary import FIRST, LAST, PLACES, QUALIFIERS, ROOTS, SECTORS, SERVICE_QUALIFIERS, SERVICES


@dataclass(frozen=True, slots=True)
class Person:
    first: str
    last: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    def email(self, domain: str) -> str:
        return f"{plain(self.first)}.{plain(self.last)}@{domain}"


@dataclass(frozen=True, slots=True)
class Address:
    street: str
    postcode: str
    city: str
    country: str

    @property
    def lines(self) -> tuple[str, str]:
        return self.street, f"{self.postcode} {self.city}"


@dataclass(frozen=True, slots=True)
class Company:
    """`name` with legal form, `short` without; `iban` without blanks, its check digits are right."""

    name: str
    short: str
    sector: str
    address: Address
    vat_id: str
    iban: str
    phone: str
    domain: str


@dataclass(frozen=True, slots=True)
class Product:
    sku: str
    name: str
    unit: str
    price_cents: int


def stream(seed: int, *labels: object) -> random.Random:
    """A generator of its own for each part of a recipe, so that one part's draws never shift another's."""
    digest = hashlib.sha256(repr((seed, *labels)).encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


def plain(text: str) -> str:
    """Lower-case ASCII letters, digits and single dashes, for domains and file names."""
    table = str.maketrans(dict(zip("ßæøéóćäöü", ("ss", "ae", "o", "e", "o", "c", "ae", "oe", "ue"), strict=True)))
    return re.sub(r"[^a-z0-9]+", "-", text.lower().translate(table)).strip("-")


def pattern(r: random.Random, shape: str) -> str:
    """'#' becomes a digit, '@' a capital letter."""
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    return "".join(str(r.randrange(10)) if c == "#" else r.choice(letters) if c == "@" else c for c in shape)


def iban(country: str, account: str) -> str:
    """ISO 13616 check digits in front of a domestic account number."""
    digits = "".join(str(int(c, 36)) for c in account + country + "00")
    return f"{country}{98 - int(digits) % 97:02d}{account}"


def person(r: random.Random) -> Person:
    return Person(r.choice(FIRST), r.choice(LAST))


def address(r: random.Random, country: str | None = None) -> Address:
    code = country or r.choice(sorted(PLACES))
    cities, postcode, streets, *_ = PLACES[code]
    base = r.choice(ROOTS if r.random() < 0.5 else LAST)
    street, number = r.choice(streets.split("|")).replace("*", base), r.randint(1, 240)
    text = f"{number} {street}" if code in ("GB", "IE", "FR") else f"{street} {number}"
    return Address(text, pattern(r, postcode), r.choice(cities.split()), code)


def company(r: random.Random, sector: str | None = None, country: str | None = None) -> Company:
    kind = sector or r.choice(sorted(SECTORS))
    where = address(r, country)
    trade = r.choice(SECTORS[kind][0].split("|"))
    head = r.choice((
        r.choice(ROOTS), r.choice(LAST), f"{r.choice(ROOTS)} {r.choice(ROOTS)}", f"{r.choice(LAST)} & {r.choice(LAST)}",
        f"{where.city} {r.choice(ROOTS)}",
    ))  # fmt: skip
    _, _, _, forms, vat, account, dial = PLACES[where.country]
    short = f"{head} {trade}"
    domain = plain(head.split(" & ")[0]) + r.choice(("", "-group", "-online")) + "." + r.choice(("example", "test"))
    phone = f"{pattern(r, dial)} {pattern(r, '### ####')}"
    return Company(f"{short} {r.choice(forms.split('|'))}", short, kind, where, pattern(r, vat),
                   iban(where.country, pattern(r, account)), phone, domain)  # fmt: skip


def companies(r: random.Random, n: int, sectors: Sequence[str] = ()) -> list[Company]:
    """n companies with pairwise distinct first words, so that a reader can tell them apart."""
    found: dict[str, Company] = {}
    while len(found) < n:
        c = company(r, r.choice(sectors) if sectors else None)
        found.setdefault(c.short.split()[0], c)
    return list(found.values())


def product(r: random.Random, sector: str) -> Product:
    good, unit = r.choice(SECTORS[sector][1].split("|")).split("/")
    service = sector in SERVICES
    name = f"{good}, {r.choice(SERVICE_QUALIFIERS if service else QUALIFIERS)}"
    if service and r.random() < 0.6:
        name += r.choice((f" zone {r.randint(1, 9)}", f" level {pattern(r, '@')}", f" site {pattern(r, '##')}"))
    elif not service and r.random() < 0.6:
        name += r.choice((f" size {r.randint(1, 9)}", f" type {pattern(r, '@#')}", f" no. {r.randint(2, 480)}"))
    price = int(10 ** r.uniform(2.3, 4.9))
    sku = pattern(r, r.choice(("@@-####", "@@@##", "##-@-###", "@####.#")))
    return Product(sku, name, unit, price)


def day(r: random.Random, first: date, last: date) -> date:
    return first + timedelta(days=r.randint(0, (last - first).days))


def cents(r: random.Random, low: int, high: int) -> int:
    """An amount between two amounts (all in cents), small ones more often than large, as in real books."""
    return int(low * (high / low) ** r.random())


def say(r: random.Random, text: str, rules: Mapping[str, str | Sequence[str]] | None = None, **values: object) -> str:
    """Expands a text grammar. `[a|b|c]` chooses (nested, an empty choice is allowed), `{name}` is a value or a rule;
    a rule is a text or a list to choose from. Values are put in as they are, never expanded again."""
    out = text
    while (found := re.search(r"\[([^\[\]]*)\]", out)) is not None:
        out = out[: found.start()] + r.choice(found.group(1).split("|")) + out[found.end() :]
    out = re.sub(r" +(?=[ .,;:?!])", "", out) if "[" in text else out  # what an empty choice leaves around it

    def fill(match: re.Match[str]) -> str:
        key = match.group(1)
        if key in values:
            return str(values[key])
        rule = (rules or {})[key]
        return say(r, rule if isinstance(rule, str) else r.choice(list(rule)), rules, **values)

    return re.sub(r"\{(\w+)\}", fill, out)
