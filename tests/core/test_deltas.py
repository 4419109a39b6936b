"""A reply's words while they come: the same however the socket cuts them, chunked or not."""

from __future__ import annotations

import itertools

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.deltas import Deltas

TEXT = "Nächster Schritt: <read_file>\n<path>a</path>\n</read_file>"


def event(delta: dict[str, object]) -> bytes:
    return b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) + b"\n\n"


BODY = (
    b": ping\n\n"
    + event({"role": "assistant", "content": ""})
    + b"".join(event({"content": TEXT[at : at + 3]}) for at in range(0, len(TEXT), 3))
    + event({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "read_file", "arguments": ""}}]})
    + b"".join(event({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}) for part in ('{"pa', 'th": "a"}'))
    + b"data: {broken\n\ndata: [DONE]\n\n"
)


def framed(body: bytes, size: int) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def read(data: bytes, cuts: list[int]) -> tuple[str, str, str]:
    deltas, text, name, arguments = Deltas(), "", "", ""
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, end in itertools.pairwise(places):
        for delta in deltas.feed(data[start:end]):
            text += delta.text
            for more_name, more in delta.calls.values():
                name, arguments = name + more_name, arguments + more
    return text, name, arguments


@given(st.integers(1, 200), st.booleans(), st.lists(st.integers(0, 4_000), max_size=40))
def test_any_cut_says_the_same(size: int, chunked: bool, cuts: list[int]) -> None:
    data = framed(BODY, size) if chunked else BODY
    assert read(data, cuts) == (TEXT, "read_file", '{"path": "a"}')


@pytest.mark.parametrize(
    "bad", [b"data: 7\n\n", b'data: {"choices": 3}\n\n', b'data: {"choices": [{"delta": []}]}\n\n']
)
def test_what_is_no_event_says_nothing(bad: bytes) -> None:
    assert read(bad, []) == ("", "", "")
    assert read(bad + BODY, [])[0] == TEXT
