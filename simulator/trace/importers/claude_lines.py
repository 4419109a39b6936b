"""Which lines of a Claude Code file are the session, and in which order.

Lines point at the line before them, also over lines that are no messages. A compaction starts anew and says what came
before it. Where a user went back, there are several ends: the last message's is the session. Results of parallel calls,
and pieces of one reply, hang beside that line and belong to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.trace import messages as wire
from simulator.trace.asked import Asked
from simulator.trace.text import Bad, rows
from simulator.trace.when import iso

MESSAGES = ("user", "assistant")
BOUNDARY = "boundary"


@dataclass(frozen=True, slots=True)
class Piece:
    """A line. kind: "user", "assistant", BOUNDARY (the history starts anew), or "" for one that only links others."""

    uuid: str
    parent: str
    kind: str
    ts_s: float | None
    message: dict[str, Any]
    number: int


@dataclass(slots=True)
class Lines:
    """chains: of the session itself (""), and of each sub-agent, by id. about: session, cwd, model as first named."""

    about: dict[str, str] = field(default_factory=dict)
    chains: dict[str, dict[str, Piece]] = field(default_factory=dict)
    _chain_of: dict[str, str] = field(default_factory=dict)

    def add(self, path: Path, asked: Asked) -> None:
        """All lines of a file; what cannot be read is left out."""
        for number, row in rows(path):
            if isinstance(row, Bad) or not isinstance(row, dict):
                asked.leave(path, row if isinstance(row, Bad) else "the line is no object", number)
                continue
            piece = _piece(row, number)
            if piece is None:
                continue
            if piece.kind in MESSAGES:
                self._name(row, piece)
            chain = self._chain(row, piece)
            held = self.chains.setdefault(chain, {})
            if piece.uuid in held:
                asked.leave(path, f"the line repeats the id {piece.uuid:.60}; the first one was taken", number)
                continue
            held[piece.uuid] = piece
            self._chain_of[piece.uuid] = chain

    def _name(self, row: dict[str, Any], piece: Piece) -> None:
        for key, name in (("session", "sessionId"), ("cwd", "cwd")):
            if isinstance(row.get(name), str):
                self.about.setdefault(key, row[name])
        model = piece.message.get("model")
        if piece.kind == "assistant" and isinstance(model, str) and model != "<synthetic>":
            self.about.setdefault("model", model)

    def _chain(self, row: dict[str, Any], piece: Piece) -> str:
        """A sub-agent's lines name it, or (in older versions) hang together."""
        if not row.get("isSidechain"):
            return ""
        if row.get("agentId"):
            return str(row["agentId"])
        return self._chain_of.get(piece.parent) or f"side {piece.uuid}"


def _piece(row: dict[str, Any], number: int) -> Piece | None:
    kind, message = row.get("type"), row.get("message")
    uuid = str(row.get("uuid") or "")
    spoken = kind in MESSAGES and isinstance(message, dict)
    if not spoken and not uuid:
        return None
    parent = str(row.get("parentUuid") or row.get("logicalParentUuid") or "")
    if not spoken:
        kind = BOUNDARY if row.get("subtype") == "compact_boundary" else ""
    return Piece(uuid or f"line {number}", parent, str(kind), iso(row.get("timestamp")), wire.mapping(message), number)


def line_of(pieces: dict[str, Piece], path: Path, asked: Asked) -> list[Piece]:
    """The session's messages and boundaries. Bad for a circle."""
    spoken = [p for p in pieces.values() if p.kind in MESSAGES]
    if not spoken:
        return []
    if not any(p.parent in pieces for p in spoken):
        return spoken  # no links: the file's order is all there is
    line = {p.uuid: p for p in _back(pieces, spoken[-1]) if p.kind}
    calls = set(_call_ids(line.values()))
    replies = {str(p.message.get("id")) for p in line.values() if p.message.get("id")}
    for piece in spoken:
        beside = piece.kind == "assistant" and str(piece.message.get("id")) in replies
        if piece.uuid not in line and (beside or any(i in calls for i in _answered(piece))):
            line[piece.uuid] = piece
    left = sum(piece.uuid not in line for piece in spoken)
    if left:
        asked.leave(path, f"{left} lines are on ways that the user took back, or lost their beginning")
    return sorted(line.values(), key=lambda piece: piece.number)


def _back(pieces: dict[str, Piece], last: Piece) -> Iterator[Piece]:
    seen: set[str] = set()
    at: Piece | None = last
    while at is not None:
        if at.uuid in seen:
            raise Bad(f"its lines point at each other in a circle (line {at.number})")
        seen.add(at.uuid)
        yield at
        at = pieces.get(at.parent)


def _call_ids(pieces: Any) -> Iterator[str]:
    for piece in pieces:
        if piece.kind == "assistant":
            yield from (str(b.get("id")) for b in wire.blocks(piece.message) if b.get("type") == "tool_use")


def _answered(piece: Piece) -> Iterator[str]:
    if piece.kind == "user":
        yield from (str(b.get("tool_use_id")) for b in wire.blocks(piece.message) if b.get("type") == "tool_result")
