"""Invoices against bank statements: which are paid, with or without the discount that was allowed, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simulator.core.task import Style, Task
from simulator.tasks import words

from .._kit_documents import case as kit
from .._kit_documents.case import KIND, Case
from .._kit_documents.code import grammar
from .answers import STATUS, results
from .papers import all_papers
from .tell import tell
from .world import LABEL, World, build

__all__ = ["KIND", "broken", "make"]
_FORM = {
    "supplier": "text",
    "gross": "money",
    "credited": "money",
    "paid": "money",
    "paid_on": "day?",
    "deducted": "money",
    "rest": "money",
    "status": list(STATUS),
}


def make(seed: int, size: str, style: Style) -> Task:
    """size: "small" (2 suppliers, a month), "medium" (3, two months) or "long" (6, three months)."""
    world = _world(seed, size)
    case = _case(seed, world)
    return kit.task(LABEL, seed, size, style, case, lambda path: tell(path, world, case), "payables")


def broken(task: Task) -> list[tuple[str, Mapping[str, bytes | None]]]:
    return kit.broken(_case(task.seed, _world(task.seed, task.size)))


def _world(seed: int, size: str) -> World:
    return kit.drawn(lambda attempt: build(seed, size, attempt), results, ("late", "collective", "credit"))


def _case(seed: int, world: World) -> Case:
    house, talk = world.house, grammar(Path(__file__).parent / "files" / "talk.yaml")
    r = words.stream(seed, LABEL, "words")
    firms = ", ".join(s.company.name for s in world.suppliers)
    values = {
        "firms": firms,
        "n": len(world.pairs()),
        "asker": house.asker.name,
        "firm": house.firm.short,
        "bank": world.bank["name"],
        "months": len(world.months),
        "from": f"{world.months[0]:%B %Y}",
        **house.names,
    }
    rules = [words.say(r, rule, **values) for rule in talk["rules_of_the_question"]]
    right = results(world)
    return Case(
        house=house,
        title=f"Payables {world.months[0]:%m/%Y} to {world.months[-1]:%m/%Y}",
        request=words.say(r, r.choice(talk["requests"]), **values),
        about=[words.say(r, text, **values) for text in talk["about"]],
        rules=rules,
        papers=all_papers(seed, world),
        results=right,
        form={
            path: {
                "keys": _FORM
                if path.endswith("json")
                else dict.fromkeys(("supplier", "reference"), "text") | {"date": "day", "amount": "money"}
            }
            for path in right
        },
        mistakes={
            "discounts taken too late are accepted": results(world, "late"),
            "transfers for several invoices are not resolved": results(world, "collective"),
            "credit notes are overlooked": results(world, "credit"),
        },
        talk=talk,
        values=values
        | {
            "what_for": "the reconciliation",
            "hard_form": "a trailing minus and both decimal marks",
            "outputs": "a JSON file with an entry an invoice and a CSV with the payments that name none",
            "rules_gist": talk["gist"][seed % len(talk["gist"])].format(asker=house.asker.name),
        },
    )
