"""HTTP/1.1 framing (RFC 9112), one direction of one connection at a time: where a message's head, body and end are.

Nothing is corrected or refused here. What cannot be followed makes the rest of the connection `blind`: its bytes are
handed on, and nobody looks at them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MAX_HEAD_BYTES = 256 << 10
_MAX_LINE_BYTES = 4096

Kind = Literal["head", "body", "end", "blind"]


@dataclass(frozen=True, slots=True)
class Head:
    """first: the request or status line's three words (the reason may hold spaces). pairs: all fields, names in lower
    case; fields: of several with one name the last."""

    first: tuple[str, str, str]
    fields: Mapping[str, str]
    pairs: tuple[tuple[str, str], ...]

    @property
    def status(self) -> int:
        """Of a reply; 0 when its line is none."""
        return int(self.first[1]) if self.first[1].isdecimal() else 0


@dataclass(frozen=True, slots=True)
class Part:
    """wire: the bytes as they came; payload: a body's own bytes among them, without chunk marks. The wires of all parts
    are the bytes fed."""

    kind: Kind
    wire: bytes = b""
    payload: bytes = b""


def read_head(wire: bytes) -> Head | None:
    """None when it is no HTTP/1 head."""
    lines = wire.decode("latin-1").strip("\r\n").split("\n")
    words = lines[0].rstrip("\r").split(" ", 2)
    if len(words) < 2 or not any(word.startswith("HTTP/1.") for word in (words[0], words[-1])):
        return None
    pairs = []
    for line in lines[1:]:
        name, mark, value = line.partition(":")
        if not mark or not name.strip():
            return None
        pairs.append((name.strip().lower(), value.strip()))
    first = (words[0], words[1], words[2].rstrip("\r") if len(words) > 2 else "")
    return Head(first, dict(pairs), tuple(pairs))


class Framer:
    """`feed` what a socket read; get its parts. For replies, `asked` must hold the methods of the requests that are
    still to be answered, oldest first: a reply to HEAD has no body."""

    __slots__ = ("_chunk_left", "_left", "_rest", "_state", "asked", "replies")

    def __init__(self, *, replies: bool) -> None:
        self.replies = replies
        self.asked: list[str] = []
        self._state = "head"  # head | length | size | chunk | chunk_end | trailer | close | blind
        self._rest = b""  # of a head or line that is not whole yet
        self._left = 0
        self._chunk_left = 0

    @property
    def blind(self) -> bool:
        return self._state == "blind"

    @property
    def idle(self) -> bool:
        """Between two messages."""
        return self._state == "head" and not self._rest

    def feed(self, data: bytes) -> list[Part]:
        if self._state == "size" and not self._rest and (part := _whole_chunk(data)) is not None:
            return [part]  # what nearly every read of a stream is
        parts: list[Part] = []
        data, self._rest = self._rest + data, b""
        at = 0
        while at < len(data):
            before = at
            at = self._step(data, at, parts)
            if at == before:  # more is needed
                self._rest = data[at:]
                if len(self._rest) > (MAX_HEAD_BYTES if self._state == "head" else _MAX_LINE_BYTES):
                    self._give_up(parts)
                break
        return parts

    def close(self) -> list[Part]:
        """The connection has ended: a body that ends with it is whole; what no part has had yet is handed out."""
        rest, self._rest = self._rest, b""
        parts = [Part("blind", rest)] if rest else []
        if self._state == "close":
            self._state = "head"
            parts.append(Part("end"))
        return parts

    def _give_up(self, parts: list[Part]) -> None:
        self._state = "blind"
        if self._rest:
            parts.append(Part("blind", self._rest))
            self._rest = b""

    def _step(self, data: bytes, at: int, parts: list[Part]) -> int:
        """Reads one thing from `at` on; where the next begins, `at` itself when it is not whole yet."""
        match self._state:
            case "head":
                return self._head(data, at, parts)
            case "length":
                piece = data[at : at + self._left]
                self._left -= len(piece)
                parts.append(Part("body", piece, piece))
                if not self._left:
                    self._end(parts)
                return at + len(piece)
            case "chunk":
                piece = data[at : at + self._chunk_left]
                self._chunk_left -= len(piece)
                parts.append(Part("body", piece, piece))
                if not self._chunk_left:
                    self._state = "chunk_end"
                return at + len(piece)
            case "close":
                parts.append(Part("body", data[at:], data[at:]))
            case "blind":
                parts.append(Part("blind", data[at:]))
            case _:
                return self._line(data, at, parts)
        return len(data)

    def _line(self, data: bytes, at: int, parts: list[Part]) -> int:
        """A line of the chunked coding."""
        mark = data.find(b"\n", at)
        if mark < 0:
            return at
        wire, line = data[at : mark + 1], data[at:mark].strip()
        parts.append(Part("body", wire))
        if self._state == "chunk_end":
            self._state = "size"
            if line:
                self._give_up(parts)
        elif self._state == "trailer":
            if not line:
                self._end(parts)
        else:
            size = line.partition(b";")[0].strip()
            try:
                self._chunk_left = int(size, 16)
            except ValueError:
                self._chunk_left = -1
            if self._chunk_left < 0:
                self._give_up(parts)
            else:
                self._state = "chunk" if self._chunk_left else "trailer"
        return mark + 1

    def _head(self, data: bytes, at: int, parts: list[Part]) -> int:
        ends = [data.find(mark, at) + len(mark) for mark in (b"\r\n\r\n", b"\n\n") if data.find(mark, at) >= 0]
        if not ends:
            return at
        wire = data[at : min(ends)]
        if not wire.strip():  # empty lines before a request are allowed
            parts.append(Part("body", wire))
            return at + len(wire)
        parts.append(Part("head", wire))
        head = read_head(wire)
        if head is None:
            self._give_up(parts)
        elif self.replies:
            self._reply_body(head, parts)
        else:
            self._request_body(head, parts)
        return at + len(wire)

    def _request_body(self, head: Head, parts: list[Part]) -> None:
        if head.first[0] == "CONNECT":
            self._give_up(parts)
        elif not self._framed(head, parts):
            self._end(parts)

    def _reply_body(self, head: Head, parts: list[Part]) -> None:
        if head.status == 101:
            self._give_up(parts)
        elif head.status >= 200:  # what is below announces another head
            method = self.asked.pop(0) if self.asked else ""
            if method == "HEAD" or head.status in (204, 304):
                self._end(parts)
            elif not self._framed(head, parts):
                self._state = "close"

    def _framed(self, head: Head, parts: list[Part]) -> bool:
        """Whether the head says where its body ends."""
        coding, length = head.fields.get("transfer-encoding", "").lower(), head.fields.get("content-length", "")
        if coding:
            if coding.rpartition(",")[2].strip() != "chunked":
                return False
            self._state = "size"
        elif length:
            if not length.isdecimal():
                self._give_up(parts)
                return True
            self._left = int(length)
            self._state = "length"
            if not self._left:
                self._end(parts)
        else:
            return False
        return True

    def _end(self, parts: list[Part]) -> None:
        self._state = "head"
        parts.append(Part("end"))


def _whole_chunk(data: bytes) -> Part | None:
    """A read that is one whole chunk and not the last one of its body; None when it is anything else."""
    mark = data.find(b"\r\n", 0, 10)
    if mark <= 0:
        return None
    try:
        size = int(data[:mark], 16)
    except ValueError:
        return None
    if size <= 0 or len(data) != mark + size + 4 or data[-2:] != b"\r\n":
        return None
    return Part("body", data, data[mark + 2 : -2])
