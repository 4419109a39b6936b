"""A register of agreements: which clauses are in force on a day, after amendments, drafts and notices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simulator.core.task import Style, Task
from simulator.tasks import words

from .._kit_documents import case as kit
from .._kit_documents.case import KIND, Case
from .._kit_documents.code import grammar
from .answers import AHEAD_DAYS, results
from .papers import all_papers
from .tell import tell
from .world import LABEL, World, build

__all__ = ["KIND", "broken", "make"]


def make(seed: int, size: str, style: Style) -> Task:
    """size: "small" (3 agreements), "medium" (6) or "long" (15)."""
    world = _world(seed, size)
    case = _case(seed, world)
    return kit.task(LABEL, seed, size, style, case, lambda path: tell(path, world, case), "agreements")


def broken(task: Task) -> list[tuple[str, Mapping[str, bytes | None]]]:
    return kit.broken(_case(task.seed, _world(task.seed, task.size)))


def _world(seed: int, size: str) -> World:
    return kit.drawn(lambda attempt: build(seed, size, attempt), results, ("draft", "future", "number", "none"))


def _case(seed: int, world: World) -> Case:
    house, talk = world.house, grammar(Path(__file__).parent / "files" / "talk.yaml")
    r = words.stream(seed, LABEL, "words")
    values = {
        "day": world.day.isoformat(),
        "n": len(world.agreements),
        "ahead": AHEAD_DAYS,
        "asker": house.asker.name,
        "amended": sum(len(a.amendments) for a in world.agreements),
        "firm": house.firm.short,
        **house.names,
    }
    right = results(world)
    entry = {
        "partner": "text",
        "starts": "day",
        "ends": "day",
        "status": ["active", "expired", "terminated"],
        "payment_days": "count",
        "price_cap": "text",
        "liability_cap": "money",
        "notice_days": "count",
        "renewal_months": "count",
        "notice_until": "day?",
        "sources": "table",
    }
    event = {"date": "day", "agreement": "text", "event": ["notice", "end"]}
    return Case(
        house=house,
        title=f"Agreements, as of {world.day.isoformat()}",
        request=words.say(r, r.choice(talk["requests"]), **values),
        about=[words.say(r, text, **values) for text in talk["about"]],
        rules=[words.say(r, rule, **values) for rule in talk["rules_of_the_question"]],
        papers=all_papers(seed, world),
        results=right,
        form={path: {"keys": entry if path.endswith("json") else event} for path in right},
        mistakes={
            "what nobody signed counts": results(world, "draft"),
            "amendments count before their time": results(world, "future"),
            "amendments are applied by number": results(world, "number"),
            "amendments are overlooked": results(world, "none"),
        },
        talk=talk,
        values=values
        | {
            "what_for": "the register",
            "hard_form": "dates with the month as a word",
            "outputs": "a JSON register with an entry an agreement and a CSV calendar",
            "rules_gist": words.say(r, r.choice(talk["gist"]), **values),
        },
    )
