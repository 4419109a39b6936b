"""The right answers with their sources, from the facts alone; and those of somebody careless."""

from __future__ import annotations

from typing import Any

from .papers import sheet_path
from .world import TOPICS, Question, Sheet, World, answer


def chosen(world: World, q: Question, careless: str = "") -> Sheet:
    """The newest finished paper of the company asked about. careless: "draft", unfinished ones count; "older", the
    oldest is taken; "sister", the other company's newer paper is taken where there is one."""
    known = world.papers_of(q)
    finished = [s for s in known if s.standing != "draft" or careless == "draft"]
    if careless == "sister":
        finished += [s for s in world.sheets if s.standing == "sister" and s.topic == q.topic]
    return (min if careless == "older" else max)(finished, key=lambda s: s.day)


def results(world: World, careless: str = "") -> dict[str, Any]:
    """careless "scale": thousands and millions are not written out."""
    rows = {}
    for q in world.questions:
        sheet = chosen(world, q, careless)
        value = sheet.value
        if careless == "scale":
            value //= {"thousand": 1_000, "million": 1_000_000}.get(TOPICS[q.topic][0], 1)
        rows[q.number] = {
            "answer": answer(q.topic, value),
            "source": sheet_path(world, sheet),
            "dated": sheet.day.isoformat(),
        }
    return {world.house.out("answers.json"): rows}
