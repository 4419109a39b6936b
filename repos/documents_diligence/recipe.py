"""A due-diligence questionnaire, answered from a data room: the newest finished paper counts and is named."""

from __future__ import annotations

import csv
import io
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
from .world import LABEL, TOPICS, World, build

__all__ = ["KIND", "broken", "make"]
_FILES = Path(__file__).parent / "files"
_FORMS = {"count": r"\d+", "percent": r"\d+\.\d\d", "day": r"\d{4}-\d\d-\d\d"}


def make(seed: int, size: str, style: Style) -> Task:
    """size: "small" (5 questions), "medium" (18) or "long" (48, about four companies)."""
    world = _world(seed, size)
    case = _case(seed, world)
    return kit.task(LABEL, seed, size, style, case, lambda path: tell(path, world, case), "dataroom")


def broken(task: Task) -> list[tuple[str, Mapping[str, bytes | None]]]:
    return kit.broken(_case(task.seed, _world(task.seed, task.size)))


def _world(seed: int, size: str) -> World:
    return kit.drawn(lambda attempt: build(seed, size, attempt), results, ("draft", "older", "sister", "scale"))


def _questions(world: World) -> str:
    text, buffer = grammar(_FILES / "topics.yaml"), io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow(["id", "company", "question", "form"])
    for q in world.questions:
        asked = text["topics"][q.topic]["question"].format(company=q.company)
        table.writerow([q.number, q.company, asked, _FORMS.get(TOPICS[q.topic][0], r"-?\d+\.\d\d")])
    return buffer.getvalue()


def _case(seed: int, world: World) -> Case:
    house, talk = world.house, grammar(_FILES / "talk.yaml")
    r = words.stream(seed, LABEL, "words")
    values = {
        "n": len(world.questions),
        "companies": ", ".join(world.companies),
        "sister": world.sister,
        "asker": house.asker.name,
        "firm": house.firm.short,
        **house.names,
    }
    right = results(world)
    return Case(
        house=house,
        title=f"Data room {world.companies[0].split()[0]}",
        request=words.say(r, r.choice(talk["requests"]), **values),
        about=[words.say(r, text, **values) for text in talk["about"]],
        rules=[words.say(r, rule, **values) for rule in talk["rules_of_the_question"]],
        papers=list(all_papers(seed, world).values()),
        results=right,
        form={path: {"keys": {"answer": "text", "source": "text", "dated": "day"}} for path in right},
        mistakes={
            "drafts are relied on": results(world, "draft"),
            "superseded papers are relied on": results(world, "older"),
            "papers of another company are taken": results(world, "sister"),
            "thousands and millions are not written out": results(world, "scale"),
        },
        talk=talk,
        files={f"{house.names['docs']}/questions.csv": _questions(world)},
        values=values
        | {
            "what_for": "the questionnaire",
            "hard_form": "long dates in several papers",
            "outputs": "one JSON file with an entry a question: answer, source and its date",
            "rules_gist": words.say(r, r.choice(talk["gist"]), **values),
        },
    )
