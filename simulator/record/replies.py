"""What an engine replied, put together from what passed: one `chat.completion` object, whether it was streamed or not.

Field names stay as the engine had them (`reasoning`, `reasoning_content`); usage is its last one, verbatim.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from simulator.record.exchange import MAX_BYTES

_LINE_END = b"\n"
#: a line of a stream that is longer is none
MOST_LINE = 8 << 20
#: most choices and calls of one reply; an index past it is no reply of ours to keep
MOST_INDEX = 1024


@dataclass(slots=True)
class Told:
    """response: None when nothing readable came. arrivals: for each event with output its time. unread: why something
    is missing, "" when nothing is. chunks: the events, verbatim. done: [DONE] came."""

    response: Any = None
    arrivals_s: list[float] = field(default_factory=list)
    unread: str = ""
    chunks: list[Any] = field(default_factory=list)
    done: bool = False
    streamed: bool = False


def decoded(pieces: Sequence[bytes], encoding: str) -> list[bytes]:
    """Pieces of a body without its content coding. ValueError for one that is not read here, or is broken."""
    if encoding in ("", "identity"):
        return list(pieces)
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ValueError(f"content-encoding {encoding} is not read")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # finds out by itself which of the two it is
    plain, left = [], MAX_BYTES
    for piece in pieces:
        try:
            plain.append(inflate.decompress(piece, left))
        except zlib.error as error:
            raise ValueError(f"content-encoding {encoding}: {error}") from None
        left -= len(plain[-1])
        if left <= 0:
            raise ValueError(f"content-encoding {encoding}: more than {MAX_BYTES >> 20} MiB come out of it")
    return plain


def read_reply(pieces: Sequence[bytes], times_s: Sequence[float], kind: str, encoding: str) -> Told:
    """kind: the media type. times_s: of each piece."""
    told = Told()
    try:
        plain = decoded(pieces, encoding)
    except ValueError as error:
        told.unread = str(error)
        return told
    if kind == "text/event-stream":
        _read_stream(told, plain, times_s)
        return told
    body = b"".join(plain)
    try:
        told.response = orjson.loads(body) if body else None
    except orjson.JSONDecodeError:
        told.unread = "the reply is no JSON"
        told.response = body.decode("utf-8", "replace")
    return told


def _read_stream(told: Told, pieces: Sequence[bytes], times_s: Sequence[float]) -> None:
    """An event has come when its empty line has."""
    told.streamed = True
    merged = _Merged()
    rest, data = b"", list[bytes]()
    for piece, time_s in zip(pieces, times_s, strict=True):
        *lines, rest = (rest + piece).split(_LINE_END)
        for line in map(bytes.strip, lines):
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line:
                _events(told, merged, data, time_s)
                data.clear()
        if len(rest) > MOST_LINE:
            told.unread, rest = told.unread or "a line of the stream is too long", b""
    if rest.startswith(b"data:"):
        data.append(rest[5:].strip())
    if times_s:
        _events(told, merged, data, times_s[-1])
    told.response = merged.response()


def _events(told: Told, merged: _Merged, data: Sequence[bytes], time_s: float) -> None:
    """Several lines before an empty one are several events of a server that leaves those out."""
    for each in data:
        if each == b"[DONE]":
            told.done = True
            continue
        try:
            chunk = orjson.loads(each)
            told.chunks.append(chunk)
            if merged.add(chunk):
                told.arrivals_s.append(time_s)
        except (orjson.JSONDecodeError, TypeError, ValueError, AttributeError, KeyError):
            told.unread = told.unread or "an event of the stream is not readable"


class _Merged:
    """A stream's events as one object."""

    def __init__(self) -> None:
        self._top: dict[str, Any] = {}
        self._choices: dict[int, dict[str, Any]] = {}
        self._texts: list[tuple[dict[str, Any], str, list[str]]] = []  # where each text belongs, and its pieces
        self._places: dict[tuple[int, int, str], list[str]] = {}
        self._usage: Any = None
        self._error: Any = None

    def add(self, chunk: dict[str, Any]) -> bool:
        """Whether the event carried output."""
        for name in ("id", "created", "model", "system_fingerprint"):
            if chunk.get(name) is not None:
                self._top.setdefault(name, chunk[name])
        if chunk.get("usage"):
            self._usage = chunk["usage"]
        if chunk.get("error"):
            self._error = chunk["error"]
        said = False
        for choice in chunk.get("choices") or ():
            said |= self._choice(choice)
        return said

    def _choice(self, choice: dict[str, Any]) -> bool:
        at = _index(choice)
        kept = self._choices.setdefault(at, {"index": at, "finish_reason": None})
        if choice.get("finish_reason"):
            kept["finish_reason"] = choice["finish_reason"]
        if isinstance(choice.get("text"), str):
            return self._text((at, -1, "text"), kept, "text", choice["text"])
        message = kept.setdefault("message", {"role": "assistant", "content": None})
        said = False
        for name, value in (choice.get("delta") or {}).items():
            if name == "tool_calls":
                for call in value or ():
                    said |= self._call(at, message.setdefault("tool_calls", []), call)
            elif name != "role" and isinstance(value, str):
                said |= self._text((at, -1, name), message, name, value)
        return said

    def _text(self, place: tuple[int, int, str], owner: dict[str, Any], name: str, piece: str) -> bool:
        if piece:
            if place not in self._places:
                self._places[place] = []
                self._texts.append((owner, name, self._places[place]))
            self._places[place].append(piece)
        return bool(piece)

    def _call(self, choice: int, calls: list[dict[str, Any]], piece: dict[str, Any]) -> bool:
        at = _index(piece)
        while len(calls) <= at:
            calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call, function = calls[at], piece.get("function") or {}
        call["id"] = call["id"] or str(piece.get("id") or "")
        said = False
        for name in ("name", "arguments"):
            said |= self._text((choice, at, name), call["function"], name, function.get(name) or "")
        return said

    def response(self) -> Any:
        for owner, name, pieces in self._texts:
            owner[name] = "".join(pieces)
        if self._error is not None and not self._choices:
            return {"error": self._error}
        if not self._choices and self._usage is None:
            return None
        choices = [self._choices[at] for at in sorted(self._choices)]
        kind = "text_completion" if any("text" in choice for choice in choices) else "chat.completion"
        found = {**self._top, "object": kind, "choices": choices}
        if self._usage is not None:
            found["usage"] = self._usage
        if self._error is not None:
            found["error"] = self._error
        return found


def _index(part: dict[str, Any]) -> int:
    at = int(part.get("index") or 0)
    if not 0 <= at < MOST_INDEX:
        raise ValueError(f"index {at}")
    return at
