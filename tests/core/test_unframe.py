"""Chunked transfer coding comes off the same however the socket cut it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from simulator.core.unframe import Unframer


def framed(chunks: list[bytes], *, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    body = b"".join(b"%x%b\r\n%b\r\n" % (len(c), extension, c) for c in chunks)
    return body + b"0\r\n" + trailer + b"\r\n"


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=8),
    st.lists(st.integers(0, 400), max_size=12),
    st.sampled_from([b"", b";a=b"]),
    st.sampled_from([b"", b"Trailer: x\r\n"]),
)
def test_any_cut_gives_the_body_and_finds_the_end(
    chunks: list[bytes], cuts: list[int], extension: bytes, trailer: bytes
) -> None:
    wire = framed(chunks, extension=extension, trailer=trailer)
    edges = [0, *sorted(min(c, len(wire)) for c in cuts), len(wire)]
    unframer = Unframer()
    got = [unframer.feed(wire[a:b]) for a, b in pairwise(edges)]
    assert b"".join(got) == b"".join(chunks) and unframer.ended
    assert unframer.feed(b"more") == b""


def test_a_byte_belongs_to_the_read_that_brought_it() -> None:
    unframer = Unframer()
    assert [unframer.feed(p) for p in (b"5\r\nab", b"cde\r", b"\n3\r\nf", b"gh\r\n", b"2", b"\r\nij\r\n0\r\n\r\n")] == [
        b"ab", b"cde", b"f", b"gh", b"", b"ij"]  # fmt: skip


def test_what_is_no_chunked_coding_is_handed_on() -> None:
    unframer = Unframer()
    assert unframer.feed(b"2\r\nab\r\nnonsense\r\nx") == b"abnonsense\r\nx"
    assert unframer.feed(b" and more") == b" and more" and not unframer.ended
