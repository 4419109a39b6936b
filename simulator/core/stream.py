"""A server-sent-event stream, read after it has closed: which chunk carried output, when, and how many tokens.

The rules are those of docs/metrics.md: a chunk carries output when a choice has content, reasoning (under either name),
or a tool call's name or arguments; an empty role chunk does not, nor do the usage chunk and [DONE].
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson

from simulator.core.counts import per_chunk, tok
from simulator.core.plain import Plain, plain

#: tool calls in one reply
MAX_CALLS = 256
#: events of a stream that are tried as a pattern for the next ones
MAX_TRIES = 64
BOM = b"\xef\xbb\xbf"
_PROMPT = re.compile(rb'.*"prompt_tokens":(\d+)', re.DOTALL)
_LINE_END = re.compile(rb"[\r\n]+")


@dataclass(slots=True)
class Reading:
    """times_s: arrival of each output chunk; tokens: tokens in each (server's own count when `source` is
    "continuous", else spread evenly). first_answer_s: first chunk that is not reasoning. finish: finish_reason or "".
    malformed: what could not be parsed, or "". text, reasoning, tool_calls: what was said, joined. server_ttft_s: queue
    and prefill by the engine's own clock, where it sends per-request metrics (vLLM 0.25 and later, if asked to)."""

    times_s: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    first_answer_s: float | None = None
    finish: str = ""
    done: bool = False
    prompt_tok: int | None = None
    cached_tok: int | None = None
    output_tok: int | None = None
    reasoning_tok: int | None = None
    source: str = "none"
    malformed: str = ""
    error: dict[str, Any] | None = None
    server_ttft_s: float | None = None
    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, str]] = field(default_factory=list)


def read_stream(arrivals: Iterable[tuple[float, bytes]]) -> Reading:
    """arrivals: (time, bytes) of each socket read. An event belongs to the read that completed it."""
    reader = StreamReader()
    if reads := list(arrivals):
        reader.feed_all(*zip(*reads, strict=True))
    return reader.finish()


