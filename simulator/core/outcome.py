"""What became of a request: from status, stream and failure to one outcome, one error kind, one short sentence."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import orjson

from simulator.core.event import Reading
from simulator.core.stream import BOM

#: what a client may object to in a reply that came whole (outcome "ok"), the only values of Request.defect besides ""
DEFECTS = (
    "length",  # ended by its length limit before the planned length
    "reasoning_only",  # thought, and said nothing
    "bad_arguments",  # a tool call whose arguments are no JSON object
    "unknown_tool",  # a call of a tool that the request did not offer
    "call_in_text",  # a tool call left in the text by the server's parser
)
#: finish reasons of a reply that its engine did not bring to an end, however much of it came
BROKEN_OFF = ("abort", "error")
#: of a call that a server's parser left in the text
CALL_MARKS = ("<tool_call>", "<function=", "<|tool_call", "[TOOL_CALLS]")

_OVERFLOW = re.compile(
    r"maximum context length|context_length_exceeded|longer than the maximum model length|max_model_len|"
    r"exceeds? the (?:model'?s )?(?:maximum )?context",
    re.IGNORECASE,
)
_SECRET = re.compile(r"(?i)(bearer\s+|sk-|api[_-]?key[\"'=:\s]+)[A-Za-z0-9._\-]{6,}")


def classify(
    status: int,
    failure: str,
    detail: str,
    error_body: bytes,
    reading: Reading,
    began: bytes = b"",
    *,
    stopped: bool = False,
) -> tuple[str, str, str]:
    """(outcome, error, detail) as core/record.Request wants them. failure: "" | "refused" | "timeout" | "cut" |
    "cancelled", as the transport saw it. detail: its words, or where a redirect leads. began: the first bytes of the
    body. stopped: the client closed the stream itself, having seen what it wanted."""
    if failure == "cancelled":
        return "cancelled", "cancelled", detail
    if status >= 400:
        message = error_message(error_body)
        return "failed", _status_error(status, message), f"HTTP {status}: {message}"[:300]
    if failure:
        return "failed", failure, detail
    if status >= 300 or status in (204, 205):
        return "failed", "bad_request", _no_reply(status, detail)
    if reading.error is not None:
        message = _words(reading.error)
        kind = "context_overflow" if _OVERFLOW.search(message) else "server_error"
        return "failed", kind, f"error inside the stream: {message}"[:300]
    if reading.finish in BROKEN_OFF:
        return "failed", "server_error", f"the engine broke the reply off: finish_reason {reading.finish}"
    if reading.malformed:
        return "failed", "malformed", f"not server-sent JSON: {clean(reading.malformed)}"
    if stopped and reading.times_s:
        return "ok", "", ""
    if not reading.finish and not reading.times_s and (other := _no_stream(began)):
        return other
    if not reading.finish:
        return "failed", "cut", "the stream ended without a finish reason"
    if not reading.times_s:
        return "failed", "empty", f"no output before finish_reason {reading.finish}"
    return "ok", "", ""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a replay expects of a reply. exact_tok: its forced length, None when the engine chose it. tools: names that
    the request offered; empty where tools travel in the text."""

    exact_tok: int | None
    tools: Set[str] = frozenset()


def defect(reading: Reading, expected: Expected) -> str:
    """One of DEFECTS, or "" for a reply that stands for the recorded one. For outcome "ok" alone.

    With forced lengths a reply's words mean nothing, and it may end anywhere, in the middle of a call as well: whatever
    has the planned length is the recorded reply. Only a shorter one is looked at.
    """
    if expected.exact_tok is not None and _is_as_long(reading, expected.exact_tok):
        return ""
    if any(not _is_object(call["arguments"]) for call in reading.tool_calls):
        return "bad_arguments"
    if any(call["name"] not in expected.tools for call in reading.tool_calls):
        return "unknown_tool"
    if not reading.text and not reading.tool_calls:
        return "reasoning_only"
    if reading.finish == "length" and not reading.tool_calls:
        return "length"
    if not reading.tool_calls and any(mark in reading.text for mark in CALL_MARKS):
        return "call_in_text"
    return ""


def _is_as_long(reading: Reading, planned_tok: int) -> bool:
    """A count of our own may differ from the engine's, so half is enough for it; usage below the chunks is no count."""
    told = max(reading.output_tok or 0, len(reading.times_s))
    return told >= planned_tok if reading.source in ("usage", "continuous") else 2 * told >= planned_tok


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(orjson.loads(arguments or "{}"), dict)
    except orjson.JSONDecodeError:
        return False


def error_message(body: bytes) -> str:
    """The server's own words out of an error body in any of the usual shapes, without secrets or control characters."""
    try:
        data: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return clean(body.decode("utf-8", "replace")) or "no message"
    return _words(data)


def _words(data: Any) -> str:
    for key in ("error", "message", "detail"):
        if isinstance(data, dict) and data.get(key):
            data = data[key]
    return clean(data if isinstance(data, str) else orjson.dumps(data).decode())


def clean(text: str) -> str:
    """Printable, one line, keys masked, at most 240 characters."""
    some = text.lstrip()[:4096]  # of a long body, no more needs to be looked at
    flat = " ".join("".join(c if c.isprintable() else " " for c in some).split())
    return _SECRET.sub(lambda m: m.group(1) + "***", flat)[:240]


def _no_stream(began: bytes) -> tuple[str, str, str] | None:
    """What a body is that came with a good status and is no event stream; None when it may be one."""
    head = began.removeprefix(BOM).lstrip()
    if not head or head.startswith((b"data:", b":", b"event:", b"id:", b"retry:")):
        return None
    if head.startswith(b"\x1f\x8b"):
        said = "a gzip-compressed body, which nobody asked for"
    elif head.startswith((b"{", b"[")):
        said = f"one JSON document: {clean(head.decode('utf-8', 'replace'))}"
    elif head.startswith(b"<"):
        said = f"an HTML or XML page: {clean(head.decode('utf-8', 'replace'))}"
    else:
        said = f"something else: {clean(head.decode('utf-8', 'replace'))}"
    kind = "server_error" if head.startswith(b'{"error"') else "malformed"
    return "failed", kind, f"HTTP 200, but instead of an event stream came {said}"[:300]


def _no_reply(status: int, location: str) -> str:
    """A status that is no error and brings no event stream."""
    if not location:
        return f"HTTP {status}, a status that brings no event stream"
    return f"HTTP {status}, a redirect to {clean(location)}, which is not followed: name that server instead"[:300]


def _status_error(status: int, message: str) -> str:
    if status in (401, 403):
        return "auth"
    if status == 429:
        return "rate_limited"
    if status in (400, 413, 422) and _OVERFLOW.search(message):
        return "context_overflow"
    return "server_error" if status >= 500 else "bad_request"
