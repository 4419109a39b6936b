"""Plans of a small task and an oracle that knows them, without a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson

from simulator.core.plan import SessionPlan, Turn
from simulator.core.solution import Solution
from simulator.engine.embedded.brain.library import Library
from simulator.engine.embedded.brain.oracle import Oracle, Told
from simulator.engine.embedded.brain.rates import Rates
from simulator.engine.embedded.replies import Limits, Reply
from simulator.tasks.solutions import solutions_of

sys.path.append(str(Path(__file__).resolve().parents[2] / "tasks"))
from small_task import STEPS, recorded, spec

__all__ = ["STEPS", "Asked", "body_of", "recorded", "spec"]
ROOM = Limits(8_192)


class Asked:
    """An oracle that knows the solutions of some plans, and what it told of its answers."""

    def __init__(self, folder: Path, plans: list[SessionPlan], seed: int = 0, **rates: float) -> None:
        self.solutions: list[Solution] = [each for plan in plans for each in solutions_of(plan)]
        path = folder / "solutions.jsonl"
        path.write_bytes(b"".join(each.line() for each in self.solutions))
        self.told: list[Told] = []
        self.oracle = Oracle(Library(path), Rates(**rates), seed=seed, tell=self.told.append)

    def reply(self, body: dict[str, Any], limits: Limits = ROOM) -> Reply | None:
        tools = bool(body.get("tools"))
        return self.oracle.answer(
            body["messages"], tools=tools, fingerprint=orjson.dumps(body["messages"][-1]), limits=limits
        )

    def message(self, body: dict[str, Any]) -> dict[str, Any]:
        reply = self.reply(body)
        assert reply is not None and reply.speech is not None
        return reply.speech.message(reply.n_tok)


def body_of(plan: SessionPlan, turn: Turn) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(plan.body(turn, forced=False))
    return body
