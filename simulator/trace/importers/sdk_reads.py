"""What the SDK client makes of reads that a later one shows again: once enough bytes can be won, all of them get a note
in the text's place. It does so when it sends, so that its files still hold the texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from simulator.cline.sdk.results import OUTDATED
from simulator.cline.sdk.window import STALE_BYTES, covers
from simulator.trace import messages as wire
from simulator.trace.messages import Message
from simulator.trace.text import compact

TOOL = "read_files"
Span = tuple[int | None, int | None]


@dataclass(slots=True)
class _Read:
    """A file's text in a result. at: place of the message in the prompt; row: of the text in it."""

    path: str
    span: Span
    at: int
    row: int
    size: int
    stale: bool = False


@dataclass(slots=True)
class Reads:
    """One session's. `asked` and `answered` in the order of the history, `prompt` before each request."""

    _calls: dict[str, list[tuple[str, Span]]] = field(default_factory=dict)
    _reads: list[_Read] = field(default_factory=list)

    def asked(self, given: Iterable[dict[str, Any]]) -> None:
        """Of an assistant's message."""
        for block in given:
            if block.get("type") == "tool_use" and block.get("name") == TOOL:
                files = wire.items(wire.mapping(block.get("input")).get("files"))
                named = [wire.mapping(each) for each in files]
                self._calls[str(block.get("id") or "")] = [(str(each.get("path")), _span(each)) for each in named]

    def answered(self, message: Message, at: int) -> None:
        """A tool's message at a place of the prompt, as it is sent."""
        files = self._calls.get(str(message.get("tool_call_id")), [])
        rows = _rows(message)
        if len(rows) != len(files):
            return
        for n, ((path, span), row) in enumerate(zip(files, rows, strict=True)):
            text = row.get("result")
            if not row.get("success") or not isinstance(text, str):
                continue
            for old in self._reads:
                if old.path == path and not old.stale and covers(span, old.span):
                    old.stale = True
            self._reads.append(_Read(path, span, at, n, len(text.encode())))

    def prompt(self, messages: list[Message]) -> list[Message]:
        """The messages as they are sent now."""
        waiting = [read for read in self._reads if read.stale]
        if sum(read.size - len(OUTDATED) for read in waiting) < STALE_BYTES:
            return messages
        out = list(messages)
        for read in waiting:
            rows = _rows(out[read.at])
            rows[read.row] = {**rows[read.row], "result": OUTDATED}
            out[read.at] = wire.tool_result(out[read.at]["tool_call_id"], compact(rows))
        self._reads = [read for read in self._reads if not read.stale]
        return out


def _rows(message: Message) -> list[dict[str, Any]]:
    """The rows of a result; none where it is no list of objects."""
    content = message.get("content")
    if not isinstance(content, str) or not content.startswith("["):
        return []
    try:
        rows = orjson.loads(content)
    except orjson.JSONDecodeError:
        return []
    return rows if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else []


def _span(file: dict[str, Any]) -> Span:
    start, end = (file.get(key) for key in ("start_line", "end_line"))
    return (start if isinstance(start, int) else None, end if isinstance(end, int) else None)
