"""Which session a stateless request belongs to: every request of an agent holds its whole history so far.

Pure. A request continues the session whose last request (or an older one) it begins with. Where a client has rewritten
its history, the session that shares most of its messages is taken; a request that only quotes a session (to have it
summarised) joins it on the side. A field that names the session narrows the choice to that session's own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson
import xxhash

from simulator.record.quotes import snippet, spoken, texts_of

#: sessions that are remembered; of more, those that were silent longest are forgotten
MOST_SESSIONS, FORGET = 4096, 256
#: a message below this is one that many sessions have, such as "continue"
SHORT_BYTES = 96
#: sessions that are looked through for a quotation, the latest first
MOST_QUOTED = 256
#: replies of a session that are looked for in a quotation
FIRST_REPLIES = 3
HEADER, PREFIX, REWRITTEN, QUOTED, FIRST = "header", "prefix", "rewritten", "quoted", "first"


@dataclass(frozen=True, slots=True)
class Placed:
    """by: how the session was found. turn: from 0. again: the same request once more after a reply that was no good.
    kept: messages that the session's last request had too, from the beginning. parent: the session whose call asked for
    this one, or of which it is a branch. aside: it quotes the session and is no turn of its conversation."""

    session: str
    by: str
    turn: int
    again: bool = False
    kept: int = 0
    parent: str = ""
    aside: bool = False


@dataclass(slots=True)
class _Session:
    name: str
    group: str
    turns: int = 0
    chain: list[bytes] = field(default_factory=list)  # after each message of its last request
    messages: frozenset[bytes] = frozenset()
    newest: frozenset[bytes] = frozenset()  # its last request's last message, and its reply
    t_end_s: float = 0.0
    good: bool = True
    reply: bytes = b""  # its last reply as a message of the history would hold it
    task: str = ""  # words of its first user message
    first_replies: tuple[str, ...] = ()  # words of its first replies
    said: str = ""


class Chains:
    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._ends: dict[bytes, list[str]] = {}  # a whole request -> sessions that sent it
        self._have: dict[bytes, str] = {}  # a message -> the last session that had it
        self._named: dict[str, int] = {}

    def place(
        self, messages: Sequence[Any], *, group: str, t_s: float, t_end_s: float, good: bool, reply: Any
    ) -> Placed:
        """Exchanges come in the order in which they ended. group: what a header says, "" for nothing. t_s, t_end_s:
        when it began and ended. good: there was a reply with output. reply: the assistant's message, or None."""
        prints = [_print(message) for message in messages]
        chain = _chain(prints)
        ready = [s for s in self._candidates(group) if s.t_end_s <= t_s]
        found, placed = self._continued(chain, prints, messages, ready, group)
        if found is None or placed is None:
            found, placed = self._new(messages, group, ready)
        if not placed.aside:
            self._advance(found, prints, chain, placed, messages, reply)
            found.good = good
        found.t_end_s = max(found.t_end_s, t_end_s)
        self._sessions.move_to_end(found.name)
        self._forget()
        return placed

    def _candidates(self, group: str) -> Iterable[_Session]:
        return [s for s in self._sessions.values() if s.group == group] if group else list(self._sessions.values())

    def _continued(
        self, chain: list[bytes], prints: list[bytes], messages: Sequence[Any], ready: list[_Session], group: str
    ) -> tuple[_Session | None, Placed | None]:
        names = {s.name: s for s in ready}
        if (s := self._again(chain, names)) is not None:
            return s, Placed(s.name, HEADER if group else PREFIX, max(0, s.turns - 1), True, len(chain))
        found = self._extended(chain, prints, names) or self._sharing(prints, chain, names)
        if found is not None:
            kept = _common(found.chain, chain)
            by = HEADER if group else PREFIX if kept == len(found.chain) else REWRITTEN
            return found, Placed(found.name, by, found.turns, kept=kept)
        s = quoting(messages, reversed(ready))
        if s is not None:
            return s, Placed(s.name, HEADER if group else QUOTED, max(0, s.turns - 1), aside=True)
        return None, None

    def _again(self, chain: list[bytes], names: dict[str, _Session]) -> _Session | None:
        """The session whose last request this is once more, after a reply that was no good."""
        same = [names[n] for n in self._ends.get(chain[-1], ()) if n in names] if chain else []
        return next((s for s in reversed(same) if s.chain[-1] == chain[-1] and not s.good), None)

    def _extended(self, chain: list[bytes], prints: list[bytes], names: dict[str, _Session]) -> _Session | None:
        """Of the sessions with a request that this one begins with: the one whose last reply it goes on from, else the
        one that shares most of the rest, else the one whose last request it begins with; the latest of equals."""
        holders: dict[str, tuple[bool, bool]] = {}
        for at in range(len(chain) - 2, -1, -1):
            for name in self._ends.get(chain[at], ()):
                if name in names and name not in holders:
                    s = names[name]
                    last = s.chain[-1] == chain[at]
                    holders[name] = last and s.reply == prints[at + 1], last
        if not holders:
            return None
        rest = {each for each in prints[2:] if each[:1] == _LONG}

        def fits(name: str) -> tuple[bool, int, bool, float]:
            (replied, last), s = holders[name], names[name]
            return replied, len(rest & s.messages), last, s.t_end_s

        return names[max(holders, key=fits)]

    def _sharing(self, prints: list[bytes], chain: list[bytes], names: dict[str, _Session]) -> _Session | None:
        """The session that shares most of what stands behind an opening, where its newest is still there: whoever cuts
        or sums up a history keeps its end. None when there is none, as among requests that only have examples in
        common."""
        here, votes = set(prints), dict[str, int]()
        for each in prints[2:]:
            holder = self._have.get(each, "")
            if each[:1] == _LONG and holder in names:
                votes[holder] = votes.get(holder, 0) + 1
        kept = [names[n] for n in votes if here & names[n].newest]
        return max(kept, key=lambda s: (votes[s.name], _common(s.chain, chain), s.t_end_s), default=None)

    def _new(self, messages: Sequence[Any], group: str, ready: list[_Session]) -> tuple[_Session, Placed]:
        name = self._name(group)
        first = self._sessions.get(group)  # of the conversations that go by this name
        parent = asked_for(messages, reversed(ready)) if not group else group if first and first.group == group else ""
        session = self._sessions[name] = _Session(name, group)
        return session, Placed(name, HEADER if group else FIRST, 0, parent=parent)

    def _name(self, group: str) -> str:
        """One that no session has: a client's own name may look like ours."""
        while True:
            n = self._named[group] = self._named.get(group, 0) + 1
            name = f"s{n:04d}" if not group else group if n == 1 else f"{group}/{n}"
            if name not in self._sessions:
                return name

    def _advance(
        self, session: _Session, prints: list[bytes], chain: list[bytes], placed: Placed, messages: Sequence[Any],
        reply: Any,
    ) -> None:  # fmt: skip
        session.turns = placed.turn + 1
        session.reply = b"" if reply is None else _print(reply)
        heard = [*prints, session.reply] if session.reply else prints
        session.chain, session.messages = chain, frozenset(heard)
        session.newest = frozenset((*prints[-1:], *heard[len(prints) :]))
        if chain:
            holders = self._ends.setdefault(chain[-1], [])
            if session.name not in holders:
                holders.append(session.name)
        for each in heard[1:]:
            self._have[each] = session.name
        session.task = session.task or snippet(_task(messages))
        if len(session.first_replies) < FIRST_REPLIES and (words := snippet(reply)):
            session.first_replies += (words,)
        session.said = spoken(reply)

    def _forget(self) -> None:
        """Several at once, as it looks through all that is remembered."""
        if len(self._sessions) < MOST_SESSIONS + FORGET:
            return
        gone = {self._sessions.popitem(last=False)[0] for _ in range(len(self._sessions) - MOST_SESSIONS)}
        left = {end: [n for n in names if n not in gone] for end, names in self._ends.items()}
        self._ends = {end: names for end, names in left.items() if names}
        self._have = {each: holder for each, holder in self._have.items() if holder not in gone}


