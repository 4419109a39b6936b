"""Claude Code: one JSON Lines file a session, a line for each piece of a message.

The pieces of one reply carry one message id and one usage; which lines are the session says claude_lines.py. Sub-agents
are side chains, in the file itself or in files of their own beside it. System prompt and tools are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.trace import messages as wire
from simulator.trace.asked import Asked
from simulator.trace.draft import MAX_SESSION_BYTES, Draft, Figures
from simulator.trace.importers.claude_lines import BOUNDARY, MESSAGES, Lines, Piece, line_of
from simulator.trace.messages import Message
from simulator.trace.text import Bad
from simulator.trace.when import added, count

TASK_TOOLS = ("Task", "Agent")


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
    if path.stat().st_size > MAX_SESSION_BYTES:
        raise Bad(f"it is larger than {MAX_SESSION_BYTES >> 20} MiB, which no session of this client is")
    lines = Lines()
    lines.add(path, asked)
    own = lines.chains.pop("", {})
    if not any(piece.kind in MESSAGES for piece in own.values()):
        alone = "it is a sub-agent's file, and its session's own file is not there"
        raise Bad(alone if lines.chains else "it has no messages")
    about = lines.about
    for each in _agent_files(path, about.get("session", "")):
        asked.used.add(each)
        lines.add(each, asked)
    lines.chains.pop("", None)
    draft = Draft(
        format="claude-code", session=about.get("session") or path.stem, client="claude-code",
        model=about.get("model", ""), cwd=about.get("cwd", ""), clock="unix",
        body={"model": about.get("model", ""), "messages": None, "stream": True},
        estimated={"body": "as an OpenAI-compatible client would send it", "calls.took_s": "from the reply's last line "
                   "to the result's; approvals are in it"},
    )  # fmt: skip
    starts = _turns(draft, _grouped(line_of(own, path, asked)), 0)
    branch = 0
    for pieces in lines.chains.values():
        side = _grouped(line_of(pieces, path, asked))
        if not any(s.kind == "assistant" for s in side):
            asked.leave(path, "a sub-agent of it holds no model call", next(iter(pieces.values())).number)
        elif not starts:
            asked.leave(path, "a sub-agent of it has no session of its own to belong to")
        else:
            branch += 1
            _attach(draft, starts, side, branch)
    yield draft


def _agent_files(path: Path, session: str) -> list[Path]:
    """Files of its sub-agents: newer versions keep them apart."""
    return sorted((path.parent / (session or path.stem) / "subagents").glob("agent-*.jsonl"))


def _grouped(line: list[Piece]) -> list[_Said]:
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
    prompt: list[Message] = []  # since the last compaction
    made: list[tuple[int, _Said]] = []
    clock_s: float | None = None
    for each in said:
        if each.kind == BOUNDARY:
            prompt = []
        elif each.kind == "user":
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
