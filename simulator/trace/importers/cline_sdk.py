"""Cline's SDK client: <id>.messages.json, and <id>.json beside it.

Results are stored whole and cut when they are sent, to 8,000 characters a string; the cut is applied again, and so is
the note in place of reads that a later one shows again. Newer versions store the system prompt; none stores tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.cline.sdk.results import SENT_CHARS, middle_cut
from simulator.trace import messages as wire
from simulator.trace import standin
from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.format import Totals
from simulator.trace.importers.sdk_reads import Reads
from simulator.trace.messages import Message
from simulator.trace.text import Bad, compact, members
from simulator.trace.when import count, iso, millis

ENDING = ".messages.json"
_INPUT = re.compile(r"\A<user_input[^>]*>(.*)</user_input>\s*\Z", re.DOTALL)


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    about: dict[str, Any] = {}
    stored: list[dict[str, Any]] = []
    for key, value in members(path):
        if key != "messages":
            about[key] = value
        elif not isinstance(value, dict) or value.get("role") not in ("user", "assistant"):
            raise Bad("a message of it is neither a user's nor an assistant's")
        else:
            stored.append(value)
    if about.get("version") != 1:
        raise Bad(f"it is of version {about.get('version')!r} and 1 is known")
    session = _session(path, asked)
    model = str(session.get("model") or _first_model(stored))
    cwd = str(session.get("cwd") or "")
    origin = wire.mapping(about.get("origin"))
    editor = "vscode" in str((origin or {}).get("source", "")).lower()
    plan = _plan_mode(stored)
    system, body = standin.frame("sdk", model, cwd, "editor" if editor else "cli", plan=plan)
    estimated = {"body": "profile sdk"}
    if isinstance(about.get("system_prompt"), str) and about["system_prompt"]:
        system = {"role": "system", "content": about["system_prompt"]}
    else:
        estimated["system prompt"] = "profile sdk"
    draft = Draft(
        format="cline-sdk", session=str(about.get("sessionId") or session.get("session_id") or path.name),
        origin=str(about.get("agent") or ""), client="cline-sdk", profile="sdk", model=model, cwd=cwd, clock="unix",
        body=body, totals=_totals(session), estimated=estimated,
    )  # fmt: skip
    _turns(draft, stored, system, iso(session.get("started_at")))
    yield draft


def _turns(draft: Draft, stored: list[dict[str, Any]], system: Message, started_s: float | None) -> None:
    prompt = [system]
    reads = Reads()
    row: int | None = None
    clock_s = started_s
    for message in stored:
        ts = millis(message.get("ts"))
        given = list(wire.blocks(message))
        if message["role"] == "user":
            for told in _heard(given):
                if told["role"] == "tool":
                    reads.answered(told, len(prompt))
                prompt.append(told)
            for block in given:
                if row is not None and block.get("type") == "tool_result":
                    took = None if ts is None or clock_s is None else ts - clock_s
                    draft.took(row, str(block.get("tool_use_id") or ""), took, not block.get("is_error"))
        else:
            reply = wire.said(given, reasoning=True)
            reads.asked(given)
            prompt = reads.prompt(prompt)
            row = draft.turn(prompt, reply, _figures(message, clock_s, ts))
            prompt.append(reply)
        clock_s = ts if ts is not None else clock_s
    if row is not None and prompt[-1]["role"] == "tool":
        draft.finish_calls(row, [(m["tool_call_id"], m["content"]) for m in prompt if m["role"] == "tool"])


def _figures(message: dict[str, Any], sent_s: float | None, end_s: float | None) -> Figures:
    spent = wire.mapping(message.get("metrics"))
    return Figures(
        sent_s=sent_s,
        end_s=end_s,
        prompt_tok=count(spent.get("inputTokens")) or None,
        cached_tok=count(spent.get("cacheReadTokens")),
        output_tok=count(spent.get("outputTokens")),
    )


def _heard(given: list[dict[str, Any]]) -> list[Message]:
    """As sent: results cut, the mark around the user's own words taken off."""
    out = []
    for block in given:
        if block.get("type") == "tool_result":
            out.append(wire.tool_result(str(block.get("tool_use_id") or ""), _cut(block.get("content"))))
        else:
            text = wire.text_of([block])
            found = _INPUT.match(text)
            out.append({"role": "user", "content": found[1] if found else text})
    return out


def _cut(content: Any) -> str:
    """A result as a request carries it: each string of its rows at most 8,000 characters."""
    if isinstance(content, str):
        return middle_cut(content, SENT_CHARS)
    if isinstance(content, list) and all(isinstance(row, dict) for row in content):
        cut = [{k: middle_cut(v, SENT_CHARS) if isinstance(v, str) else v for k, v in row.items()} for row in content]
        return compact(cut)
    return middle_cut(compact(content), SENT_CHARS)


def _plan_mode(stored: list[dict[str, Any]]) -> bool:
    first = wire.text_of(stored[0].get("content")) if stored else ""
    return first.startswith('<user_input mode="plan"')


def _session(path: Path, asked: Asked) -> dict[str, Any]:
    beside = path.with_name(path.name.removesuffix(ENDING) + ".json")
    if not beside.is_file():
        return {}
    asked.used.add(beside)
    try:
        return dict(members(beside))
    except Bad as why:
        asked.leave(beside, f"{why}; its session was imported without it")
        return {}


def _first_model(stored: list[dict[str, Any]]) -> str:
    infos = (m.get("modelInfo") for m in stored)
    return next((str(i["id"]) for i in infos if isinstance(i, dict) and i.get("id")), "")


def _totals(session: dict[str, Any]) -> Totals:
    meta = session.get("metadata")
    usage = meta.get("usage") if isinstance(meta, dict) else None
    if not isinstance(usage, dict):
        return Totals()
    return Totals(
        prompt_tok=count(usage.get("inputTokens")), output_tok=count(usage.get("outputTokens")),
        cached_tok=count(usage.get("cacheReadTokens")),
    )  # fmt: skip