_LONG, _BRIEF = b"L", b"s"


def _print(message: Any) -> bytes:
    """What of a message stays the same while a client carries it along: not marks for a cache, nor thoughts."""
    if not isinstance(message, dict):
        return _BRIEF + xxhash.xxh3_128_digest(repr(message).encode())
    content = message.get("content")
    if isinstance(content, list):
        parts = [_plain(part) for part in content]
        content = parts[0]["text"] if len(parts) == 1 and set(parts[0]) == {"type", "text"} else parts
    kept = [message.get("role"), content or None, message.get("tool_calls") or None, message.get("tool_call_id")]
    data = orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
    return (_BRIEF if len(data) < SHORT_BYTES else _LONG) + xxhash.xxh3_128_digest(data)


def _plain(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {"part": part}
    return {name: value for name, value in part.items() if name != "cache_control"}


def _chain(prints: Sequence[bytes]) -> list[bytes]:
    found, state = [], b""
    for each in prints:
        state = xxhash.xxh3_128_digest(state + each)
        found.append(state)
    return found


def _common(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    n = 0
    for a, b in zip(old, new, strict=False):
        if a != b:
            break
        n += 1
    return n


def quoting(messages: Sequence[Any], sessions: Iterable[_Session]) -> _Session | None:
    """The session whose task and one of whose first replies a short request holds: its history, put in words. A
    sub-agent's request holds words of a reply, but not its parent's task."""
    if len(messages) > 3 or not messages:
        return None
    text = "\n".join(texts_of([m for m in messages if not isinstance(m, dict) or m.get("role") != "system"]))
    for session in islice(sessions, MOST_QUOTED):
        if session.task and session.task in text and any(words in text for words in session.first_replies):
            return session
    return None


def asked_for(messages: Sequence[Any], sessions: Iterable[_Session]) -> str:
    """The session whose last reply has a call with this request's task among its arguments; "" for none."""
    text = snippet(_task(messages))
    if not text:
        return ""
    return next((session.name for session in islice(sessions, MOST_QUOTED) if text in session.said), "")


def _task(messages: Sequence[Any]) -> Any:
    return next((m for m in messages if isinstance(m, dict) and m.get("role") == "user"), None)
