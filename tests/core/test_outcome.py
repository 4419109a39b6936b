"""From what came over the wire to one error kind and one clean sentence."""

import pytest

from simulator.core.event import Reading
from simulator.core.outcome import DEFECTS, Expected, classify, clean, defect, error_message
from simulator.core.record import ERRORS

GOOD = Reading(times_s=[1.0], tokens=[1], finish="stop")


@pytest.mark.parametrize(
    ("status", "failure", "body", "reading", "outcome", "error"),
    [
        (200, "", b"", GOOD, "ok", ""),
        (0, "refused", b"", Reading(), "failed", "refused"),
        (0, "timeout", b"", Reading(), "failed", "timeout"),
        (200, "cut", b"", GOOD, "failed", "cut"),
        (200, "cancelled", b"", GOOD, "cancelled", "cancelled"),
        (200, "", b"", Reading(times_s=[1.0], tokens=[1]), "failed", "cut"),
        (204, "", b"", Reading(), "failed", "bad_request"),
        (205, "", b"", Reading(), "failed", "bad_request"),
        (304, "", b"", Reading(), "failed", "bad_request"),
        (307, "", b"", GOOD, "failed", "bad_request"),
        (307, "cut", b"", Reading(), "failed", "cut"),
        (201, "", b"", GOOD, "ok", ""),
        (200, "", b"", Reading(finish="stop"), "failed", "empty"),
        (200, "", b"", Reading(finish="stop", malformed="{"), "failed", "malformed"),
        (200, "", b"", Reading(error={"message": "maximum context length is 9"}), "failed", "context_overflow"),
        (200, "", b"", Reading(error={"message": "died"}), "failed", "server_error"),
        (400, "", b'{"error":{"message":"This model\'s maximum context length is 10 tokens"}}', Reading(), "failed",
         "context_overflow"),
        (400, "", b'{"message":"prompt is longer than the maximum model length of 5"}', Reading(), "failed",
         "context_overflow"),
        (400, "", b'{"detail":"no tools"}', Reading(), "failed", "bad_request"),
        (404, "", b"", Reading(), "failed", "bad_request"),
        (401, "", b"", Reading(), "failed", "auth"),
        (403, "", b"", Reading(), "failed", "auth"),
        (429, "", b"slow down", Reading(), "failed", "rate_limited"),
        (500, "", b"<html>", Reading(), "failed", "server_error"),
        (503, "", b"", Reading(), "failed", "server_error"),
    ],
)  # fmt: skip
def test_classify(status: int, failure: str, body: bytes, reading: Reading, outcome: str, error: str) -> None:
    got = classify(status, failure, "words", body, reading)
    assert got[:2] == (outcome, error)
    assert error in ("", *ERRORS)
    assert (got[2] == "") == (outcome == "ok")


def test_a_status_without_a_reply_is_told_with_where_it_leads() -> None:
    assert classify(204, "", "", b"", Reading())[2] == "HTTP 204, a status that brings no event stream"
    said = classify(308, "", "http://h/v1/?api_key=abcdef123456\x1b[31m" + "x" * 900, b"", Reading())[2]
    assert said.startswith("HTTP 308, a redirect to http://h/v1/") and len(said) <= 300
    assert "abcdef123456" not in said and "\x1b" not in said


