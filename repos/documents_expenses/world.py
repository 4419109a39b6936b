"""Facts: who spent what, in which currency, from whose pocket, and what the card companies charged."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.tasks import words
from simulator.tasks.words import Person

from .._kit_documents.house import House, half_up, house, people

LABEL = "documents_expenses"
#: (people, items of each, further card payments)
SIZE: Mapping[str, tuple[int, tuple[int, int], int]] = {
    "small": (3, (9, 14), 12),
    "medium": (5, (18, 34), 40),
    "long": (12, (26, 48), 110),
}
CATEGORIES = ("hotel", "meal", "train", "taxi", "parking", "material", "phone")
#: currency -> rate to one euro, in ten-thousandths
CURRENCIES: Mapping[str, int] = {"EUR": 10_000, "GBP": 8_520, "CHF": 9_480, "DKK": 74_590, "SEK": 114_300}
KM_RATE_CENTS = 30
HEADS: Mapping[str, str] = {
    "day": "Date|Day|When|On",
    "kind": "Category|Type|Kind of cost|Group",
    "text": "What|Text|Description|Purpose",
    "amount": "Amount|Sum|Total paid|Value",
    "currency": "Currency|Cur.|Ccy",
    "payment": "Paid with|Payment|Paid by",
    "remark": "Remark|Note|Comment",
}
PLACES = ("Kassel", "Leeds", "Basel", "Odense", "Malmö", "Zürich", "Göteborg", "Exeter", "Aarhus", "Köln")


@dataclass(frozen=True, slots=True)
class Item:
    """card: paid with the company's card, not by the person. private: not the company's business."""

    day: date
    kind: str
    text: str
    cents: int
    currency: str
    card: bool
    private: bool


@dataclass(frozen=True, slots=True)
class Trip:
    day: date
    way: str
    km: int


@dataclass(frozen=True, slots=True)
class Traveller:
    """heads: column -> its heading in this person's sheet, in the order of the columns."""

    person: Person
    centre: str
    heads: Mapping[str, str]
    items: tuple[Item, ...]
    trips: tuple[Trip, ...]


@dataclass(frozen=True, slots=True)
class Charge:
    """A payment with a card. claimed: there is an item for it."""

    day: date
    holder: str
    merchant: str
    cents: int
    currency: str
    issuer: int
    claimed: bool


@dataclass(frozen=True, slots=True)
class World:
    """rates: working day -> currency -> ten-thousandths to the euro. cap_cents: of meals a person and day."""

    house: House
    month: date
    travellers: tuple[Traveller, ...]
    charges: tuple[Charge, ...]
    rates: Mapping[date, Mapping[str, int]]
    cap_cents: int
    issuers: tuple[str, ...]

    def euros(self, cents: int, currency: str, day: date, *, later: bool = False) -> int:
        """At the rate of that day or else of the last working day before. later: of the next one, which is wrong."""
        if currency == "EUR":
            return cents
        while day not in self.rates:
            day += timedelta(days=1 if later else -1)
        return half_up(cents * 10_000, self.rates[day][currency])


def build(seed: int, size: str, attempt: int = 0) -> World:
    n, span, more = SIZE[size]
    base = house(
        seed,
        LABEL,
        size,
        0,
        sheets="sheets|claims|workbooks",
        cards="cards|card_exports|plastic",
        rates="rates|exchange|currencies",
        total="total|consolidate|summary",
    )
    r = words.stream(seed, LABEL, "world", size, attempt)
    month = (base.day.replace(day=1) - timedelta(days=1)).replace(day=1)
    rates = _rates(r, month)
    cap = r.choice((3_800, 4_200, 4_500, 5_000))
    who = people(r, n)
    travellers = tuple(_traveller(r, p, month, r.randint(*span), cap, k) for k, p in enumerate(who))
    charges = [
        Charge(i.day, t.person.name, _merchant(r, i.kind), i.cents, i.currency, k % 3, True)
        for k, t in enumerate(travellers)
        for i in t.items
        if i.card
    ]
    for _ in range(more):
        k = r.randrange(n)
        kind = r.choice(CATEGORIES)
        charges.append(
            Charge(
                _day(r, month), who[k].name, _merchant(r, kind), words.cents(r, 600, 24_000), _currency(r), k % 3, False
            )
        )
    issuers = tuple(f"{r.choice(words.LAST)} {x}" for x in ("Card", "Bank", "Payments"))
    return World(base, month, travellers, tuple(charges), rates, cap, issuers)


