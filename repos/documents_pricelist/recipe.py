"""A price list from manufacturers' catalogue pages, with conditions by group and exceptions by article and date."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simulator.core.task import Style, Task
from simulator.tasks import words

from .._kit_documents import case as kit
from .._kit_documents.case import KIND, Case
from .._kit_documents.code import grammar
from .._kit_documents.house import money
from .answers import BASIS, results
from .papers import all_papers
from .tell import tell
from .world import LABEL, World, build

__all__ = ["KIND", "broken", "make"]


def make(seed: int, size: str, style: Style) -> Task:
    """size: "small" (2 manufacturers, a page each), "medium" (3, two pages) or "long" (6, three pages)."""
    world = _world(seed, size)
    case = _case(seed, world)
    return kit.task(LABEL, seed, size, style, case, lambda path: tell(path, world, case), "prices")


def broken(task: Task) -> list[tuple[str, Mapping[str, bytes | None]]]:
    return kit.broken(_case(task.seed, _world(task.seed, task.size)))


def _world(seed: int, size: str) -> World:
    return kit.drawn(lambda attempt: build(seed, size, attempt), results, ("old", "per", "dates", "dropped"))


def _case(seed: int, world: World) -> Case:
    house, talk = world.house, grammar(Path(__file__).parent / "files" / "talk.yaml")
    r = words.stream(seed, LABEL, "words")
    classes = ", ".join(f"from {money(start)} {percent} %" for start, percent in world.markup)
    values = {
        "day": world.day.isoformat(),
        "step": money(world.step_cents),
        "classes": classes,
        "n": len(world.makers),
        "makers": ", ".join(m.company.name for m in world.makers),
        "asker": house.asker.name,
        "firm": house.firm.short,
        **house.names,
    }
    right = results(world)
    price = {
        "code": "text",
        "maker": "text",
        "name": "text",
        "unit": "text",
        "list": "money",
        "net": "money",
        "sale": "money",
        "basis": list(BASIS),
    }
    left = {"code": "text", "maker": "text", "reason": ["on request", "dropped"]}
    return Case(
        house=house,
        title=f"Price list {world.day:%Y-%m}",
        request=words.say(r, r.choice(talk["requests"]), **values),
        about=[words.say(r, text, **values) for text in talk["about"]],
        rules=[words.say(r, rule, **values) for rule in talk["rules_of_the_question"]],
        papers=all_papers(seed, world),
        results=right,
        form={path: {"keys": price if path.endswith("prices.csv") else left} for path in right},
        mistakes={
            "struck-out prices are taken": results(world, "old"),
            "prices for a hundred are taken for one": results(world, "per"),
            "special prices hold whenever": results(world, "dates"),
            "articles that are no longer delivered stay": results(world, "dropped"),
        },
        talk=talk,
        values=values
        | {
            "what_for": "the price list",
            "hard_form": "apostrophes as well as points and commas",
            "outputs": "a CSV with the prices and a second one with what is left out and why",
            "rules_gist": words.say(r, r.choice(talk["gist"]), **values),
        },
    )
