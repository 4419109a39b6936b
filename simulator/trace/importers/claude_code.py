"""Claude Code: one JSON Lines file a session, a line for each piece of a message.

The pieces of one reply carry one message id and one usage. Lines point at the line before them; where a user went back
and tried again, there are several ends, and the last one is the session. Sub-agents are side chains, in the file itself
or in files of their own beside it. System prompt and tools are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.trace import messages as wire
from simulator.trace.asked import Asked
from simulator.trace.draft import MAX_SESSION_BYTES, Draft, Figures
from simulator.trace.messages import Message
from simulator.trace.text import Bad, rows
from simulator.trace.when import added, count, iso

TASK_TOOLS = ("Task", "Agent")


@dataclass(slots=True)
class _Piece:
    """A line of a conversation, without what is not needed."""

    uuid: str
    parent: str
    kind: str
    chain: str
    ts_s: float | None
    message: dict[str, Any]
    number: int


@dataclass(slots=True)
class _Said:
    """What one or more lines make: a user's message, or a whole reply."""

    kind: str
    blocks: list[dict[str, Any]] = field(default_factory=list)
    ident: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    stop: str = ""
    first_s: float | None = None
    last_s: float | None = None


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    about: dict[str, str] = {}
    chains: dict[str, dict[str, _Piece]] = {}
    size = path.stat().st_size
    if size > MAX_SESSION_BYTES:
        raise Bad(f"it is larger than {MAX_SESSION_BYTES >> 20} MiB, which no session of this client is")
    _collect(path, asked, about, chains)
    own = chains.pop("", {})
    if not own:
        raise Bad(
            "it is a sub-agent's file, and its session's own file is not there" if chains else "it has no messages"
        )
    for each in _agent_files(path, about.get("session", "")):
        asked.used.add(each)
        _collect(each, asked, {}, chains)
    chains.pop("", None)
    draft = Draft(
        format="claude-code", session=about.get("session") or path.stem, client="claude-code",
        model=about.get("model", ""), cwd=about.get("cwd", ""), clock="unix",
        body={"model": about.get("model", ""), "messages": None, "stream": True},
        estimated={"body": "as an OpenAI-compatible client would send it", "calls.took_s": "from the reply's last line "
                   "to the result's; approvals are in it"},
    )  # fmt: skip
    said = _grouped(_line_of(own, path, asked))
    starts = _turns(draft, said, 0)
    branch = 0
    for pieces in chains.values():
        side = _grouped(_line_of(pieces, path, asked))
        if not any(s.kind == "assistant" for s in side):
            asked.leave(path, "a sub-agent of it holds no model call", next(iter(pieces.values())).number)
            continue
        if not starts:
            asked.leave(path, "a sub-agent of it has no session of its own to belong to")
            continue
        branch += 1
        _attach(draft, starts, side, branch)
    yield draft


def _collect(path: Path, asked: Asked, about: dict[str, str], chains: dict[str, dict[str, _Piece]]) -> None:
    for number, row in rows(path):
        if isinstance(row, Bad) or not isinstance(row, dict):
            asked.leave(path, row if isinstance(row, Bad) else "the line is no object", number)
            continue
        kind, message = row.get("type"), row.get("message")
        if kind not in ("user", "assistant") or not isinstance(message, dict):
            continue
        for key, name in (("session", "sessionId"), ("cwd", "cwd")):
            if isinstance(row.get(name), str):
                about.setdefault(key, row[name])
        if kind == "assistant" and isinstance(message.get("model"), str) and message["model"] != "<synthetic>":
            about.setdefault("model", message["model"])
        chain = str(row.get("agentId") or "side") if row.get("isSidechain") else ""
        uuid = str(row.get("uuid") or f"line {number}")
        held = chains.setdefault(chain, {})
        if uuid in held:
            asked.leave(path, f"the line repeats the id {uuid:.60}; the first one was taken", number)
            continue
        parent = str(row.get("parentUuid") or "")
        held[uuid] = _Piece(uuid, parent, kind, chain, iso(row.get("timestamp")), message, number)


