"""Which chunks carry output, when, and how many tokens: every shape that servers send."""

from collections.abc import Sequence

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.stream import read_stream


def sse(*events: object) -> bytes:
    return b"".join(b"data: " + (e if isinstance(e, bytes) else orjson.dumps(e)) + b"\n\n" for e in events)


def delta(finish: str | None = None, used: int | None = None, **fields: object) -> dict[str, object]:
    event: dict[str, object] = {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}
    if used is not None:
        event["usage"] = {"prompt_tokens": 9, "completion_tokens": used}
    return event


USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 90, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 64}},
}
CALL = [{"index": 0, "id": "c1", "function": {"name": "read", "arguments": ""}}]
ARGS = [{"index": 0, "function": {"arguments": '{"a":1}'}}]


@pytest.mark.parametrize(
    ("events", "times", "tokens", "answer", "finish", "source"),
    [
        # a role chunk is no output, the usage chunk and [DONE] are none either; without counts n is spread
        ([delta(role="assistant", content=""), delta(content="a"), delta(content="b"), delta("stop"), USAGE, b"[DONE]"],
         [1, 2], [3, 3], 1, "stop", "usage"),
        # counts in every chunk: several tokens each
        ([delta(content="a", used=1), delta(content="bcd", used=4), delta("stop", used=4)], [0, 1], [1, 3], 0, "stop",
         "continuous"),
        # thinking under either name counts for the first chunk, not for the first answer
        ([delta(reasoning="x", used=2), delta(reasoning_content="y", used=3), delta(content="z", used=4),
          delta("stop")], [0, 1, 2], [2, 1, 1], 2, "stop", "continuous"),
        # a tool call's name and its arguments are output
        ([delta(tool_calls=CALL, used=2), delta(tool_calls=ARGS, used=9), delta("tool_calls", used=9)], [0, 1], [2, 7],
         0, "tool_calls", "continuous"),
        # reasoning only
        ([delta(reasoning="x", used=2), delta("stop", used=2)], [0], [2], None, "stop", "continuous"),
        # no usage at all
        ([delta(content="a"), delta("stop")], [0], [0], 0, "stop", "none"),
        # finish reason arrives with the last text
        ([delta(content="a", used=1), delta("length", content="b", used=2)], [0, 1], [1, 1], 0, "length", "continuous"),
        # nothing but usage
        ([USAGE, b"[DONE]"], [], [], None, "", "none"),
        # /v1/completions
        ([{"choices": [{"text": "ab", "finish_reason": None}], "usage": {"completion_tokens": 2}},
          {"choices": [{"text": "", "finish_reason": "length"}]}], [0], [2], 0, "length", "continuous"),
    ],
)  # fmt: skip
def test_shapes(
    events: Sequence[object], times: list[float], tokens: list[int], answer: float | None, finish: str, source: str
) -> None:
    reading = read_stream([(float(i), sse(e)) for i, e in enumerate(events)])
    assert (reading.times_s, reading.tokens) == (times, tokens)
    assert (reading.first_answer_s, reading.finish, reading.source) == (answer, finish, source)
    assert not reading.malformed


def test_cached_tokens_and_text_are_read() -> None:
    reading = read_stream([(0.0, sse(delta(reasoning="hm"), delta(content="a"), delta(content="b"), USAGE))])
    assert (reading.prompt_tok, reading.cached_tok, reading.output_tok) == (90, 64, 6)
    assert (reading.text, reading.reasoning) == ("ab", "hm")


def test_tool_calls_are_joined_by_index() -> None:
    other = [{"index": 1, "id": "c2", "function": {"name": "list", "arguments": "{}"}}]
    reading = read_stream([(0.0, sse(delta(tool_calls=CALL), delta(tool_calls=other), delta(tool_calls=ARGS)))])
    assert [(c["name"], c["arguments"]) for c in reading.tool_calls] == [("read", '{"a":1}'), ("list", "{}")]


