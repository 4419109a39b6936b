"""What a streamed reply says, piece by piece while it comes: for clients that act before it has ended.

The record of a reply is made by core/stream.py once it has closed; here nothing is timed or counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from simulator.core.unframe import Unframer

_CHUNK = re.compile(rb"[0-9a-fA-F]+(?:;[^\r\n]*)?\r\n")


@dataclass(slots=True)
class Delta:
    """text: more of the answer. calls: index of a native call -> (more of its name, more of its arguments)."""

    text: str = ""
    calls: dict[int, tuple[str, str]] = field(default_factory=dict)


class Deltas:
    """`feed` what was read from the socket, in chunked coding or not, behind the head."""

    def __init__(self) -> None:
        self._unframer: Unframer | None = None
        self._begun = False
        self._raw, self._rest = b"", b""

    def feed(self, data: bytes) -> Iterator[Delta]:
        if not self._begun:
            self._raw += data
            if b"\r\n" not in self._raw and b":" not in self._raw:
                return  # a size line may still be on its way
            # an event stream begins with a field's name, which is no size line
            self._begun, data = True, self._raw
            self._unframer = Unframer() if _CHUNK.match(data) else None
        body = data if self._unframer is None else self._unframer.feed(data)
        *lines, self._rest = (self._rest + body).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield from _read(line[5:])


def _read(event: bytes) -> Iterator[Delta]:
    """Nothing of an event that is none: the reply's record will say so."""
    try:
        chunk = orjson.loads(event)
        for choice in chunk.get("choices") or ():
            yield _delta(choice.get("delta") or {})
    except (orjson.JSONDecodeError, AttributeError, TypeError, ValueError):
        return


def _delta(delta: Any) -> Delta:
    text = delta.get("content") or ""
    found = Delta(text if isinstance(text, str) else "")
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        name, arguments = found.calls.get(index := int(call.get("index") or 0), ("", ""))
        found.calls[index] = name + (function.get("name") or ""), arguments + (function.get("arguments") or "")
    return found
