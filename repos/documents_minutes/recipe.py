"""A scanned minute book: who holds how many shares and which office after the last meeting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from simulator.core.task import Style, Task
from simulator.tasks import words

from .._kit_documents import case as kit
from .._kit_documents.case import KIND, Case
from .._kit_documents.code import grammar
from .answers import results
from .papers import all_papers
from .tell import tell
from .world import LABEL, OFFICES, World, build

__all__ = ["KIND", "broken", "make"]


def make(seed: int, size: str, style: Style) -> Task:
    """size: "small" (6 meetings), "medium" (16) or "long" (44)."""
    world = _world(seed, size)
    case = _case(seed, world)
    return kit.task(LABEL, seed, size, style, case, lambda path: tell(path, world, case), "minutes")


def broken(task: Task) -> list[tuple[str, Mapping[str, bytes | None]]]:
    return kit.broken(_case(task.seed, _world(task.seed, task.size)))


def _world(seed: int, size: str) -> World:
    return kit.drawn(lambda attempt: build(seed, size, attempt), results, ("refused", "quorum", "correction"))


def _case(seed: int, world: World) -> Case:
    house, talk = world.house, grammar(Path(__file__).parent / "files" / "talk.yaml")
    r = words.stream(seed, LABEL, "words")
    values = {
        "n": len(world.meetings),
        "volumes": len(world.volumes),
        "company": world.company.name,
        "quorum": world.quorum,
        "asker": house.asker.name,
        "firm": house.firm.short,
        "last": world.meetings[-1].number,
        **house.names,
    }
    right = results(world)
    return Case(
        house=house,
        title=f"Minute book of {world.company.short}",
        request=words.say(r, r.choice(talk["requests"]), **values),
        about=[words.say(r, text, **values) for text in talk["about"]],
        rules=[words.say(r, rule, **values) for rule in talk["rules_of_the_question"]],
        papers=all_papers(seed, world),
        results=right,
        form={
            house.out("holders.json"): {"keys": {"shares": "count", "percent": "text"}},
            house.out("officers.csv"): {
                "keys": {"office": list(OFFICES), "name": "text", "since": "day", "meeting": "count"}
            },
        },
        mistakes={
            "what was not carried counts": results(world, "refused"),
            "meetings without a quorum count": results(world, "quorum"),
            "corrections are overlooked": results(world, "correction"),
        },
        talk=talk,
        values=values
        | {
            "what_for": "the share register",
            "hard_form": "long dates",
            "outputs": "a JSON file with an entry a holder and a CSV of officers",
            "rules_gist": words.say(r, r.choice(talk["gist"]), **values),
        },
    )
