"""Papers of other work that lie in the same repository: at least half as many again as the ones that matter, so that a
third of all files is irrelevant."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

from simulator.tasks import words

from .arith import plain
from .case import Case
from .journal import spin
from .world import World

_TOPICS = (
    "parking permits", "the new coffee machine", "travel bookings", "the summer party", "desk moves", "badge printing",
    "the phone contract", "fire drills", "archive boxes", "the canteen survey", "office plants", "the car pool",
)  # fmt: skip


def papers(case: Case, relevant: int) -> dict[str, str]:
    w = case.w
    r = w.part("noise")
    makers: list[Callable[[World, random.Random, int], tuple[str, str]]] = [
        _minutes, _mail, _centres, _prices, _travel, _old_results,
    ]  # fmt: skip
    folders = r.sample(("archive", "misc", "office", "shared", "old", "attic", "correspondence"), 2)
    found: dict[str, str] = {}
    for k in range(relevant * 52 // 100 + 2):
        name, text = makers[k % len(makers)](w, r, k)
        found[f"{folders[k % 2]}/{name}"] = text
    return found


def _minutes(w: World, r: random.Random, k: int) -> tuple[str, str]:
    held = w.day - timedelta(days=r.randint(40, 700))
    people = [words.person(r).name for _ in range(r.randint(3, 5))]
    points = []
    for number, topic in enumerate(r.sample(_TOPICS, r.randint(3, 5)), 1):
        who, cost, left = r.choice(people), words.cents(r, 4_000, 900_000), r.randint(2, 40)
        points.append(
            spin(
                r,
                f"{number}. {topic}: {who} «reports|tells» that {left} «requests are open|cases are left» and that "
                f"{plain(cost)} {w.currency} «was spent so far|is what it costs this year». «To be looked at again in "
                f"{r.randint(2, 9)} weeks.|No decision.|Agreed, {r.choice(people)} takes it on.»",
            )
        )
    text = f"# Meeting of {held}\n\nPresent: {', '.join(people)}\n\n" + "\n".join(points) + "\n"
    return f"minutes_{held:%Y_%m_%d}_{k}.md", text


def _mail(w: World, r: random.Random, k: int) -> tuple[str, str]:
    sender, to = words.person(r), r.choice(w.staff)
    topic = r.choice(_TOPICS)
    sent = w.day - timedelta(days=r.randint(20, 400))
    body = spin(
        r,
        f"From: {sender.name}\nTo: {to.name}\nDate: {sent}\nSubject: {topic}\n\n«Hello|Hi|Dear» {to.first},\n\n"
        f"«about|as to» {topic}: we «have counted|now have» {r.randint(3, 90)}, «two more than|not as many as» in "
        f"{sent.year - 1}. «Could you let me know by|Please answer by» {sent + timedelta(days=r.randint(5, 25))} "
        f"«whether that is right|what you think»? «Room|Office» {r.randint(100, 499)} «is free again|has the forms», "
        f"and {words.person(r).name} «knows the rest|can help».\n\n«Regards|Thanks|Best wishes», {sender.first}\n",
    )
    return f"{words.plain(topic)}_{k}.txt", body


def _centres(w: World, r: random.Random, k: int) -> tuple[str, str]:
    rows = [
        f"{words.pattern(r, '4###')},{w.others[r.randrange(len(w.others))].address.city},{words.person(r).name},"
        f"{r.choice(('open', 'open', 'closed'))}"
        for _ in range(r.randint(14, 34))
    ]
    return f"cost_centres_{w.day.year - 1 - k % 3}_{k}.csv", "\n".join(["centre,place,head,state", *rows]) + "\n"


def _prices(w: World, r: random.Random, k: int) -> tuple[str, str]:
    rows = []
    for _ in range(r.randint(12, 30)):
        item = words.product(r, w.firm.sector)
        rows.append(f"{item.sku};{item.name.replace(';', ' ')};{item.unit};{plain(item.price_cents)}")
    return f"price_list_{k}.csv", "\n".join(["sku;what;unit;price", *rows]) + "\n"


def _travel(w: World, r: random.Random, k: int) -> tuple[str, str]:
    rows = []
    for _ in range(r.randint(12, 28)):
        went = w.day - timedelta(days=r.randint(30, 500))
        place = w.others[r.randrange(len(w.others))].address.city
        rows.append(f"{went},{words.person(r).name},{place},{plain(words.cents(r, 2_000, 180_000))}")
    return f"travel_{k}.csv", "\n".join(["day,who,where,cost", *sorted(rows)]) + "\n"


def _old_results(w: World, r: random.Random, k: int) -> tuple[str, str]:
    """Figures of a year that nobody asks for."""
    names = [words.pattern(r, "@@-###") for _ in range(r.randint(6, 16))]
    rows = [f'  "{name}": "{plain(words.cents(r, 10_000, 90_000_000))}"' for name in sorted(set(names))]
    return f"result_{w.day.year - 2 - k % 4}_{k}.json", "{\n" + ",\n".join(rows) + "\n}\n"
