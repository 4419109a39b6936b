"""A server-sent-event stream, read after it has closed: which chunk carried output, when, and how many tokens.
What an event says is core/event.py's to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

import orjson

from simulator.core.counts import per_chunk
from simulator.core.event import Reading, choice_of, error_event, error_of, server_ttft_s, usage_of
from simulator.core.plain import Plain, plain

#: events of a stream that are tried as a pattern for the next ones
MAX_TRIES = 64
BOM = b"\xef\xbb\xbf"
_PROMPT = re.compile(rb'.*"prompt_tokens":(\d+)', re.DOTALL)
_LINE_END = re.compile(rb"[\r\n]+")


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
            self._lines(time_s, whole.split(b"\n"))

    def _lines(self, time_s: float, lines: Iterable[bytes], *, torn: bool = False) -> None:
        """What an event is named counts only where it is `error`. torn: JSON may end in its middle and is left out."""
        kind = b""
        for line in lines:
            if line[:5] == b"data:":
                if kind == b"error":
                    self._reading.error = self._reading.error or error_event(line[5:])
                elif not torn or line.endswith((b"}", b"[DONE]")):
                    self._event(time_s, line[5:])
            elif line[:6] == b"event:":
                kind = line[6:].strip()
            elif not line:
                kind = b""

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
            self._lines(self._last_s, rest.split(b"\n"), torn=True)
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
        if (not choices or "error" in chunk) and (error := error_of(chunk)) is not None:
            reading.error = reading.error or error
            return
        if not reading.model and isinstance(named := chunk.get("model"), str):
            reading.model = named
        if chunk.get("metrics"):
            reading.server_ttft_s = server_ttft_s(chunk["metrics"])
        usage = chunk.get("usage")
        carried = False
        for choice in choices:
            carried |= choice_of(reading, time_s, choice, self._parts, self._thoughts)
        used: int | None = -1
        if usage:
            usage_of(reading, usage)
            used = reading.output_tok if usage.get("completion_tokens") is not None else -1
        if carried:
            reading.times_s.append(time_s)
            self._running.append(-1 if used is None else used)
            if self._tries:
                self._tries -= 1
                self._plain = plain(b"data:" + data, chunk)


def _string(raw: list[bytes]) -> str | None:
    try:
        text = orjson.loads(b'"' + b"".join(raw) + b'"')
    except orjson.JSONDecodeError:
        return None
    return text if isinstance(text, str) else None