class StreamReader:
    """The same a read at a time, so that a long stream can be read in slices."""

    __slots__ = (
        "_begun", "_last_s", "_matched", "_parts", "_plain", "_raw", "_reading", "_rest", "_running", "_thoughts",
        "_tries",
    )  # fmt: skip

    def __init__(self) -> None:
        self._reading = Reading()
        self._parts: list[str] = []
        self._thoughts: list[str] = []
        self._running: list[int] = []  # completion tokens so far, as each output chunk's usage says; -1, it does not
        self._rest = b""
        self._last_s = 0.0
        self._plain: Plain | None = None
        self._raw: list[bytes] = []  # texts of matched events, as JSON has them
        self._matched = b"", 0  # the last read that was matched, and how far
        self._begun = False  # an event has ended
        self._tries = MAX_TRIES

    def feed_all(self, times_s: Sequence[float], reads: Sequence[bytes]) -> None:
        """As `feed` one after the other. Events that are like the last one, each in a read of its own, cost least."""
        at = 0
        while at < len(reads):
            if self._plain is not None and not self._rest:
                at += self._run(times_s, reads, at, self._plain)
            if at < len(reads):
                self.feed(times_s[at], reads[at])
                at += 1

    def _run(self, times_s: Sequence[float], reads: Sequence[bytes], at: int, plain: Plain) -> int:
        """How many reads from `at` on are one event each like the last one that was parsed; they are read."""
        prefix, match = plain.prefix, plain.rest.fullmatch
        start, texts, counts = len(prefix), self._raw, []
        for data in islice(reads, at, None):
            found = match(data, start) if data.startswith(prefix) else None
            if found is None:
                break
            text, count = found.groups()
            if not text:
                break
            texts.append(text)
            counts.append(count)
        took = len(counts)
        if took:
            self._last_s = times_s[at + took - 1]
            self._reading.times_s += times_s[at : at + took]
            self._running += map(int, counts) if counts[0] else [-1] * took
            self._matched = reads[at + took - 1], len(reads[at + took - 1])
        return took

    def feed(self, time_s: float, data: bytes) -> None:
        self._last_s = time_s
        if self._rest:
            data = self._rest + data
        elif self._plain is not None:
            at = self._match(time_s, data, self._plain)
            if at == len(data):
                return
            data = data[at:]
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        whole, mark, self._rest = data.rpartition(b"\n\n")
        if mark:
            if not self._begun:
                self._begun, whole = True, whole.removeprefix(BOM)
            for line in whole.split(b"\n"):
                if line[:5] == b"data:":
                    self._event(time_s, line[5:])

    def _match(self, time_s: float, data: bytes, plain: Plain) -> int:
        """Reads events that are like the last one that was parsed; how many bytes they were."""
        prefix, match, at = plain.prefix, plain.rest.match, 0
        start = len(prefix)
        while data.startswith(prefix, at):
            found = match(data, at + start)
            if found is None or not found[1]:
                break
            self._raw.append(found[1])
            self._reading.times_s.append(time_s)
            self._running.append(int(found[2]) if found[2] else -1)
            at = found.end()
        if at:
            self._matched = data, at
        return at

    def _settle(self) -> None:
        """What was matched joins what was parsed."""
        raw, self._raw = self._raw, []
        if not raw or self._plain is None:
            return
        joined = _string(raw)
        if joined is None:
            joined = self._without_bad(raw)
        (self._thoughts if self._plain.thought else self._parts).append(joined)
        if self._running and self._running[-1] >= 0:
            self._reading.output_tok = self._running[-1]
        data, end = self._matched
        if (told := _PROMPT.match(data, 0, end)) is not None:
            self._reading.prompt_tok = int(told[1])

    def _without_bad(self, raw: list[bytes]) -> str:
        """Of matched texts one at least is no JSON string: its event is left out, as if it had been parsed."""
        reading, running = self._reading, self._running
        texts = [_string([each]) for each in raw]
        bad = next(each for each, text in zip(raw, texts, strict=True) if text is None)
        self._bad(bad)
        good = [n for n, text in enumerate(texts, len(running) - len(raw)) if text is not None]
        reading.times_s[-len(raw) :] = [reading.times_s[n] for n in good]
        running[-len(raw) :] = [running[n] for n in good]
        return "".join(text for text in texts if text is not None)

    def finish(self) -> Reading:
        """The stream has closed. A last event without its empty line still counts when it is whole."""
        rest = (self._rest if self._begun else self._rest.removeprefix(BOM)).strip()
        if not self._begun and sum(line.startswith(b"data:") for line in _LINE_END.split(rest)) > 1:
            # whole events that nothing could tell from one another when they came have no times
            self._bad(b"no empty line (LF LF) between events: " + rest)
        else:
            for line in rest.split(b"\n"):
                if line.startswith(b"data:") and line.endswith((b"}", b"[DONE]")):
                    self._event(self._last_s, line[5:])
        self._rest = b""
        self._settle()
        reading = self._reading
        reading.text, reading.reasoning = "".join(self._parts), "".join(self._thoughts)
        reading.output_tok, reading.tokens, reading.source = per_chunk(reading.output_tok, self._running)
        return reading

    def _event(self, time_s: float, data: bytes) -> None:
        """Whatever a server may send in place of an event is at worst `malformed`."""
        self._settle()
        try:
            self._read_event(time_s, data)
        except (TypeError, ValueError, AttributeError, KeyError, OverflowError):
            self._bad(data)

    def _bad(self, data: bytes) -> None:
        """The first of what could not be read is kept."""
        self._reading.malformed = self._reading.malformed or data.strip()[:80].decode("utf-8", "replace")

    def _read_event(self, time_s: float, data: bytes) -> None:
        reading = self._reading
        try:
            chunk = orjson.loads(data)
            choices = chunk.get("choices") or ()
        except (orjson.JSONDecodeError, AttributeError):
            if data.strip() == b"[DONE]":
                reading.done = True
            else:
                self._bad(data)
            return
        if chunk.get("error"):
            error = chunk["error"]
            reading.error = error if isinstance(error, dict) else {"message": str(error)}
            return
        if chunk.get("metrics"):
            reading.server_ttft_s = _server_ttft_s(chunk["metrics"])
        usage = chunk.get("usage")
        carried = False
        for choice in choices:
            carried |= _choice(reading, time_s, choice, self._parts, self._thoughts)
        used: int | None = -1
        if usage:
            _usage(reading, usage)
            used = reading.output_tok if usage.get("completion_tokens") is not None else -1
        if carried:
            reading.times_s.append(time_s)
            self._running.append(-1 if used is None else used)
            if self._tries:
                self._tries -= 1
                self._plain = plain(b"data:" + data, chunk)


