"""mini-swe-agent: a .traj.json, {info, messages, trajectory_format}, in its first version the messages alone.

A message's `extra` holds what is not sent: the response with its usage, the time at which the message was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator import tokenizer
from simulator.trace import messages as wire
from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.format import Call, Totals
from simulator.trace.messages import Message
from simulator.trace.text import Bad, members
from simulator.trace.when import count, lasted, number

KNOWN = ("mini-swe-agent-1", "mini-swe-agent-1.0", "mini-swe-agent-1.1")
_COMMAND = re.compile(r"^```(?:mswea_bash_command|bash)\s*\n", re.MULTILINE)


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    stored: list[dict[str, Any]] = []
    info: dict[str, Any] = {}
    for key, value in members(path):
        if key in ("messages", ""):
            if not isinstance(value, dict) or not isinstance(value.get("role"), str):
                raise Bad("a message of it has no role")
            stored.append(value)
        elif key == "info" and isinstance(value, dict):
            info = value
        elif key == "trajectory_format" and value not in KNOWN:
            raise Bad(f"it is of version {str(value)!r:.60}; known are {', '.join(KNOWN)}")
    stats = wire.mapping(info.get("model_stats"))
    model = _model(info)
    draft = Draft(
        format="mini-swe-agent", session=path.name.removesuffix(".json").removesuffix(".traj"), client="mini-swe-agent",
        model=model, clock="unix", stored=True, body={"model": model, "messages": None},
        totals=Totals(calls=count(stats.get("api_calls"))), estimated={"body": "messages only"},
    )  # fmt: skip
    _turns(draft, stored)
    yield draft


def _turns(draft: Draft, stored: list[dict[str, Any]]) -> None:
    prompt: list[Message] = []
    clock_s: float | None = None
    last: tuple[int, list[Call], float | None] | None = None
    for message in stored:
        extra = wire.mapping(message.get("extra"))
        ts, role = number(extra.get("timestamp")), message["role"]
        if role == "exit":
            continue
        sent = wire.checked({key: value for key, value in message.items() if key not in ("extra", "timestamp")})
        if role == "assistant":
            calls = _calls(sent, extra)
            row = draft.turn(prompt, sent, _figures(extra, clock_s, ts), calls=calls)
            last = row, calls, ts
        elif last is not None:
            row, calls, began = last
            took = None if ts is None or began is None else lasted((ts - began) / max(1, len(calls)))
            size = tokenizer.count(wire.text_of(sent.get("content")))
            draft.replace_calls(row, [c.model_copy(update={"took_s": took, "result_tok": size}) for c in calls])
            last = None
        prompt = [*prompt, sent]
        clock_s = ts if ts is not None else clock_s


def _calls(message: Message, extra: dict[str, Any]) -> list[Call]:
    named = wire.made_calls(message)
    if named:
        return [Call(tool=name, id=i) for i, name in named]
    actions = extra.get("actions")
    n = len(actions) if isinstance(actions, list) else len(_COMMAND.findall(wire.text_of(message.get("content"))))
    return [Call(tool="bash")] * n


def _figures(extra: dict[str, Any], sent_s: float | None, end_s: float | None) -> Figures:
    usage = wire.mapping(wire.mapping(extra.get("response")).get("usage"))
    details = usage.get("prompt_tokens_details")
    return Figures(
        sent_s=sent_s if sent_s is not None else end_s,
        end_s=end_s,
        prompt_tok=count(usage.get("prompt_tokens")) or None,
        cached_tok=count(details.get("cached_tokens")) if isinstance(details, dict) else None,
        output_tok=count(usage.get("completion_tokens")),
    )


def _model(info: dict[str, Any]) -> str:
    config = info.get("config")
    model = config.get("model") if isinstance(config, dict) else None
    return str(model.get("model_name") or "") if isinstance(model, dict) else ""