def test_details_are_one_printable_line_without_keys() -> None:
    said = clean("bad\x1b[31m key\n Bearer abcdef123456 and sk-proj-99887766 " + "x" * 500)
    assert "\x1b" not in said and "\n" not in said and len(said) <= 240
    assert "abcdef123456" not in said and "99887766" not in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "m"}}', "m"),
        (b'{"error": "e"}', "e"),
        (b'{"detail": [{"loc": 1}]}', '[{"loc":1}]'),
        (b"plain", "plain"),
        (b"", "no message"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_error_message(body: bytes, said: str) -> None:
    assert error_message(body) == said


def _call(name: str = "read_file", arguments: str = "{}") -> dict[str, str]:
    return {"id": "c", "name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("more", "exact_tok", "found"),
    [
        ({"text": "words", "output_tok": 40, "finish": "length"}, 40, ""),
        ({"text": "words", "output_tok": 12, "finish": "length"}, 40, "length"),
        ({"text": "words", "output_tok": 12, "finish": "stop"}, 40, ""),
        ({"text": "words", "output_tok": 12, "finish": "length"}, None, "length"),
        ({"reasoning": "hm", "output_tok": 40, "finish": "length"}, 40, ""),
        ({"reasoning": "hm", "output_tok": 39, "finish": "stop"}, 40, "reasoning_only"),
        ({"tool_calls": [_call(arguments='{"pa')], "output_tok": 40, "finish": "tool_calls"}, 40, ""),
        ({"tool_calls": [_call(arguments='{"pa')], "output_tok": 4, "finish": "tool_calls"}, 40, "bad_arguments"),
        ({"tool_calls": [_call(arguments="7")], "output_tok": 4, "finish": "tool_calls"}, 40, "bad_arguments"),
        ({"tool_calls": [_call(arguments="")], "output_tok": 4, "finish": "tool_calls"}, 40, ""),
        ({"tool_calls": [_call("fly")], "output_tok": 4, "finish": "tool_calls"}, None, "unknown_tool"),
        ({"tool_calls": [_call()], "output_tok": 4, "finish": "length"}, 40, ""),
        ({"text": '<tool_call>{"name"', "output_tok": 4, "finish": "stop"}, 40, "call_in_text"),
        ({"text": '<tool_call>{"name"', "output_tok": 40, "finish": "stop"}, 40, ""),
        ({"text": "words", "output_tok": 33, "finish": "length", "source": "counted"}, 40, ""),
        ({"text": "words", "output_tok": 3, "finish": "length", "source": "counted"}, 40, "length"),
        ({"text": "words", "output_tok": 0, "finish": "length", "times_s": [1.0] * 40}, 40, ""),
    ],
)  # fmt: skip
def test_defects_are_looked_for_in_replies_that_are_not_the_planned_ones(
    more: dict[str, object], exact_tok: int | None, found: str
) -> None:
    reading = Reading(**{"times_s": [1.0], "tokens": [1], "source": "usage", **more})  # type: ignore[arg-type]
    assert defect(reading, Expected(exact_tok, frozenset({"read_file"}))) == found
    assert found in ("", *DEFECTS)


@pytest.mark.parametrize(
    ("began", "error", "said"),
    [
        (b"\x1f\x8b\x08", "malformed", "gzip"),
        (b'{"id":1}', "malformed", "one JSON document"),
        (b'{"error": {"message": "no"}}', "server_error", "one JSON document"),
        (b"  <!doctype html>", "malformed", "page"),
        (b"Welcome", "malformed", "something else: Welcome"),
        (b": comment", "cut", "without a finish reason"),
        (b"data: {}", "cut", "without a finish reason"),
        (b"", "cut", "without a finish reason"),
    ],
)
def test_a_body_that_is_no_stream_is_told(began: bytes, error: str, said: str) -> None:
    outcome, kind, detail = classify(200, "", "", b"", Reading(), began)
    assert (outcome, kind) == ("failed", error) and said in detail


def test_a_stream_that_the_client_closed_is_ok_once_it_spoke() -> None:
    assert classify(200, "", "", b"", Reading(times_s=[1.0]), stopped=True) == ("ok", "", "")
    assert classify(200, "", "", b"", Reading(), stopped=True)[1] == "cut"


@pytest.mark.parametrize("finish", ["abort", "error"])
@pytest.mark.parametrize("stopped", [False, True])
def test_a_reply_that_its_engine_broke_off_is_failed_whatever_came_before(finish: str, stopped: bool) -> None:
    reading = Reading(times_s=[1.0, 2.0], tokens=[1, 1], text="ab", finish=finish, output_tok=2, source="usage")
    outcome, error, detail = classify(200, "", "", b"", reading, stopped=stopped)
    assert (outcome, error) == ("failed", "server_error") and finish in detail
    assert classify(200, "", "", b"", Reading(finish=finish))[1] == "server_error"


def test_an_error_inside_a_stream_is_told_in_its_own_words_alone() -> None:
    told = {"object": "error", "message": "boom", "type": "InternalServerError", "code": 500}
    said = "error inside the stream: boom"
    for error in (told, {"message": "boom"}, {"detail": "boom"}):
        reading = Reading(times_s=[1.0], tokens=[1], finish="stop", error=error)
        assert classify(200, "", "", b"", reading) == ("failed", "server_error", said)