def _agent_files(path: Path, session: str) -> list[Path]:
    """Files of its sub-agents: newer versions keep them apart."""
    return sorted((path.parent / (session or path.stem) / "subagents").glob("agent-*.jsonl"))


def _line_of(pieces: dict[str, _Piece], path: Path, asked: Asked) -> list[_Piece]:
    """From the root to the last line; side chains without links keep the file's order."""
    if not pieces:
        return []
    linked = sum(p.parent in pieces for p in pieces.values())
    if not linked:
        return list(pieces.values())
    line: list[_Piece] = []
    seen: set[str] = set()
    at: _Piece | None = list(pieces.values())[-1]
    while at is not None:
        if at.uuid in seen:
            raise Bad(f"its lines point at each other in a circle (line {at.number})")
        seen.add(at.uuid)
        line.append(at)
        at = pieces.get(at.parent)
    line.reverse()
    left = len(pieces) - len(line)
    if left:
        asked.leave(path, f"{left} lines are on ways that the user took back, or lost their beginning")
    return line


def _grouped(line: list[_Piece]) -> list[_Said]:
    """Pieces of one reply together, as far as they stand in a row or share their message's id."""
    out: list[_Said] = []
    by_id: dict[str, _Said] = {}
    for piece in line:
        ident = str(piece.message.get("id") or "") if piece.kind == "assistant" else ""
        said = by_id.get(ident) if ident else None
        if said is None:
            said = _Said(piece.kind, ident=ident, first_s=piece.ts_s)
            out.append(said)
            if ident:
                by_id[ident] = said
        said.blocks += list(wire.blocks(piece.message))
        said.last_s = piece.ts_s if piece.ts_s is not None else said.last_s
        usage = piece.message.get("usage")
        if isinstance(usage, dict):
            said.usage = usage
        said.stop = str(piece.message.get("stop_reason") or said.stop)
    return out


def _turns(draft: Draft, said: list[_Said], branch: int) -> list[tuple[int, _Said]]:
    """Tells the turns of one conversation; gives (row, reply) of each."""
    prompt: list[Message] = []
    made: list[tuple[int, _Said]] = []
    clock_s: float | None = None
    for each in said:
        if each.kind == "user":
            prompt += wire.heard(each.blocks)
            for block in each.blocks:
                if made and block.get("type") == "tool_result":
                    row, reply = made[-1]
                    took = None if each.last_s is None or reply.last_s is None else each.last_s - reply.last_s
                    draft.took(row, str(block.get("tool_use_id") or ""), took, not block.get("is_error"))
        elif each.usage or each.blocks:
            reply_message = wire.said(each.blocks, reasoning=False)
            row = draft.turn(prompt, reply_message, _figures(each, clock_s), branch=branch)
            prompt.append(reply_message)
            made.append((row, each))
        clock_s = each.last_s if each.last_s is not None else clock_s
    return made


def _figures(said: _Said, sent_s: float | None) -> Figures:
    usage = said.usage
    read = count(usage.get("cache_read_input_tokens"))
    return Figures(
        sent_s=sent_s if sent_s is not None else said.first_s,
        end_s=said.last_s,
        prompt_tok=added(usage.get("input_tokens"), usage.get("cache_creation_input_tokens"), read) or None,
        cached_tok=read,
        output_tok=count(usage.get("output_tokens")),
        finish=said.stop,
    )


def _attach(draft: Draft, starts: list[tuple[int, _Said]], side: list[_Said], branch: int) -> None:
    """A sub-agent belongs to the last call for one that was made before it began."""
    begun = next((s.first_s for s in side if s.first_s is not None), None)
    _turns(draft, side, branch)
    tasks = [
        (row, said) for row, said in starts
        if any(b.get("type") == "tool_use" and b.get("name") in TASK_TOOLS for b in said.blocks)
    ]  # fmt: skip
    earlier = [row for row, said in tasks or starts if begun is None or said.last_s is None or said.last_s <= begun + 1]
    row = earlier[-1] if earlier else (tasks or starts)[0][0]
    draft.spawn(row, branch)
