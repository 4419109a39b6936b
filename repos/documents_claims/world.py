"""Facts: policies, conditions, and claims with what was lost, what the expert found and what repairs cost."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.tasks import words
from simulator.tasks.words import Company, Person

from .._kit_documents.house import House, house, people

LABEL = "documents_claims"
#: (claims, items of each)
SIZE: Mapping[str, tuple[int, tuple[int, int]]] = {
    "small": (4, (6, 12)),
    "medium": (8, (24, 60)),
    "long": (20, (60, 130)),
}
COVERED = ("fire", "burst pipe", "burglary", "storm")
EXCLUDED = ("groundwater", "wear", "unlocked door")
#: what a holder says -> what an expert may find instead
DOUBTFUL = {"burst pipe": ("groundwater", "wear"), "burglary": ("unlocked door",)}
CATEGORIES: Mapping[str, tuple[tuple[str, ...], tuple[int, int]]] = {
    "electronics": (
        ("laptop", "television", "camera", "router", "loudspeakers", "tablet", "printer"),
        (9_000, 180_000),
    ),
    "furniture": (("shelf", "desk", "armchair", "carpet", "chest of drawers", "lamp"), (6_000, 140_000)),
    "clothing": (("winter coat", "suit", "boots", "dresses", "sports clothes"), (3_000, 45_000)),
    "jewellery": (("necklace", "watch", "ring", "earrings"), (15_000, 260_000)),
    "cash": (("cash", "foreign notes"), (5_000, 90_000)),
}


@dataclass(frozen=True, slots=True)
class Item:
    """bought: None, the holder does not know. cents: of one."""

    name: str
    category: str
    bought: date | None
    cents: int
    count: int


@dataclass(frozen=True, slots=True)
class Policy:
    number: str
    holder: str
    first: date
    last: date
    business: bool
    sum_cents: int


@dataclass(frozen=True, slots=True)
class Claim:
    """claimed, established: causes, the holder's and the expert's. works: (text, net cents) of the repair, if any."""

    number: str
    policy: Policy
    loss: date
    reported: date
    claimed: str
    established: str
    items: tuple[Item, ...]
    works: tuple[tuple[str, int], ...]
    sender: Person
    expert: Company


@dataclass(frozen=True, slots=True)
class Conditions:
    """deductible: cause -> cents. yearly: category -> per cent a full year. floor: per cent that remains. limits:
    category -> cents a claim. report_days, late_percent: later than that many days, so much less."""

    deductible: Mapping[str, int]
    yearly: Mapping[str, int]
    floor: int
    limits: Mapping[str, int]
    report_days: int
    late_percent: int
    tax_percent: int


@dataclass(frozen=True, slots=True)
class World:
    house: House
    conditions: Conditions
    policies: tuple[Policy, ...]
    claims: tuple[Claim, ...]


def build(seed: int, size: str, attempt: int = 0) -> World:
    n, span = SIZE[size]
    base = house(
        seed,
        LABEL,
        size,
        3,
        mails="mails|reports_in|messages",
        assess="assess|adjust|evaluate",
        policies="policies|policy_list|read_policies",
    )
    r = words.stream(seed, LABEL, "world", size, attempt)
    conditions = Conditions(
        deductible={cause: r.choice((10_000, 15_000, 25_000, 30_000, 50_000)) for cause in COVERED},
        yearly={"electronics": r.choice((20, 25)), "furniture": r.choice((8, 10)), "clothing": r.choice((25, 30))},
        floor=r.choice((10, 15, 20)),
        limits={"cash": r.choice((30_000, 50_000)), "jewellery": r.choice((150_000, 250_000))},
        report_days=r.choice((7, 10, 14)),
        late_percent=r.choice((10, 15, 20)),
        tax_percent=r.choice((19, 20, 21)),
    )
    policies = _policies(r, n + 4, base.day)
    start = r.randint(1_000, 8_000)
    claims = [
        _claim(r, base, conditions, policies[k], k, span, f"C-{start + 7 * k + r.randint(0, 6)}") for k in range(n)
    ]
    return World(base, conditions, policies, tuple(claims))


def _policies(r: random.Random, n: int, day: date) -> tuple[Policy, ...]:
    out, numbers = [], set[str]()
    for k, person in enumerate(people(r, n)):
        number = words.pattern(r, "HH-#####")
        while number in numbers:
            number = words.pattern(r, "HH-#####")
        numbers.add(number)
        business = k % 3 == 1
        holder = words.company(r).name if business else person.name
        first = day - timedelta(days=r.randint(500, 1_200))
        last = day - timedelta(days=r.randint(150, 200)) if k == 2 else day + timedelta(days=r.randint(30, 400))
        out.append(Policy(number, holder, first, last, business, r.randrange(60, 300, 5) * 10_000))
    return tuple(out)


def _claim(
    r: random.Random, base: House, c: Conditions, policy: Policy, k: int, span: tuple[int, int], number: str
) -> Claim:
    """The first claim is reported late and its items just miss a full year; the second is a firm's with a repair; the
    third falls after the end of its policy; in the fourth the expert finds another cause."""
    loss = base.day - timedelta(days=r.randint(30, 120))
    late = k == 0 or (k > 3 and r.random() < 0.25)
    reported = loss + timedelta(days=c.report_days + r.randint(1, 12) if late else r.randint(0, c.report_days))
    claimed = "burst pipe" if k in (1, 3) else r.choice(COVERED)
    established = claimed
    if k == 3 or (k > 3 and claimed in DOUBTFUL and r.random() < 0.4):
        established = r.choice(DOUBTFUL[claimed])
    items = [_item(r, loss) for _ in range(r.randint(*span))]
    if k == 0:
        price = r.randint(60_000, 140_000)
        items[0] = Item("television", "electronics", loss - timedelta(days=365 * 2 - r.randint(9, 40)), price, 1)
        items += [
            Item(name, "jewellery", loss - timedelta(days=r.randint(200, 900)), c.limits["jewellery"] * 3 // 5, 1)
            for name in ("necklace", "watch")
        ]
    works: tuple[tuple[str, int], ...] = ()
    if k == 1 or (claimed != "burglary" and r.random() < 0.6):
        names = r.sample(
            (
                "drying",
                "new floor",
                "plastering",
                "painting",
                "pipe work",
                "new window",
                "cleaning",
                "electrical installation",
                "removal of rubble",
                "new door",
            ),
            r.randint(3, 8),
        )
        works = tuple((name, words.cents(r, 8_000, 240_000)) for name in names)
    return Claim(
        number,
        policy,
        loss,
        reported,
        claimed,
        established,
        tuple(items),
        works,
        words.person(r),
        r.choice(base.partners),
    )


def _item(r: random.Random, loss: date) -> Item:
    category = r.choices(list(CATEGORIES), (6, 5, 4, 2, 1))[0]
    names, (low, high) = CATEGORIES[category]
    bought = None if category != "cash" and r.random() < 0.08 else loss - timedelta(days=r.randint(20, 3_300))
    name = f"{r.choice(names)}, {r.choice(words.LAST)}" if category in ("electronics", "furniture") else r.choice(names)
    count = r.choice((1, 1, 1, 2, 3)) if category in ("clothing", "furniture") else 1
    return Item(name, category, bought, words.cents(r, low, high), count)
