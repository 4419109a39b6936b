"""One request and its reply as they passed, on the way from the process that passes them on to the one that writes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

#: a request or a reply larger than this passes, and is not written whole
MAX_BYTES = 64 << 20
_SIZES = struct.Struct(">QQQ")


@dataclass(slots=True)
class Exchange:
    """Times are seconds on the recorder's clock, from its start; ts is the wall clock's second (Unix) of `t_s`.

    t_s: a request's first byte came; t_request_s: its last one; t_head_s: the reply's head; t_end_s: the reply's last
    byte. ended: how the reply ended, "" (whole) | "cut" (the upstream closed in mid-reply) | "client_gone" |
    "unreachable" | "unread" (not followed). path: its known end. session, agent: as the head has them. secrets: what
    was learned since the exchange before and must not be written. body: of the request; pieces: the reply's body as it
    was read, a time each in times_s. dropped: bytes past MAX_BYTES."""

    number: int
    method: str
    path: str
    ts: float
    t_s: float
    session: str = ""
    agent: str = ""
    retry: int | None = None
    secrets: tuple[str, ...] = ()
    t_request_s: float | None = None
    t_head_s: float | None = None
    t_end_s: float | None = None
    status: int = 0
    kind: str = ""
    encoding: str = ""
    request_encoding: str = ""
    ended: str = ""
    dropped: int = 0
    body: list[bytes] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    size: int = 0

    def ask(self, payload: bytes) -> None:
        if self._fits(payload):
            self.body.append(payload)

    def answer(self, payload: bytes, now_s: float) -> None:
        if self._fits(payload):
            self.pieces.append(payload)
            self.times_s.append(now_s)

    def _fits(self, payload: bytes) -> bool:
        self.size += len(payload)
        if self.size > MAX_BYTES:
            self.dropped += len(payload)
            return False
        return True


_BULK = ("body", "pieces")


def pack(exchange: Exchange) -> bytes:
    """For unpack: three lengths, then the small things as JSON, the request's body and the reply's pieces."""
    # asdict would copy the pieces
    small: dict[str, Any] = {
        name: getattr(exchange, name) for name in Exchange.__dataclass_fields__ if name not in _BULK
    }
    head = orjson.dumps({**small, "lengths": [len(piece) for piece in exchange.pieces]})
    body, reply = b"".join(exchange.body), b"".join(exchange.pieces)
    return b"".join((_SIZES.pack(len(head), len(body), len(reply)), head, body, reply))


def sizes(start: bytes) -> tuple[int, int, int]:
    head, body, reply = _SIZES.unpack(start)
    return head, body, reply


SIZES_BYTES = _SIZES.size


def unpack(head: bytes, body: bytes, reply: bytes) -> Exchange:
    small = orjson.loads(head)
    lengths: Sequence[int] = small.pop("lengths")
    pieces, at = [], 0
    for length in lengths:
        pieces.append(reply[at : at + length])
        at += length
    small["secrets"] = tuple(small["secrets"])
    return Exchange(**small, body=[body], pieces=pieces)
