"""A session's live history where it has left the plan: what came between, and what a client cut in mid-run.

A plan's messages are fixed bytes, and a request is a view on them. An overlay keeps what a run adds (a broken reply and
the complaint about it) and takes away (a history shortened after an overflow), and maps every later view through it:

    insertions stand before the message that follows them in the plan, the recorded reply of their turn; a planned cut
        that removes that message removes them too;
    one cut, the latest: what lies between the history's head and the first message that was kept is left out, until
        the plan itself starts the history anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from simulator.cline import texts
from simulator.cline.classic import window as classic
from simulator.cline.sdk import window as sdk
from simulator.core.plan import Turn

#: the key of a cut's note
NOTE = -(1 << 40)


@dataclass(frozen=True, slots=True)
class _Entry:
    """key: index into the pool; below 0, an insertion's own."""

    key: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class _Inserted:
    """before: the pool index that they stand before, None: nothing of the plan follows them."""

    turn: int
    before: int | None
    entries: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True)
class _Cut:
    """head: messages that stay at the front, `note` behind them. role: of the first message that is kept after those.
    start: pool index of the first message after the system prompt. kept, dropped: keys of what the rest of the history
    was made of."""

    head: int
    role: str
    note: bytes
    start: int
    kept: frozenset[int]
    dropped: frozenset[int]


class Overlay:
    """One conversation's. pool, turns: the session's pool, and the conversation's turns."""

    def __init__(self, pool: Sequence[bytes], turns: Sequence[Turn]) -> None:
        self._pool, self._turns = pool, turns
        self._inserted: list[_Inserted] = []
        self._cut: _Cut | None = None
        self._replaced: dict[int, bytes] = {}
        self._last_key = 0

    def live(self, turn: Turn) -> list[bytes] | None:
        """The messages of the turn's request; None while they are the plan's."""
        if not self._inserted and not self._replaced and self._cut is None:
            return None
        return [entry.raw for entry in self._entries(turn)]

    def last(self, turn: Turn) -> bytes:
        return self._entries(turn)[-1].raw

    def add(self, turn: Turn, messages: Sequence[bytes]) -> None:
        """Appends to the turn's history, for this and all later requests."""
        entries = []
        for raw in messages:
            self._last_key -= 1
            entries.append(_Entry(self._last_key, raw))
        self._inserted.append(_Inserted(turn.index, self._next(turn), tuple(entries)))

    def results(self, turn: Turn) -> dict[int, bytes]:
        """What answers the turn's calls in the plan: the messages behind its recorded reply, by pool index."""
        reply, following = self._next(turn), self._following(turn)
        if reply is None or following is None:
            return {}
        return {i: self._pool[i] for i in following.view if i > reply and not _is(self._pool[i], "assistant")}

    def replace(self, messages: Mapping[int, bytes]) -> None:
        """Messages of the plan that say something else in this run, by pool index."""
        self._replaced.update({i: raw for i, raw in messages.items() if raw != self._pool[i]})

    def truncate(self, turn: Turn) -> bool:
        """Classic: three quarters of the message pairs after the first pair go. False: nothing could."""
        entries = self._entries(turn)
        last = classic.last_removed(len(entries) - 1, None, keep_quarter=True)
        if last is None:
            return False
        note = orjson.dumps({"role": "assistant", "content": texts.load("classic/truncated.md")})
        return self._keep(2, "user", note, turn, last + 2)

    def compact(self, turn: Turn) -> bool:
        """Sdk: what is older than the last ~20,000 estimated tokens (or half of that, and so on) becomes a notice."""
        entries = self._entries(turn)
        sizes = [len(entry.raw) for entry in entries[1:]]
        heads = [_is(entry.raw, "assistant") for entry in entries[1:]]
        keep_tok, at = sdk.KEEP_TOK, 0
        while keep_tok and not any(heads[:at]):
            at, keep_tok = sdk.first_kept(sizes, heads, keep_tok), keep_tok // 2
        if not any(heads[:at]):
            return False
        task = str(orjson.loads(entries[1].raw).get("content") or "")
        note = orjson.dumps({"role": "user", "content": sdk.notice(task, at)})
        return self._keep(1, "assistant", note, turn, at + 1)

    def _keep(self, head: int, role: str, note: bytes, turn: Turn, place: int) -> bool:
        """Keeps `head` messages, the note, and what lies behind `place` from the first message of `role` on."""
        entries = self._entries(turn)
        while place < len(entries) and not _is(entries[place].raw, role):
            place += 1
        kept = frozenset(entry.key for entry in entries[place:])
        dropped = frozenset(entry.key for entry in entries[head:]) - kept
        if not kept or len(dropped) < 2:
            return False
        dropped |= self._cut.dropped if self._cut else frozenset()
        self._cut = _Cut(head, role, note, turn.view[1], kept, dropped)
        return True

    def _next(self, turn: Turn) -> int | None:
        """The recorded reply of the turn: the first message that a later request of the conversation adds."""
        newest, following = max(turn.view), self._following(turn)
        return None if following is None else min((i for i in following.view if i > newest), default=None)

    def _following(self, turn: Turn) -> Turn | None:
        return next((t for t in self._turns if t.index > turn.index and t.purpose == turn.purpose), None)

    def _entries(self, turn: Turn) -> list[_Entry]:
        out: list[_Entry] = []
        for index in turn.view:
            for group in self._inserted:
                if group.before == index:
                    out += group.entries
            out.append(_Entry(index, self._replaced.get(index) or self._pool[index]))
        for group in self._inserted:
            if group.turn == turn.index:
                out += group.entries
        return out if self._cut is None or turn.view[1] != self._cut.start else _shortened(out, self._cut)


def _shortened(entries: list[_Entry], cut: _Cut) -> list[_Entry]:
    place = next((k for k, entry in enumerate(entries) if entry.key in cut.kept), None)
    if place is None or place <= cut.head:
        return entries
    before = entries[place - 1]
    if not _is(entries[place].raw, cut.role) and before.key not in cut.dropped and place - 1 > cut.head:
        place -= 1  # the plan has rewritten the first message that was kept
    return [*entries[: cut.head], _Entry(NOTE, cut.note), *entries[place:]]


def _is(raw: bytes, role: str) -> bool:
    return raw.startswith(b'{"role":"%s"' % role.encode())