def _day(r: random.Random, month: date) -> date:
    return month + timedelta(days=r.randint(3, 27))


def _currency(r: random.Random) -> str:
    return r.choices(list(CURRENCIES), (10, 3, 3, 2, 2))[0]


def _rates(r: random.Random, month: date) -> dict[date, dict[str, int]]:
    out: dict[date, dict[str, int]] = {}
    current = {c: rate for c, rate in CURRENCIES.items() if c != "EUR"}
    for k in range(-4, 35):
        day = month + timedelta(days=k)
        if day.weekday() < 5:
            current = {c: rate + r.randint(-rate // 90, rate // 90) for c, rate in current.items()}
            out[day] = dict(current)
    return out


def _merchant(r: random.Random, kind: str) -> str:
    names = {
        "hotel": "Hotel|Inn|Pension",
        "meal": "Bistro|Café|Kitchen",
        "train": "Railways|Express",
        "taxi": "Cabs|Taxi",
        "parking": "Parking|Garage",
        "material": "Supplies|Stores",
        "phone": "Telecom|Mobile",
    }
    return f"{r.choice(words.LAST)} {r.choice(names[kind].split('|'))} {r.choice(PLACES)}"


def _traveller(r: random.Random, person: Person, month: date, n: int, cap: int, k: int) -> Traveller:
    """The first person has what makes the rules bite: two meals on a day, something private, a Sunday abroad."""
    order = ["day", "kind", "text", "amount", "currency", "payment", "remark"]
    middle = order[2:6]
    r.shuffle(middle)
    heads = {c: r.choice(HEADS[c].split("|")) for c in ["day", "kind", *middle, "remark"]}
    items = [_item(r, month, cap) for _ in range(n)]
    if k == 0:
        day = _day(r, month)
        sunday = next(d for d in (month + timedelta(days=x) for x in range(8, 22)) if d.weekday() == 6)
        items += [
            Item(
                day,
                "meal",
                f"{word} with {words.person(r).name}",
                cap * 3 // 5 + r.randint(1, 300),
                "EUR",
                False,
                False,
            )
            for word in ("Lunch", "Dinner")
        ]
        items.append(
            Item(_day(r, month), "material", "Present for a birthday", words.cents(r, 1_500, 6_000), "EUR", False, True)
        )
        items.append(
            Item(sunday, "hotel", f"Night in {r.choice(PLACES)}", words.cents(r, 9_000, 22_000), "CHF", False, False)
        )
        items.append(Item(_day(r, month), "taxi", "To the airport", words.cents(r, 2_000, 7_000), "EUR", True, False))
    rank = list(CATEGORIES)
    r.shuffle(rank)
    ordered = tuple(sorted(items, key=lambda i: (rank.index(i.kind), i.day, i.cents)))
    trips = tuple(
        Trip(_day(r, month), f"{a} - {b}", r.randint(18, 420))
        for a, b in (r.sample(PLACES, 2) for _ in range(r.randint(1, 5) if r.random() < 0.6 or k == 0 else 0))
    )
    return Traveller(person, words.pattern(r, "4#0#"), heads, ordered, tuple(sorted(trips, key=lambda t: t.day)))


def _item(r: random.Random, month: date, cap: int) -> Item:
    kind, day = r.choice(CATEGORIES), _day(r, month)
    low, high = {"hotel": (7_000, 24_000), "meal": (900, cap * 3 // 2), "train": (1_500, 19_000)}.get(
        kind, (400, 9_000)
    )
    text = {
        "hotel": f"Night in {r.choice(PLACES)}",
        "meal": f"[Lunch|Dinner] with {words.person(r).name}",
        "train": f"{r.choice(PLACES)} and back",
        "taxi": f"[Station|Airport] {r.choice(PLACES)}",
        "parking": f"[Garage|Street] {r.choice(PLACES)}",
        "material": "[Cables|Folders|Adapters|Batteries]",
        "phone": "[Roaming|Data pack|Calls]",
    }[kind]
    private = r.random() < 0.06
    return Item(day, kind, words.say(r, text), words.cents(r, low, high), _currency(r), r.random() < 0.35, private)