@given(st.lists(st.integers(1, 60), max_size=30))
def test_cutting_the_bytes_anywhere_changes_nothing_but_the_times(cuts: list[int]) -> None:
    events = [delta(content="hé", used=1), delta(content="wörld", used=3), delta("stop", used=3), USAGE, b"[DONE]"]
    data, arrivals, at = sse(*events), [], 0
    for cut in cuts:
        arrivals.append((float(len(arrivals)), data[at : at + cut]))
        at += cut
    arrivals.append((float(len(arrivals)), data[at:]))
    cut, whole = read_stream(arrivals), read_stream([(0.0, data)])
    assert (cut.tokens, cut.text, cut.finish, cut.cached_tok) == (
        whole.tokens,
        whole.text,
        whole.finish,
        whole.cached_tok,
    )
    assert cut.times_s == sorted(cut.times_s)


def test_an_event_is_stamped_when_its_last_byte_came() -> None:
    data = sse(delta(content="a"))
    assert read_stream([(1.0, data[:10]), (2.0, data[10:])]).times_s == [2.0]


@pytest.mark.parametrize(
    ("data", "malformed", "error"),
    [
        (b"data: {oops}\n\n", "{oops}", False),
        (b"data: 7\n\n", "7", False),
        (sse({"error": {"message": "broke", "code": 500}}), "", True),
        (b": comment\n\nevent: x\n\n", "", False),
        (b"data: {\"choices\": [{\"del", "", False),  # torn at the end: cut, not malformed
    ],
)  # fmt: skip
def test_bad_streams(data: bytes, malformed: str, error: bool) -> None:
    reading = read_stream([(0.0, data)])
    assert (reading.malformed, reading.error is not None) == (malformed, error)
    assert reading.times_s == []


def test_windows_line_ends() -> None:
    data = sse(delta(content="a", used=1), delta("stop", used=1)).replace(b"\n", b"\r\n")
    assert read_stream([(0.0, data)]).tokens == [1]


SAID = sse(delta(content="a", used=1), delta(content="b", used=2), delta("stop", used=2), b"[DONE]")


@given(st.integers(1, 60))
def test_a_byte_order_mark_is_skipped(step: int) -> None:
    data = b"\xef\xbb\xbf" + SAID
    reading = read_stream([(float(at), data[at : at + step]) for at in range(0, len(data), step)])
    assert (reading.text, reading.tokens, reading.finish, reading.malformed) == ("ab", [1, 1], "stop", "")
    short = read_stream([(0.0, b"\xef\xbb\xbf" + sse(delta("stop", content="a")).rstrip())])
    assert (short.text, short.finish) == ("a", "stop")


@pytest.mark.parametrize(
    ("data", "met"),
    [
        (SAID.replace(b"\n", b"\r"), "no empty line (LF LF) between events: data:"),
        (SAID.replace(b"\n\n", b"\n"), "no empty line (LF LF) between events: data:"),
        (SAID.replace(b"\n\n", b"\r\n"), "no empty line (LF LF) between events: data:"),
        (b'data: {"choices":\ndata: [{"index":0,"text":"a"}]}\n\n' + SAID, '{"choices":'),
    ],
    ids=["CR alone", "one LF", "one CR LF", "one event over two lines"],
)
def test_what_is_not_framed_as_events_is_malformed_with_what_was_met(data: bytes, met: str) -> None:
    for step in (len(data), 11):
        reading = read_stream([(float(at), data[at : at + step]) for at in range(0, len(data), step)])
        assert reading.malformed.startswith(met)


@pytest.mark.parametrize(
    "event",
    [
        {"choices": [None]},
        {"choices": "abc"},
        {"choices": 5},
        {"choices": [{"delta": "abc"}]},
        {"choices": [{"text": 7}]},
        {"choices": [{"delta": {"content": ["x"]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": -1, "function": {"name": "a"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 300_000_000, "function": {"name": "a"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": "x"}]}}]},
        {"choices": [], "usage": [1]},
        {"choices": [], "usage": {"completion_tokens": "7"}},
        {"choices": [], "usage": {"completion_tokens": -3}},
        {"choices": [], "usage": {"completion_tokens": 10**18}},
        {"choices": [], "usage": {"prompt_tokens": 1.5}},
        {"choices": [], "usage": {"prompt_tokens_details": {"cached_tokens": "abc"}}},
        {"choices": [], "usage": {"prompt_tokens_details": [1]}},
        [1],
        None,
    ],
)
def test_nothing_that_a_server_sends_does_more_than_mark_its_reply(event: object) -> None:
    reading = read_stream([(0.0, sse(delta(content="a"), event, delta("stop")))])
    assert reading.malformed
    assert reading.text == "a" and reading.finish == "stop", "what was right is still read"


