"""Expense sheets as people fill them in, against card exports in three encodings: who gets what back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simulator.core.task import Style, Task
from simulator.tasks import words

from .._kit_documents import case as kit
from .._kit_documents.case import KIND, Case
from .._kit_documents.code import grammar
from .._kit_documents.house import MONTHS, money
from .answers import results
from .papers import all_papers
from .tell import tell
from .world import CATEGORIES, LABEL, World, build

__all__ = ["KIND", "broken", "make"]


def make(seed: int, size: str, style: Style) -> Task:
    """size: "small" (3 people), "medium" (5) or "long" (12)."""
    world = _world(seed, size)
    case = _case(seed, world)
    return kit.task(LABEL, seed, size, style, case, lambda path: tell(path, world, case), "expenses")


def broken(task: Task) -> list[tuple[str, Mapping[str, bytes | None]]]:
    return kit.broken(_case(task.seed, _world(task.seed, task.size)))


def _world(seed: int, size: str) -> World:
    return kit.drawn(lambda attempt: build(seed, size, attempt), results, ("private", "cap", "later", "card"))


def _case(seed: int, world: World) -> Case:
    house, talk = world.house, grammar(Path(__file__).parent / "files" / "talk.yaml")
    r = words.stream(seed, LABEL, "words")
    month = f"{MONTHS[world.month.month - 1]} {world.month.year}"
    values = {
        "n": len(world.travellers),
        "month": month,
        "cap": money(world.cap_cents),
        "asker": house.asker.name,
        "firm": house.firm.short,
        "kinds": ", ".join(CATEGORIES),
        **house.names,
    }
    right = results(world)
    person = {"cost_centre": "text", "reimburse": "money", "card": "money", "cut": "money", "by_kind": "table"}
    missing = {
        "date": "day",
        "holder": "text",
        "merchant": "text",
        "amount": "money",
        "currency": ["EUR", "GBP", "CHF", "DKK", "SEK"],
    }
    return Case(
        house=house,
        title=f"Expenses {month}",
        request=words.say(r, r.choice(talk["requests"]), **values),
        about=[words.say(r, text, **values) for text in talk["about"]],
        rules=[words.say(r, rule, **values) for rule in talk["rules_of_the_question"]],
        papers=all_papers(seed, world),
        results=right,
        form={path: {"keys": person if path.endswith("json") else missing} for path in right},
        mistakes={
            "private items are paid": results(world, "private"),
            "the limit is put on each meal and not on the day": results(world, "cap"),
            "at weekends the next rate is taken": results(world, "later"),
            "what the card paid is given back": results(world, "card"),
        },
        talk=talk,
        values=values
        | {
            "what_for": "the expenses",
            "hard_form": "points, commas and blanks in one column",
            "outputs": "a JSON file with an entry a person and a CSV of card payments without an item",
            "rules_gist": words.say(r, r.choice(talk["gist"]), **values),
        },
    )
