"""SWE-agent: a .traj, {trajectory: [{action, observation, response, execution_time, messages | query}], history, info}.

A step's `query` is the prompt as it was sent; `messages`, in other versions, goes on to the step's result. There are no
times but those of tools, and token counts only in all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.trace import messages as wire
from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.format import Call, Totals
from simulator.trace.messages import Message
from simulator.trace.text import Bad, members
from simulator.trace.when import count, lasted


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    history: list[dict[str, Any]] = []
    info: dict[str, Any] = {}
    for key, value in members(path, skip=frozenset(("trajectory",))):
        if key == "history" and isinstance(value, dict):
            history.append(value)
        elif key == "info" and isinstance(value, dict):
            info = value
    stats = wire.mapping(info.get("model_stats"))
    draft = Draft(
        format="swe-agent", session=path.name.removesuffix(".traj"), client="swe-agent", model="", stored=True,
        body={"model": "", "messages": None}, estimated={"body": "messages only; tools are not stored"},
        totals=Totals(
            prompt_tok=count(stats.get("tokens_sent")) or None, output_tok=count(stats.get("tokens_received")) or None,
            calls=count(stats.get("api_calls")),
        ),
    )  # fmt: skip
    replies = [_wire(m)[0] for m in history if m.get("role") == "assistant" and not m.get("is_demo")]
    held: list[Message] = []
    n = 0
    for key, step in members(path, skip=frozenset(("history", "replay_config"))):
        if key != "trajectory":
            continue
        if not isinstance(step, dict):
            raise Bad(f"step {n} of its trajectory is no object")
        reply = replies[n] if n < len(replies) else wire.assistant(str(step.get("response") or ""), [])
        held = _prompt(step, held, history)
        row = draft.turn(held, reply, Figures())
        made = wire.made_calls(reply) or [("", _tool(step))]
        draft.replace_calls(row, [_call(i, name, step) for i, name in made if name])
        held = [*held, reply]
        n += 1
    yield draft


def _prompt(step: dict[str, Any], held: list[Message], history: list[dict[str, Any]]) -> list[Message]:
    """The step's own messages up to its reply; where it has none, those of the history."""
    given = step.get("query") or step.get("messages")
    if not isinstance(given, list) or not given or not all(isinstance(m, dict) for m in given):
        given = history
    before = sum(m["role"] == "assistant" for m in held)
    out: list[Message] = []
    for m in given:
        if m.get("role") == "assistant" and not m.get("is_demo"):
            if not before:
                break
            before -= 1
        out += _wire(m)
    return out


def _wire(message: dict[str, Any]) -> list[Message]:
    """A message without the agent's own marks; a result for each call that it answers."""
    role, text = message.get("role"), wire.text_of(message.get("content"))
    if role == "tool":
        idents = message.get("tool_call_ids")
        idents = idents if isinstance(idents, list) and idents else [message.get("tool_call_id") or ""]
        return [wire.tool_result(str(i), text if k == 0 else "") for k, i in enumerate(idents)]
    if role == "assistant":
        calls = message.get("tool_calls")
        return [wire.checked(wire.assistant(text, list(calls) if isinstance(calls, list) else []))]
    return [wire.checked({"role": role, "content": text})]


def _tool(step: dict[str, Any]) -> str:
    """The command's first word."""
    words = str(step.get("action") or "").split(maxsplit=1)
    return words[0][:60] if words else ""


def _call(ident: str, name: str, step: dict[str, Any]) -> Call:
    return Call(tool=name, id=ident, took_s=lasted(step.get("execution_time")))
