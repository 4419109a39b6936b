"""Where messages begin and end on a connection, however its bytes are cut into reads."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from simulator.record.framing import Framer, Part, read_head

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5;x=1\r\ndefgh\r\n0\r\nTrailer: a\r\n\r\n"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"
EARLY = b"HTTP/1.1 100 Continue\r\n\r\n"
OPEN = b"HTTP/1.1 200 OK\r\n\r\nto the end"


def cut(data: bytes, at: list[int]) -> list[bytes]:
    marks = [0, *sorted({n % (len(data) + 1) for n in at}), len(data)]
    return [data[a:b] for a, b in pairwise(marks) if b > a]


def fed(framer: Framer, reads: list[bytes]) -> list[Part]:
    parts = [part for read in reads for part in framer.feed(read)]
    return parts + framer.close()


def bodies(parts: list[Part]) -> list[bytes]:
    """Of each message that came to its end."""
    found, body = [], b""
    for part in parts:
        body += part.payload
        if part.kind == "end":
            found.append(body)
            body = b""
    return found


@given(st.lists(st.integers(0, 1000), max_size=30))
def test_replies_are_the_same_however_they_are_cut(at: list[int]) -> None:
    framer = Framer(replies=True)
    framer.asked += ["POST", "POST", "GET", "HEAD", "POST"]
    sent = CHUNKED + EARLY + LENGTH + EMPTY + LENGTH[: -len(b"abcd")] + OPEN
    parts = fed(framer, cut(sent, at))
    assert b"".join(part.wire for part in parts) == sent
    assert bodies(parts) == [b"abcdefgh", b"abcd", b"", b"", b"to the end"]


@given(st.lists(st.integers(0, 1000), max_size=30))
def test_requests_are_the_same_however_they_are_cut(at: list[int]) -> None:
    one = b"POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
    two = b"POST /v1/y HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n"
    sent = one + b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" + two + one
    parts = fed(Framer(replies=False), cut(sent, at))
    assert b"".join(part.wire for part in parts) == sent
    assert bodies(parts) == [b"abc", b"", b"z", b"abc"]
    assert [read_head(part.wire).first[1] for part in parts if part.kind == "head"] == ["/v1/x", "/", "/v1/y", "/v1/x"]  # type: ignore[union-attr]


@given(st.booleans(), st.lists(st.binary(max_size=200), max_size=8), st.sampled_from([b"", CHUNKED[:60], LENGTH[:40]]))
def test_whatever_comes_every_byte_comes_out_again(replies: bool, reads: list[bytes], start: bytes) -> None:
    framer = Framer(replies=replies)
    parts = fed(framer, [start, *reads])
    assert b"".join(part.wire for part in parts) == start + b"".join(reads)


def test_what_cannot_be_followed_is_passed_on_without_a_look() -> None:
    for odd in (b"SSH-2.0-x\r\n\r\n", b"CONNECT a:1 HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
                b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"):  # fmt: skip
        framer = Framer(replies=False)
        parts = fed(framer, [odd, b"POST / HTTP/1.1\r\n\r\n"])
        assert framer.blind and b"".join(p.wire for p in parts) == odd + b"POST / HTTP/1.1\r\n\r\n"
        assert "end" not in [p.kind for p in parts]
    framer = Framer(replies=True)
    framer.feed(b"HTTP/1.1 101 Switching Protocols\r\n\r\nraw")
    assert framer.blind


def test_a_head_without_an_end_is_given_up_in_bounded_memory() -> None:
    framer = Framer(replies=False)
    parts = [part for _ in range(10) for part in framer.feed(b"a" * 65_536)]
    assert framer.blind and sum(len(part.wire) for part in parts) == 655_360
