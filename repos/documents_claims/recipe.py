"""Insurance claims that come by e-mail: lists, reports and estimates against the conditions of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from simulator.core.task import Style, Task
from simulator.tasks import words

from .._kit_documents import case as kit
from .._kit_documents.case import KIND, Case
from .._kit_documents.code import grammar
from .._kit_documents.paper import Paper
from .answers import REASONS, results
from .papers import all_papers
from .tell import tell
from .world import LABEL, World, build

__all__ = ["KIND", "broken", "make"]


def make(seed: int, size: str, style: Style) -> Task:
    """size: "small" (4 claims), "medium" (8) or "long" (20)."""
    world = _world(seed, size)
    case, attached = _case(seed, world)
    return kit.task(LABEL, seed, size, style, case, lambda path: tell(path, world, case, attached), "claims")


def broken(task: Task) -> list[tuple[str, Mapping[str, bytes | None]]]:
    return kit.broken(_case(task.seed, _world(task.seed, task.size))[0])


def _world(seed: int, size: str) -> World:
    return kit.drawn(lambda attempt: build(seed, size, attempt), results, ("years", "cause", "limit", "late"))


def _case(seed: int, world: World) -> tuple[Case, Mapping[str, Sequence[Paper]]]:
    house, talk = world.house, grammar(Path(__file__).parent / "files" / "talk.yaml")
    r = words.stream(seed, LABEL, "words")
    values = {"n": len(world.claims), "asker": house.asker.name, "firm": house.firm.short, **house.names}
    right = results(world)
    papers, attached = all_papers(seed, world)
    claim = dict.fromkeys(("goods", "repair", "late", "deductible", "paid"), "money") | {
        "policy": "text",
        "holder": "text",
        "cause": "text",
        "reason": list(REASONS),
    }
    query = {"claim": "text", "item": "text", "amount": "money"}
    case = Case(
        house=house,
        title="Household claims",
        request=words.say(r, r.choice(talk["requests"]), **values),
        about=[words.say(r, text, **values) for text in talk["about"]],
        rules=[words.say(r, rule, **values) for rule in talk["rules_of_the_question"]],
        papers=papers,
        results=right,
        form={path: {"keys": claim if path.endswith("json") else query} for path in right},
        mistakes={
            "age is a difference of calendar years": results(world, "years"),
            "the holder's cause is taken": results(world, "cause"),
            "limits are put on each thing": results(world, "limit"),
            "late reports cost nothing": results(world, "late"),
        },
        talk=talk,
        values=values
        | {
            "what_for": "the claims",
            "hard_form": "German amounts and long dates side by side",
            "outputs": "a JSON file with an entry a claim and a CSV of things to ask about",
            "rules_gist": words.say(r, r.choice(talk["gist"]), **values),
        },
    )
    return case, attached
