"""A trace as traffic: its calls in their order, each prompt as blocks.

Prompts of messages are hashed here, in this product's tokens, and stretched to the source's own counts by one factor a
model, so that shares of prompts are those of the source's tokens.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simulator.core.traffic.call import BLOCK_TOK, Sent, Traffic
from simulator.trace.format import SessionLine, TurnLine
from simulator.trace.gaps import ended_s
from simulator.trace.hashing import Hasher
from simulator.trace.messages import Message
from simulator.trace.trace_file import TracedSession, sessions


@dataclass(slots=True)
class _Row:
    """A call whose blocks are in tokens of `counted`."""

    line: SessionLine
    turn: TurnLine
    gap_s: float | None
    keep: int
    fresh: list[int]
    counted: int
    block_tok: int
    spawned: bool


@dataclass(slots=True)
class _Ratio:
    said: int = 0
    counted: int = 0

    @property
    def value(self) -> float:
        return self.said / self.counted if self.said and self.counted else 1.0


@dataclass(slots=True)
class _Known:
    ratios: dict[tuple[str, str], _Ratio] = field(default_factory=dict)
    estimated: set[str] = field(default_factory=set)
    clocks: set[str] = field(default_factory=set)
    stretched: dict[int, int] = field(default_factory=dict)


def read_traffic(path: Path) -> Traffic:
    """UsageError for whatever is wrong with the trace."""
    known = _Known()
    rows = [row for session in sessions(path) for row in _rows(session, known)]
    shared = len(known.clocks) == 1 and known.clocks <= {"unix", "relative"}
    calls = sorted(_sent(rows, known, shared), key=lambda call: call.order)
    return Traffic(path.name, "trace", tuple(calls), BLOCK_TOK, shared, tuple(_notes(known, shared)))


def _rows(session: TracedSession, known: _Known) -> Iterator[_Row]:
    line = session.line
    known.clocks.add(line.clock)
    known.estimated.update(line.estimated)
    hashers: dict[int, Hasher] = {}
    held: dict[int, list[Message]] = {}
    bodies = {0: line.body or {}}
    last: dict[int, TurnLine] = {}
    unstored = (f"unstored/{line.client or line.format}", line.unstored_tok)
    for turn in session.turns:
        n = turn.branch
        bodies[n] = turn.body or bodies.get(n) or line.body or {}
        known.estimated.update(f"turn.{key}" for key in turn.estimated)
        if turn.add is not None:
            prompt = [*held.get(n, [])[: turn.keep], *turn.add]
            held[n] = [*prompt, *([turn.reply] if turn.reply is not None else [])]
            hasher = hashers.setdefault(n, Hasher())
            keep, fresh, counted = hasher.prompt(prompt, bodies[n].get("tools"), unstored)
            size = BLOCK_TOK
            ratio = known.ratios.setdefault((line.format, line.model), _Ratio())
            ratio.said, ratio.counted = ratio.said + turn.prompt_tok, ratio.counted + counted
        else:
            size, counted = line.block_tok or BLOCK_TOK, turn.prompt_tok
            keep, fresh = turn.keep_blocks, [_named(line, block) for block in turn.add_blocks or ()]
        yield _Row(line, turn, _gap(last.get(n), turn), keep, fresh, counted, size, bool(turn.spawns))
        last[n] = turn


def _named(line: SessionLine, block: int) -> int:
    scope = line.format if line.block_scope == "trace" else f"{line.format}/{line.session}"
    return (zlib.crc32(scope.encode()) << 64) | (block & (1 << 64) - 1)


def _gap(before: TurnLine | None, turn: TurnLine) -> float | None:
    """From the reply's end to the next request, tools and all."""
    end = ended_s(before) if before is not None else None
    return None if end is None or turn.t_s is None else max(0.0, turn.t_s - end)


def _sent(rows: list[_Row], known: _Known, shared: bool) -> Iterator[Sent]:
    """Blocks become BLOCK_TOK of the source's tokens each."""
    held: dict[tuple[str, int], tuple[list[int], list[int]]] = {}
    for row in rows:
        line, turn = row.line, row.turn
        ratio = known.ratios[line.format, line.model].value if turn.add is not None else 1.0
        key = line.session, turn.branch
        before, cells = held.get(key, ([], []))
        named = [*before[: row.keep], *row.fresh]
        wanted = min(turn.prompt_tok // BLOCK_TOK, int(len(named) * row.block_tok * ratio) // BLOCK_TOK)
        scale = BLOCK_TOK / (row.block_tok * ratio)
        safe = min(int(row.keep / scale), len(cells), wanted)
        fresh = [_stretched(named, n, scale) for n in range(safe, wanted)]
        held[key] = named, [*cells[:safe], *fresh]
        at = None if turn.t_s is None else turn.t_s + (line.start_s or 0.0)
        yield Sent(
            session=line.session, branch=turn.branch, turn=turn.turn, at_s=at if shared else None,
            order=at if at is not None else float(turn.turn), took_s=turn.took_s, gap_s=row.gap_s,
            prompt_tok=turn.prompt_tok, output_tok=turn.output_tok, cached_tok=turn.cached_tok,
            tools=tuple(call.tool for call in turn.calls), keep=safe, fresh=fresh, spawned=row.spawned,
        )  # fmt: skip


def _stretched(named: list[int], n: int, scale: float) -> int:
    """The n-th block of a stretched prompt: the last of the source's blocks in it, or which part of one it is."""
    if scale >= 1:
        return named[min(int((n + 1) * scale) - 1, len(named) - 1)] * 97
    place = int(n * scale)
    return named[min(place, len(named) - 1)] * 97 + 1 + n - int(-(-place // scale))


def _notes(known: _Known, shared: bool) -> list[str]:
    notes = []
    if known.estimated:
        notes.append(f"estimated in the source: {', '.join(sorted(known.estimated))}")
    if not shared:
        why = "sessions do not say when they began" if known.clocks <= {"", "session"} else "clocks differ"
        notes.append(f"{why}: they are taken side by side, and nothing is said of what is open at once")
    off = [each.value for each in known.ratios.values() if abs(each.value - 1) > 0.02]
    if off:
        notes.append(
            f"prompts counted here are {min(1 / v for v in off):.2f} to {max(1 / v for v in off):.2f} times what the "
            "source says; blocks are stretched to the source's counts"
        )
    return notes
