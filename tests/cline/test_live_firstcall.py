"""A client that takes one call has it with the byte that completes it, whatever the reads."""

from __future__ import annotations

import itertools
import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline.classic.calls import as_xml
from simulator.cline.live.firstcall import FirstCall
from simulator.core.action import Command, ReadFile

ARGUMENTS = json.dumps({"path": "a.py", "nested": {"x": 1}, "brace": "}"})


def event(delta: dict[str, object]) -> bytes:
    return b"data: " + orjson.dumps({"choices": [{"index": 0, "delta": delta}]}) + b"\n\n"


def xml_events() -> tuple[list[bytes], int]:
    """Events, and the index of the one that completes the first call."""
    first, rest = "Look.\n" + as_xml(ReadFile("a.py"), ""), "\nand\n" + as_xml(Command("ls"), "")
    pieces = [first[at : at + 4] for at in range(0, len(first), 4)]
    events = [event({"content": piece}) for piece in pieces]
    return events + [event({"content": rest[at : at + 4]}) for at in range(0, len(rest), 4)], len(pieces) - 1


def native_events() -> tuple[list[bytes], int]:
    def call(index: int, **function: str) -> bytes:
        return event({"tool_calls": [{"index": index, "function": function}]})

    pieces = [ARGUMENTS[at : at + 5] for at in range(0, len(ARGUMENTS), 5)]
    events = [event({"content": "Look."}), call(0, name="read_file", arguments="")]
    events += [call(0, arguments=piece) for piece in pieces]
    return [*events, call(1, name="read_file", arguments=""), call(1, arguments="{}")], len(events) - 1


@pytest.mark.parametrize(("made", "xml"), [(xml_events(), True), (native_events(), False)])
def test_it_is_enough_with_the_event_that_completes_the_call(made: tuple[list[bytes], int], xml: bool) -> None:
    events, last = made
    client = FirstCall(xml=xml)
    assert [client(each) for each in events[: last + 1]] == [False] * last + [True]


@given(st.lists(st.integers(0, 3_000), max_size=30), st.booleans(), st.booleans())
def test_the_reads_do_not_matter(cuts: list[int], xml: bool, chunked: bool) -> None:
    events, last = xml_events() if xml else native_events()
    if chunked:
        events = [b"%x\r\n%s\r\n" % (len(each), each) for each in events]
    data, complete = b"".join(events), sum(map(len, events[: last + 1]))
    client, read, seen = FirstCall(xml=xml), 0, None
    for start, end in itertools.pairwise([0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]):
        read += end - start
        if client(data[start:end]) and seen is None:
            seen = read
    ends = [*(min(cut, len(data)) for cut in sorted(cuts)), len(data)]
    needed = complete - (3 if chunked else 1)  # an event is read with its first line end
    assert seen == next(end for end in ends if end >= needed)


def test_two_calls_at_once_are_more_than_enough() -> None:
    both = event({"tool_calls": [{"index": n, "function": {"name": "x", "arguments": ""}} for n in range(2)]})
    assert FirstCall(xml=False)(both)


def test_prose_is_never_enough() -> None:
    for xml in (True, False):
        assert not FirstCall(xml=xml)(event({"content": "I would call read_file with {} now."}))
