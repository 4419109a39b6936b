"""Logs of OpenAI-compatible requests, a line each: {ts, request, response | chunks}, as `sim record` writes them.

A request carries its whole history and, as a rule, nothing that says whose it is. One whose messages continue those of
an earlier one is that session's next; a `session` in the line decides where there is one. Two passes: the first reads
hashes and links lines, the second reads the lines of one session at a time, so that a log may be of any length.

Fields besides the protocol's: session, id, branch, t_first_s and t_end_s (seconds after ts) or latency_s, status.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from simulator.trace.asked import Asked
from simulator.trace.draft import Draft, Figures
from simulator.trace.importers.openai_reply import Answer, answer
from simulator.trace.messages import checked
from simulator.trace.text import MAX_ITEM_BYTES, Bad, json_lines, parsed
from simulator.trace.when import iso, number

HOW = "by messages that continue an earlier request's, or begin as it did"


@dataclass(slots=True)
class _Chain:
    """Requests of one session. lines: (offset, length, line number)."""

    name: str
    by_name: bool
    lines: list[tuple[int, int, int]] = field(default_factory=list)


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    for chain in _chained(path, asked):
        draft = _session(path, asked, chain)
        if draft is not None:
            yield draft


def _chained(path: Path, asked: Asked) -> list[_Chain]:
    chains: list[_Chain] = []
    named: dict[str, _Chain] = {}
    ends: dict[bytes, _Chain] = {}  # hash of a request's messages -> the chain that it is the last of
    starts: dict[bytes, _Chain] = {}  # hash up to the first user message -> the last chain that began so
    with path.open("rb") as file:
        for line_no, raw in json_lines(file):
            length, at = (0, 0) if isinstance(raw, Bad) else (len(raw), file.tell() - len(raw))
            try:
                request, name = _request(raw)
            except Bad as why:
                asked.leave(path, why, line_no)
                continue
            prefixes = _prefixes(request["messages"])
            begun = _begun(request["messages"])
            chain = named.get(name) if name else next((ends[p] for p in reversed(prefixes[:-1]) if p in ends), None)
            if chain is None and not name and begun < len(prefixes):  # its history was cut after the first message
                chain = starts.get(prefixes[begun - 1])
            if chain is None:
                chain = _Chain(name or f"{path.stem}-{len(chains) + 1}", bool(name))
                chains.append(chain)
                if name:
                    named[name] = chain
            elif not name:
                ends = {p: c for p, c in ends.items() if c is not chain}
            if not name:
                ends[prefixes[-1]] = starts[prefixes[begun - 1]] = chain
            chain.lines.append((at, length, line_no))
    return chains


def _begun(messages: list[Any]) -> int:
    """How many messages there are up to the first of the user's, included."""
    return next((n for n, message in enumerate(messages, 1) if message["role"] == "user"), len(messages))


def _request(raw: bytes | Bad) -> tuple[dict[str, Any], str]:
    if isinstance(raw, Bad):
        raise raw
    data = parsed(raw)
    request = data.get("request") if isinstance(data, dict) else None
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list) or not request["messages"]:
        raise Bad("the line has no request with messages")
    for message in request["messages"]:
        checked(message)
    name = data.get("session")
    return request, name if isinstance(name, str) else ""


def _prefixes(messages: list[Any]) -> list[bytes]:
    """A hash of each leading part of the messages."""
    digest = hashlib.blake2b(digest_size=16)
    out = []
    for message in messages:
        try:
            digest.update(orjson.dumps(message))
        except TypeError:
            raise Bad("a message of it is nested deeper than 250 levels") from None
        out.append(digest.digest())
    return out


def _session(path: Path, asked: Asked, chain: _Chain) -> Draft | None:
    draft: Draft | None = None
    with path.open("rb") as file:
        for at, length, line_no in chain.lines:
            file.seek(at)
            data = parsed(file.read(min(length, MAX_ITEM_BYTES)).removeprefix(b"\xef\xbb\xbf"))
            request = data["request"]
            body = {key: None if key == "messages" else value for key, value in request.items()}
            try:
                told = answer(data)
            except Bad as why:
                asked.leave(path, why, line_no)
                continue
            if draft is None:
                draft = Draft(
                    format="openai-log", session=chain.name, model=str(request.get("model") or ""), clock="unix",
                    client=str(data.get("client") or ""), body=body, stored=True,
                    estimated={} if chain.by_name else {"session": HOW},
                )  # fmt: skip
            draft.turn(request["messages"], told.reply, _figures(data, told), body=body)
    return draft


def _figures(data: dict[str, Any], told: Answer) -> Figures:
    sent_s = iso(data.get("ts"))
    if sent_s is None:
        sent_s = number(data.get("ts"))
        if sent_s is not None and sent_s > 1e11:
            sent_s /= 1000.0
    first, end = number(data.get("t_first_s")), number(data.get("t_end_s"))
    end = end if end is not None else number(data.get("latency_s", data.get("latency_sec")))
    return Figures(
        sent_s=sent_s,
        first_s=None if sent_s is None or first is None else sent_s + first,
        end_s=None if sent_s is None or end is None else sent_s + end,
        prompt_tok=told.prompt_tok,
        cached_tok=told.cached_tok,
        output_tok=told.output_tok,
        reasoning_tok=told.reasoning_tok,
        finish=told.finish,
    )