@given(st.binary(max_size=300))
def test_no_bytes_raise(noise: bytes) -> None:
    read_stream([(0.0, b"data: " + noise + b"\n\n"), (1.0, noise)])


KEYS = ["choices", "delta", "text", "usage", "content", "tool_calls", "index", "function", "completion_tokens", "error"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**12) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_no_json_raises(value: object) -> None:
    reading = read_stream([(0.0, b"data: " + orjson.dumps(value) + b"\n\n")])
    assert reading.output_tok is None or reading.output_tok >= 0


@pytest.mark.parametrize(
    ("metrics", "ttft_s"),
    [
        # vLLM's time to first token starts when the request is scheduled: its queue comes on top
        ({"time_to_first_token_ms": 85.0, "queue_time_ms": 15.0, "generation_time_ms": 900.0}, 0.1),
        ({"time_to_first_token_ms": 85.0, "queue_time_ms": 0}, 0.085),
        ({"time_to_first_token_ms": 85.0}, None),
        ({"time_to_first_token_ms": None, "queue_time_ms": None}, None),
        ({"time_to_first_token_ms": -3.0, "queue_time_ms": 1.0}, None),
        ({"time_to_first_token_ms": True, "queue_time_ms": 1.0}, None),
        ({}, None),
        ("slow", None),
        ([1], None),
    ],
)
def test_the_engines_own_ttft(metrics: object, ttft_s: float | None) -> None:
    reading = read_stream([(1.0, sse(delta(content="a"), delta("stop"))), (2.0, sse({**USAGE, "metrics": metrics}))])
    assert reading.server_ttft_s == (None if ttft_s is None else pytest.approx(ttft_s))
    assert not reading.malformed and reading.output_tok == 6


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (sse({"error": {"message": "boom", "code": 500}}), "boom"),
        (sse({"error": "boom", "error_type": "generation"}), "boom"),
        (sse({"object": "error", "message": "boom", "type": "InternalServerError", "code": 500}), "boom"),
        (sse({"type": "error", "error": {"message": "boom"}}), "boom"),
        (b'event: error\ndata: {"message":"boom","code":500}\n\n', "boom"),
        (b'event:error\ndata: {"error":{"message":"boom"}}\n\n', "boom"),
        (b"event: error\ndata: boom\n\n", "boom"),
        (b"event: error\ndata:\n\n", "no message"),
    ],
)
@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("step", [10_000, 7])
def test_an_error_inside_a_stream_keeps_its_words_wherever_it_stands(
    told: bytes, message: str, ended: bool, step: int
) -> None:
    said = sse(delta(content="a"), delta(content="b"), *([delta("stop", used=2)] if ended else []))
    for data in (said + told + sse(b"[DONE]"), (said + told).rstrip(b"\n") + b"\n"):
        reading = read_stream([(float(at), data[at : at + step]) for at in range(0, len(data), step)])
        assert reading.error is not None and reading.error["message"] == message
        assert (reading.text, reading.finish, reading.malformed) == ("ab", "stop" if ended else "", "")
    two = read_stream([(0.0, said + told + sse({"error": "later"}))])
    assert two.error is not None and two.error["message"] == message, "the first says why"


def test_an_event_s_name_is_that_event_s_alone() -> None:
    data = b"event: message\n" + sse(delta(content="a")) + b"event: ping\n\nevent: error\n\n" + sse(delta("stop"))
    reading = read_stream([(0.0, data)])
    assert (reading.text, reading.finish, reading.error, reading.malformed) == ("a", "stop", None, "")
