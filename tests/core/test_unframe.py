"""Chunked transfer coding comes off the same however the socket cut it."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.unframe import Unframer, peel


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


@given(
    st.lists(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=3), max_size=8),
    st.lists(st.integers(0, 900), max_size=3),
)
def test_reads_of_whole_chunks_are_peeled_in_place_up_to_the_first_that_is_none(
    reads: list[list[bytes]], cuts: list[int]
) -> None:
    wire = b"".join(framed(chunks)[:-5] for chunks in reads) + b"0\r\n\r\n"
    ends = list(accumulate(len(framed(chunks)[:-5]) for chunks in reads))
    edges = sorted({0, *ends, *(min(c, len(wire)) for c in cuts), len(wire)})
    pieces = [wire[a:b] for a, b in pairwise(edges)]
    peeled, unframer = list(pieces), Unframer()
    bare = peel(peeled, 0)
    assert peeled[:bare] == [unframer.feed(piece) for piece in pieces[:bare]] and peeled[bare:] == pieces[bare:]
    assert bare < len(pieces), "the last chunk is never taken for one"
    if not cuts:
        assert bare == len(reads)
    assert peel(peeled, len(peeled)) == len(peeled)


@pytest.mark.parametrize(
    "read",
    [
        b"2;a=b\r\nab\r\n", b"02\r\nab\r\n", b"+2\r\nab\r\n", b"0x2\r\nab\r\n", b" 2\r\nab\r\n",
        b"2\r\nabc\r\n", b"3\r\nab\r\n", b"2\r\nab\r\n2\r\n", b"2\nab\n", b"-2\r\nab\r\n", b"0\r\n\r\n",
        b"2\r\nab\r\n0\r\n\r\n", b"1_0\r\n\r\n",
    ],
)  # fmt: skip
def test_what_only_a_parser_may_judge_is_left_alone(read: bytes) -> None:
    reads = [b"A\r\n0123456789\r\n", b"2\r\nab\r\n", read, b"2\r\nab\r\n"]
    assert peel(reads, 0) == 2 and reads == [b"0123456789", b"ab", read, b"2\r\nab\r\n"]
    assert peel(reads, 3) == 4 and reads[3] == b"ab"
