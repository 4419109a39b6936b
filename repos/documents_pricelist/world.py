"""Facts: what manufacturers list, under which conditions we buy, and which exceptions were agreed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.tasks import words
from simulator.tasks.words import Company

from .._kit_documents.house import House, half_up, house

LABEL = "documents_pricelist"
#: (manufacturers, pages of each, articles of a group)
SIZE: Mapping[str, tuple[int, int, tuple[int, int]]] = {
    "small": (2, 1, (7, 11)),
    "medium": (3, 2, (9, 16)),
    "long": (6, 3, (11, 20)),
}


@dataclass(frozen=True, slots=True)
class Article:
    """old_cents: a former price that the page shows struck out, 0 for none. per: the printed price is for so many.
    on_request: no price is printed."""

    code: str
    name: str
    unit: str
    list_cents: int
    old_cents: int
    per: int
    on_request: bool


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    discount_percent: int
    fixed: bool
    articles: tuple[Article, ...]


@dataclass(frozen=True, slots=True)
class Special:
    """A net price that holds instead of list and discount, from and to these days, both included."""

    code: str
    net_cents: int
    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Maker:
    """pages: groups of each catalogue page. default_percent: discount of groups that the letter does not name.
    dropped: codes that are no longer delivered. notation: of printed amounts."""

    company: Company
    key: str
    pages: tuple[tuple[Group, ...], ...]
    default_percent: int
    specials: tuple[Special, ...]
    dropped: tuple[str, ...]
    notation: str

    def groups(self) -> list[Group]:
        return [g for page in self.pages for g in page]


@dataclass(frozen=True, slots=True)
class World:
    """day: on which the list is to be valid. step_cents: sale prices are multiples of it. markup: from a net price
    (cents) on -> per cent."""

    house: House
    makers: tuple[Maker, ...]
    day: date
    step_cents: int
    markup: tuple[tuple[int, int], ...]


def build(seed: int, size: str, attempt: int = 0) -> World:
    n, pages, span = SIZE[size]
    base = house(
        seed,
        LABEL,
        size,
        n,
        catalogue="catalogue|catalogue_pages|listing",
        terms="terms|conditions|letter_terms",
        price="pricelist|prices|build_list",
    )
    r = words.stream(seed, LABEL, "world", size, attempt)
    day = base.day + timedelta(days=r.randint(5, 20))
    used: set[str] = set()
    makers = tuple(_maker(r, c, k, pages, span, day, used) for k, c in enumerate(base.partners))
    markup = ((0, r.choice((60, 65, 70))), (2_000, r.choice((40, 45, 50))), (20_000, r.choice((25, 28, 32))))
    return World(base, makers, day, r.choice((5, 10, 50)), markup)


def _maker(
    r: random.Random, company: Company, k: int, pages: int, span: tuple[int, int], day: date, used: set[str]
) -> Maker:
    names = r.sample(
        (
            "Standard line",
            "Heavy duty",
            "Accessories",
            "Spare parts",
            "Consumables",
            "New this season",
            "Clearance",
            "Bulk goods",
            "Made to order",
            "Small parts",
            "Starter sets",
            "Professional",
        ),
        pages * 2,
    )
    groups = []
    for number, name in enumerate(names):
        discount = r.choice((10, 12, 15, 18, 20, 25, 30)) if number % 3 != 2 else -1
        fixed = name in ("Clearance", "Made to order")
        groups.append(Group(name, discount, fixed, _articles(r, company.sector, r.randint(*span), used, number == 0)))
    free = [a for g in groups for a in g.articles if not a.on_request]
    chosen = r.sample(free, min(len(free), 5 + 2 * pages))
    specials = [_special(r, a, day, number) for number, a in enumerate(chosen[: 3 + pages])]
    dropped = tuple(a.code for a in chosen[3 + pages :])
    return Maker(
        company=company,
        key=words.plain(company.short.split(" & ")[0].split()[0]),
        pages=tuple(tuple(groups[i : i + 2]) for i in range(0, len(groups), 2)),
        default_percent=r.choice((5, 8)),
        specials=tuple(specials),
        dropped=dropped,
        notation=r.choice(("en", "de", "ch")),
    )


def _special(r: random.Random, a: Article, day: date, number: int) -> Special:
    """The first two are out of date or not yet valid; what comes after holds on the day."""
    net = max(1, half_up(a.list_cents * r.randint(48, 66), 100))
    match number:
        case 0:
            return Special(
                a.code, net, day - timedelta(days=r.randint(200, 300)), day - timedelta(days=r.randint(1, 40))
            )
        case 1:
            return Special(a.code, net, day + timedelta(days=r.randint(1, 30)), day + timedelta(days=200))
        case 2:
            return Special(a.code, net, day - timedelta(days=60), day)
    return Special(a.code, net, day - timedelta(days=r.randint(10, 90)), day + timedelta(days=r.randint(10, 200)))


def _articles(r: random.Random, sector: str, n: int, used: set[str], marked: bool) -> tuple[Article, ...]:
    """marked: the group has at least a struck-out price, a price for a hundred and one on request."""
    out: list[Article] = []
    while len(out) < n:
        p = words.product(r, sector)
        if p.sku in used:
            continue
        used.add(p.sku)
        number = len(out)
        per = 100 if (marked and number == 0) or r.random() < 0.08 else 1
        old = half_up(p.price_cents * r.randint(105, 130), 100) if (marked and number == 1) or r.random() < 0.1 else 0
        request = (marked and number == 2) or r.random() < 0.04
        price = p.price_cents * 20 if per == 100 else p.price_cents
        out.append(Article(p.sku, p.name, p.unit, price, old if per == 1 else 0, per, request))
    return tuple(out)


def discount_of(maker: Maker, group: Group) -> int:
    if group.fixed:
        return 0
    return maker.default_percent if group.discount_percent < 0 else group.discount_percent
