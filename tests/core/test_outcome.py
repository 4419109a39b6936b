"""From what came over the wire to one error kind and one clean sentence."""

import pytest

from simulator.core.outcome import classify, clean, error_message
from simulator.core.record import ERRORS
from simulator.core.stream import Reading

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