def _choice(reading: Reading, time_s: float, choice: dict[str, Any], parts: list[str], thoughts: list[str]) -> bool:
    """Whether this choice carries output. /v1/completions has `text`, chat has `delta`."""
    if choice.get("finish_reason"):
        reading.finish = str(choice["finish_reason"])
    delta = choice.get("delta") or {}
    text = choice.get("text") or delta.get("content") or ""
    thought = delta.get("reasoning_content") or delta.get("reasoning") or ""
    if not isinstance(text, str) or not isinstance(thought, str):
        raise TypeError("text that is none")
    called = False
    for call in delta.get("tool_calls") or ():
        called |= _call(reading, call)
    if thought:
        thoughts.append(thought)
    if text:
        parts.append(text)
    if (text or called) and reading.first_answer_s is None:
        reading.first_answer_s = time_s
    return bool(text or thought or called)


def _call(reading: Reading, call: dict[str, Any]) -> bool:
    function = call.get("function") or {}
    name, arguments = function.get("name") or "", function.get("arguments") or ""
    index = int(call.get("index") or 0)
    if not 0 <= index < MAX_CALLS:
        raise ValueError(f"tool call number {index}")
    while len(reading.tool_calls) <= index:
        reading.tool_calls.append({"id": "", "name": "", "arguments": ""})
    entry = reading.tool_calls[index]
    entry["id"] = entry["id"] or str(call.get("id") or "")
    entry["name"] += name
    entry["arguments"] += arguments
    return bool(name or arguments)


def _usage(reading: Reading, usage: dict[str, Any]) -> None:
    reading.prompt_tok = tok(usage.get("prompt_tokens"), reading.prompt_tok)
    reading.output_tok = tok(usage.get("completion_tokens"), reading.output_tok)
    details = usage.get("prompt_tokens_details") or {}
    if details.get("cached_tokens") is not None:
        reading.cached_tok = tok(details["cached_tokens"], None)
    details = usage.get("completion_tokens_details") or {}
    if details.get("reasoning_tokens") is not None:
        reading.reasoning_tok = tok(details["reasoning_tokens"], None)


def _server_ttft_s(metrics: Any) -> float | None:
    """vLLM counts its time to first token from scheduling on, so the time in its queue is added. Another shape, or no
    such figures, is None: they are an extra, and no reply is malformed for the want of them."""
    if not isinstance(metrics, dict):
        return None
    total_ms = 0.0
    for name in ("queue_time_ms", "time_to_first_token_ms"):
        part = metrics.get(name)
        if isinstance(part, bool) or not isinstance(part, (int, float)) or not part >= 0:
            return None
        total_ms += part
    return total_ms / 1e3


def _string(raw: list[bytes]) -> str | None:
    try:
        text = orjson.loads(b'"' + b"".join(raw) + b'"')
    except orjson.JSONDecodeError:
        return None
    return text if isinstance(text, str) else None
