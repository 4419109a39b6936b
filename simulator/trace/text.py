"""Other programs' JSON, read piece by piece: a file of any size costs the memory of its largest piece.

A line of JSON Lines is a piece; of a whole JSON document each member of its outermost object is one, and each element
where such a member, or the document itself, is an array.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Any

import orjson

MAX_ITEM_BYTES = 64 << 20
#: what the JSON parser takes
MAX_DEPTH = 1_000
TOO_DEEP = f"its JSON is nested deeper than {MAX_DEPTH:,} levels"
_CHUNK = 1 << 20
_MARKS = re.compile(rb'["\[\]{},]')
_STRING_END = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_LONE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class Bad(Exception):
    """Why a piece, or a file from there on, cannot be read; a clause without a full stop."""


def parsed(raw: bytes) -> Any:
    """The value of a piece. Half a surrogate pair, which clients write where they cut a text, becomes U+FFFD. Bad."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        fault = str(error)
    if "surrogate" in fault or b"\\ud" in raw or b"\\uD" in raw:
        mended = _LONE.sub(lambda m: m[0] if len(m[0]) == 12 else b"\\ufffd", raw)
        try:
            return orjson.loads(mended)
        except orjson.JSONDecodeError as error:
            fault = str(error)
    raise Bad(_why(raw, fault))


def _why(raw: bytes, fault: str) -> str:
    if "recursion" in fault.lower() or "depth" in fault.lower():
        return TOO_DEEP
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 (byte {error.start})"
    if re.search(rb"\b(NaN|-?Infinity)\b", raw):
        return "it holds NaN or Infinity, which JSON does not have"
    return f"it is not JSON ({fault.partition(':')[0]})"


def encoding_fault(head: bytes) -> str:
    """Why a file that begins with `head` is no text of ours; "" when nothing speaks against it."""
    if head[:2] in _BOMS:
        return f"it is {_BOMS[head[:2]]} text; convert it to UTF-8"
    if b"\x00" in head[:4096]:
        return "it is binary"
    return ""


def json_lines(file: IO[bytes], start: int = 1) -> Iterator[tuple[int, bytes | Bad]]:
    """Number and bytes of each line that is not blank; Bad for one that is too long, and on with the next."""
    number = start - 1
    while True:
        raw = file.readline(MAX_ITEM_BYTES)
        if not raw:
            return
        number += 1
        if len(raw) >= MAX_ITEM_BYTES and not raw.endswith(b"\n"):
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(_CHUNK)
            yield number, Bad(f"the line is longer than {MAX_ITEM_BYTES >> 20} MiB")
            continue
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if raw.strip():
            yield number, raw


def rows(path: Path) -> Iterator[tuple[int, Any | Bad]]:
    """Number and value of each line of a JSON Lines file; Bad in place of a line that cannot be read."""
    with path.open("rb") as file:
        for number, raw in json_lines(file):
            if isinstance(raw, Bad):
                yield number, raw
                continue
            try:
                yield number, parsed(raw)
            except Bad as why:
                yield number, why


def members(path: Path, skip: frozenset[str] = frozenset()) -> Generator[tuple[str, Any], None, None]:
    """(key, value) of each member of the document's outermost object, (key, element) for one that is an array, each
    time; ("", element) where the document is an array. skip: keys whose values are not wanted. Bad where it breaks
    off or is no JSON."""
    with path.open("rb") as file:
        yield from _Pieces(file, skip).run()


class _Pieces:
    """Splits a document at its outermost commas without parsing it. `path`: the open brackets."""

    def __init__(self, file: IO[bytes], skip: frozenset[str]) -> None:
        self._file, self._skip = file, skip
        self._buffer = b""
        self._at = 0
        self._ended = False

    def run(self) -> Iterator[tuple[str, Any]]:
        first = self._next_byte()
        if first == b"[":
            yield from self._array("")
        elif first == b"{":
            yield from self._object()
        else:
            raise Bad("it is empty" if not first else "it is no JSON object or array")
        if self._next_byte():
            raise Bad("something follows the end of its JSON")

    def _object(self) -> Iterator[tuple[str, Any]]:
        if self._peek() == b"}":
            self._next_byte()
            return
        while True:
            if self._next_byte() != b'"':
                raise Bad(self._broken())
            key = str(parsed(b'"' + self._string()))
            if self._next_byte() != b":":
                raise Bad(self._broken())
            if self._peek() == b"[":
                self._next_byte()
                yield from self._array(key)
            else:
                raw = self._value(keep=key not in self._skip)
                if raw is not None:
                    yield key, parsed(raw)
            end = self._next_byte()
            if end == b"}":
                return
            if end != b",":
                raise Bad(self._broken())

    def _array(self, key: str) -> Iterator[tuple[str, Any]]:
        if self._peek() == b"]":
            self._next_byte()
            return
        while True:
            raw = self._value(keep=key not in self._skip)
            if raw is not None:
                yield key, parsed(raw)
            end = self._next_byte()
            if end == b"]":
                return
            if end != b",":
                raise Bad(self._broken())

    def _broken(self) -> str:
        return "it ends early" if self._ended and self._at >= len(self._buffer) else "it is not JSON"

    def _fill(self) -> bool:
        chunk = b"" if self._ended else self._file.read(max(_CHUNK, len(self._buffer) - self._at))
        if not chunk:
            self._ended = True
            return False
        if not self._buffer and not self._at:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")
        self._buffer = self._buffer[self._at :] + chunk
        self._at = 0
        return True

    def _peek(self) -> bytes:
        while True:
            while self._at < len(self._buffer):
                byte = self._buffer[self._at : self._at + 1]
                if not byte.isspace():
                    return byte
                self._at += 1
            if not self._fill():
                return b""

    def _next_byte(self) -> bytes:
        byte = self._peek()
        self._at += len(byte)
        return byte

    def _string(self) -> bytes:
        """From after the opening quote to the closing one, which is included."""
        while True:
            found = _STRING_END.match(self._buffer, self._at)
            if found:
                raw = found[0]
                self._at = found.end()
                return raw
            if len(self._buffer) - self._at > MAX_ITEM_BYTES:
                raise Bad(_too_long())
            if not self._fill():
                raise Bad("it ends early, inside a string")

    def _value(self, *, keep: bool) -> bytes | None:
        """A value's bytes up to the comma or bracket that ends it; None when they are not kept."""
        out: list[bytes] = []
        size = depth = 0
        self._peek()
        while True:
            found = _MARKS.search(self._buffer, self._at)
            if found is None:
                piece, self._at = self._buffer[self._at :], len(self._buffer)
            elif found[0] == b'"':
                piece = self._buffer[self._at : found.end()]
                self._at = found.end()
                piece += self._string()
            else:
                mark = found[0]
                if not depth and mark in b",]}":
                    piece, self._at = self._buffer[self._at : found.start()], found.start()
                else:
                    piece, self._at = self._buffer[self._at : found.end()], found.end()
                    depth += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
                    if depth > MAX_DEPTH:
                        raise Bad(TOO_DEEP)
            size += len(piece)
            if keep:
                out.append(piece)
                if size > MAX_ITEM_BYTES:
                    raise Bad(_too_long())
            if found is None:
                if not self._fill():
                    raise Bad("it ends early")
            elif not depth and found[0] in b",]}" and self._at == found.start():
                return b"".join(out) if keep else None


def _too_long() -> str:
    return f"one piece of it is longer than {MAX_ITEM_BYTES >> 20} MiB"


def compact(value: Any) -> str:
    """JSON of a value that came from JSON, without blanks."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # nested deeper than orjson writes
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
