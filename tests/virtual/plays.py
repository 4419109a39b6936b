"""Small plans made by hand, and what they become in virtual time."""

from __future__ import annotations

import orjson

from simulator.core.action import Edit, ReadFile
from simulator.core.plan import Branch, PlannedCall, SessionPlan, Turn
from simulator.core.scenario import Scenario
from simulator.core.task import Check
from simulator.engine.embedded.config import EngineParams, load_params
from simulator.engine.embedded.prompts import Prompts
from simulator.virtual.script import Script, mark_shared, script

HEAD = b'{"model":"embedded-30b-a3b","messages":['
TAIL = b'],"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}'
SYSTEM = "You are an agent that works in a folder of its own. " * 20


def message(role: str, text: str) -> bytes:
    return orjson.dumps({"role": role, "content": text})


def plan(
    session: str, turns: int = 4, *, output_tok: int = 20, think_s: float = 0.0, tool_s: float = 0.5, words: int = 60,
    agents: int = 0, stop_after_tok: int | None = None,
) -> SessionPlan:  # fmt: skip
    """A system prompt that all have, then messages of the session's own. Its second turn starts `agents` sub-agents."""
    pool = [message("system", SYSTEM)]
    for n in range(turns + agents):
        pool += [
            message("user", f"{session} asks {n}: " + "look here " * words),
            message("assistant", f"reply {n} " * 8),
        ]
    calls = (PlannedCall(ReadFile("a"), "abc", tool_s), PlannedCall(Edit("a", (("x", "y"),)), "de", tool_s / 2))

    def turn(index: int, view: tuple[int, ...], spawns: tuple[int, ...] = ()) -> Turn:
        stop = stop_after_tok if index == 0 else None
        return Turn(index, "agent", view, "", 0, 100, output_tok, think_s, calls, None, spawns, stop)

    spawned = tuple(range(agents))
    main = [turn(n, tuple(range(2 * n + 2)), spawned if n == 1 else ()) for n in range(turns)]
    branches = [Branch(f"b{n}", tuple(turn(k, (0, 2 * (turns + n) + 1)) for k in range(2 + n))) for n in range(agents)]
    return SessionPlan(
        session=session, task_template="t", task_kind="coding", task_size="medium", task_seed=1, task_name="n",
        profile="classic-xml", cwd="/home/dev/n", heads=(HEAD,), pool=tuple(pool),
        tail=TAIL, turns=tuple(main), check=Check("", ""), branches=tuple(branches),
    )  # fmt: skip


def scenario(sessions: int = 3, **changes: object) -> Scenario:
    settings = {"name": "played", "sessions": sessions, "refill": False, "start": "beginning", "ramp_s": 1.0,
                "profiles": {"classic-xml": 1.0}, "tasks": {"coding": 1.0}, "sizes": {"medium": 1.0}}  # fmt: skip
    return Scenario.model_validate(settings | changes)


def scripts(plans: list[SessionPlan], params: EngineParams | None = None) -> list[list[Script]]:
    """A slot each."""
    prompts = Prompts((params or load_params()).block_size)
    return [[each] for each in mark_shared([script(p, prompts) for p in plans])]
