"""Matching an event against the last one gives what parsing it gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.event import Reading
from simulator.core.plain import plain
from simulator.core.stream import StreamReader, read_stream

Said = tuple[str, str]  # ("text" | "content" | "reasoning" | "reasoning_content", what)
TEXTS = st.one_of(st.text(max_size=6), st.sampled_from(['"', "\\", "\n", "\\n", "é", "💡", "}", '"}],"usage":{', ""]))


def events(said: Sequence[Said], usage: str, prompt_tok: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for n, (name, text) in enumerate(said, 1):
        body: dict[str, Any] = {"text": text} if name == "text" else {"delta": {name: text}}
        finish = "stop" if n == len(said) else None
        event = {"id": "x", "choices": [{"index": 0, **body, "logprobs": None, "finish_reason": finish}]}
        if usage == "every":
            counts = {"prompt_tokens": prompt_tok, "total_tokens": prompt_tok + 2 * n, "completion_tokens": 2 * n}
            event = {"usage": counts, **event} if n % 7 == 5 else {**event, "usage": counts}
        made.append(event)
    if usage != "none":
        made.append({"choices": [], "usage": {"prompt_tokens": prompt_tok, "completion_tokens": 2 * len(said)}})
    return made


def compact(event: object) -> bytes:
    return orjson.dumps(event)


def spaced(event: object) -> bytes:
    """The same JSON with blanks, which nothing is matched against."""
    return json.dumps(event).encode()


def stream(made: Sequence[object], write: Any, per_read: int) -> list[tuple[float, bytes]]:
    lines = [b"data: " + write(e) + b"\n\n" for e in made] + [b"data: [DONE]\n\n"]
    return [(float(n), b"".join(lines[n : n + per_read])) for n in range(0, len(lines), per_read)]


@given(
    st.lists(st.tuples(st.sampled_from(["content", "reasoning", "reasoning_content"]), TEXTS), min_size=1, max_size=30)
    | st.lists(st.tuples(st.just("text"), TEXTS), min_size=1, max_size=30),
    st.sampled_from(["none", "last", "every"]),
    st.integers(0, 200_000),
    st.integers(1, 4),
)
def test_matched_and_parsed_read_the_same(said: list[Said], usage: str, prompt_tok: int, per_read: int) -> None:
    made = events(said, usage, prompt_tok)
    assert read_stream(stream(made, compact, per_read)) == read_stream(stream(made, spaced, per_read))


@given(
    st.lists(st.tuples(st.sampled_from(["content", "reasoning"]), TEXTS), min_size=1, max_size=30),
    st.sampled_from(["none", "last", "every"]),
    st.lists(st.integers(1, 400), max_size=30),
    st.sampled_from([compact, spaced]),
)
def test_many_reads_at_once_and_one_after_the_other_read_the_same(
    said: list[Said], usage: str, sizes: list[int], write: Any
) -> None:
    reads, reader = stream(events(said, usage, 7), write, 1), StreamReader()
    whole, at = b"".join(data for _, data in reads), 0
    for size in sizes:  # some are cut anywhere, and begin again
        reads.append((float(len(reads)), whole[at : at + size]))
        at += size
    for time_s, data in reads:
        reader.feed(time_s, data)
    assert read_stream(reads) == reader.finish()


def test_most_events_of_a_stream_are_matched() -> None:
    made = events([("content", f"w{n} \n") for n in range(50)], "every", 512)
    lines = [b"data: " + compact(e) for e in made]
    pattern = plain(lines[0], made[0])
    assert pattern is not None and not pattern.thought
    start = len(pattern.prefix)
    like = [line for line in lines if line[:start] == pattern.prefix and pattern.rest.fullmatch(line[start:] + b"\n\n")]
    assert len(like) > 35


OK = {"choices": [{"index": 0, "text": "a", "finish_reason": None}]}


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"choices": []},
        {**OK, "error": {"message": "x"}},
        {**OK, "metrics": {"queue_time_ms": 1}},
        {"choices": [{"text": "a", "finish_reason": "stop"}]},
        {"choices": [{"delta": {"content": "a", "reasoning": "b"}}]},
        {"choices": [{"delta": {"content": "a", "tool_calls": [{"index": 0}]}}]},
        {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"text": "a"}, {"text": "b"}]},
        {**OK, "usage": {"completion_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 1}}},
    ],
)  # fmt: skip
def test_what_says_more_than_text_is_never_a_pattern(event: dict[str, Any]) -> None:
    assert plain(b"data: " + compact(event), event) is None
    assert plain(b"data: " + compact(OK), OK) is not None


def test_a_text_that_is_no_json_string_is_malformed() -> None:
    good = b"data: " + compact(OK) + b"\n\n"
    bad = good.replace(b'"a"', rb'"\q"')
    reading: Reading = read_stream([(0.0, good), (1.0, good), (2.0, bad), (3.0, good)])
    assert r"\q" in reading.malformed and reading.text == "aaa" and reading.times_s == [0.0, 1.0, 3.0]
    assert len(read_stream([(0.0, good), (1.0, good)]).times_s) == 2


GOOD_AND_BAD = [
    *("a", "é", '\\"', r"\n", r"\/", r"\ud83d\ude00", "\ufffe"),
    *(r"\q", r"\u00", r"\u00g0"),  # escapes that are none
    r"\ud83d",  # half a character
    "\udcff",  # sent as the byte FF, which no text has
]


@given(
    st.lists(st.sampled_from(GOOD_AND_BAD), max_size=12),
    st.sampled_from(["content", "reasoning"]),
    st.lists(st.integers(0, 3), min_size=12, max_size=12),
    st.booleans(),
    st.integers(1, 4),
)
def test_a_bad_text_costs_its_own_event_alone_matched_or_parsed(
    texts: list[str], name: str, steps: list[int], counted: bool, per_read: int
) -> None:
    """Blanks in an event's JSON are what nothing is matched against. (Halves of one character, each in an event of its
    own, are joined when they were matched, so they are not put side by side here.)"""
    lines: dict[str, list[bytes]] = {"": [], " ": []}
    used = 0
    for text, step in zip(["a", *texts], steps, strict=False):
        used += step
        usage = f',"usage":{{"prompt_tokens":{50 + used},"completion_tokens":{used}}}' if counted else ""
        for blank, made in lines.items():
            event = f'data: {{{blank}"choices":[{{"index":0,"delta":{{"{name}":{blank}"{text}"}}}}]{usage}}}\n\n'
            made.append(event.encode("utf-8", "surrogateescape"))
    matched, parsed = (
        read_stream((float(n), b"".join(made[n : n + per_read])) for n in range(0, len(made), per_read))
        for made in lines.values()
    )
    assert bool(matched.malformed) == bool(parsed.malformed)
    assert (matched.text, matched.reasoning, matched.times_s) == (parsed.text, parsed.reasoning, parsed.times_s)
    assert (matched.tokens, matched.output_tok, matched.source) == (parsed.tokens, parsed.output_tok, parsed.source)
    assert matched.malformed or matched.prompt_tok == parsed.prompt_tok == (50 + used if counted else None)
