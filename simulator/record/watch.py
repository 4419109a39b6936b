"""Looks on while one connection passes: which request is answered by what, and when. Never changes a byte of a body."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable
from typing import Literal, Protocol

from simulator.record import secrets
from simulator.record.exchange import Exchange
from simulator.record.framing import Framer, Head, Part, read_head
from simulator.record.upstream import Upstream

#: fields that name a session, the first that is there; --session-header comes before them
SESSION_FIELDS = (
    "x-session-id", "session-id", "session_id", "x-session-affinity", "x-opencode-session", "x-claude-code-session-id",
    "x-conversation-id", "conversation-id", "x-litellm-session-id", "helicone-session-id",
)  # fmt: skip
RECORDED = ("/chat/completions", "/completions")
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Recorder(Protocol):
    """Where exchanges go. passed: method and path of what is not recorded, counted. learn: secrets of a request, from
    its head on."""

    passed: Counter[str]
    session_header: str

    def now_s(self) -> float: ...
    def number(self) -> int: ...
    def learn(self, secrets: Iterable[str]) -> None: ...
    def take(self, exchange: Exchange) -> None: ...


class Watch:
    """One connection. whole: requests that have come in to their end. left: who closed a side first."""

    __slots__ = ("_asks", "_first_s", "_open", "_reading", "_recorder", "_replies", "_upstream", "left", "whole")

    def __init__(self, recorder: Recorder, upstream: Upstream) -> None:
        self._recorder, self._upstream = recorder, upstream
        self._asks, self._replies = Framer(replies=False), Framer(replies=True)
        self._open: deque[Exchange | None] = deque()  # asked and not answered; None: not recorded
        self._reading: Exchange | None = None  # whose request is coming in
        self._first_s: float | None = None
        self.left: Literal["", "client", "upstream"] = ""
        self.whole = 0

    def asked(self, data: bytes) -> bytes:
        """Bytes from the client; those that go on to the upstream now."""
        now_s = self._recorder.now_s()
        if self._first_s is None:
            self._first_s = now_s
        return b"".join([self._ask(part, now_s) for part in self._asks.feed(data)])

    def _ask(self, part: Part, now_s: float) -> bytes:
        match part.kind:
            case "head":
                head = read_head(part.wire)
                if head is None:
                    return part.wire
                self._begin(head, now_s)
                return self._upstream.rewrite(part.wire)
            case "body" if self._reading is not None and part.payload:
                self._reading.ask(part.payload)
            case "end":
                if self._reading is not None:
                    self._reading.t_request_s = now_s
                self._reading, self._first_s, self.whole = None, None, self.whole + 1
            case _:
                pass
        return part.wire

    def _begin(self, head: Head, now_s: float) -> None:
        method, target, _ = head.first
        named = (self._recorder.session_header.lower(), *SESSION_FIELDS)
        self._recorder.learn(secrets.of_head(head.pairs, target, named))
        path = secrets.api_path(target)
        self._replies.asked.append(method)
        if method != "POST" or not path.endswith(RECORDED):
            known = method if method in METHODS else "another method"
            self._recorder.passed[f"{known} {path or '(another path)'}"] += 1
            self._open.append(None)
            return
        fields = head.fields
        first_s = now_s if self._first_s is None else self._first_s
        self._reading = Exchange(
            self._recorder.number(), method, path, time.time() - (now_s - first_s), first_s,
            session=next((fields[name] for name in named if fields.get(name)), ""), agent=fields.get("user-agent", ""),
            retry=_count(fields.get("x-stainless-retry-count", "")),
            request_encoding=fields.get("content-encoding", ""),
        )  # fmt: skip
        self._open.append(self._reading)

    def answered(self, data: bytes) -> None:
        """Bytes from the upstream, which are on their way to the client already."""
        now_s = self._recorder.now_s()
        for part in self._replies.feed(data):
            self._answer(part, now_s)

    def _answer(self, part: Part, now_s: float) -> None:
        exchange = self._open[0] if self._open else None
        if part.kind == "end":
            if self._open:
                self._finish(self._open.popleft(), now_s, "")
        elif exchange is None:
            return
        elif part.kind == "head":
            head = read_head(part.wire)
            if head is not None and head.status >= 200:
                exchange.status, exchange.t_head_s = head.status, now_s
                exchange.kind = head.fields.get("content-type", "").partition(";")[0].strip().lower()
                exchange.encoding = head.fields.get("content-encoding", "").lower()
        elif part.kind == "body" and part.payload:
            exchange.answer(part.payload, now_s)

    def _finish(self, exchange: Exchange | None, now_s: float, ended: str) -> None:
        if exchange is not None:
            exchange.t_end_s, exchange.ended = now_s, ended
            self._recorder.take(exchange)

    def client_ended(self) -> bytes:
        """The client has closed its side. What was kept of a head that never became whole goes on now."""
        self.left = self.left or "client"
        return b"".join(part.wire for part in self._asks.close())

    def upstream_ended(self) -> None:
        self.left = self.left or "upstream"
        now_s = self._recorder.now_s()
        for part in self._replies.close():
            self._answer(part, now_s)

    def upstream_broke(self) -> None:
        """A reset: a reply without a length has not reached its end by it."""
        self.left = self.left or "upstream"

    def fail(self) -> None:
        """No upstream: whoever asked gets no reply."""
        self._drain("unreachable")

    def close(self) -> None:
        """The connection is over."""
        blind = self._asks.blind or self._replies.blind
        self._drain("unread" if blind else "client_gone" if self.left == "client" else "cut")

    def _drain(self, ended: str) -> None:
        now_s = self._recorder.now_s()
        while self._open:
            self._finish(self._open.popleft(), now_s, ended)


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 6 else None
