"""Packing and unpacking of output chunks."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures_fold import reply, run_of
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.chunks import MAX_TOK, MAX_US, Chunks, pack

CHUNK = st.tuples(st.integers(0, MAX_US), st.integers(0, MAX_TOK))


@given(st.lists(st.lists(CHUNK, max_size=9), min_size=1, max_size=7), st.integers(1, 12))
def test_what_is_packed_comes_back_whatever_the_slab_size(replies: list[list[tuple[int, int]]], limit: int) -> None:
    run = run_of(*(reply(0.0, [(us / 1e3, tok) for us, tok in chunks]) for chunks in replies))
    slabs = list(run.chunks.slabs(run.requests, np.ones(run.requests.n, dtype=bool), limit))
    got = [(int(r), int(g), int(t)) for s in slabs for r, g, t in zip(s.row, s.gap_us, s.tok, strict=True)]
    assert got == [(i, us, tok) for i, chunks in enumerate(replies) for us, tok in chunks]
    at = [int(a) for s in slabs for a in s.at_us]
    assert at == [total for chunks in replies for total in np.cumsum([us for us, _ in chunks]).tolist()]
    first = [bool(f) for s in slabs for f in s.first]
    assert first == [j == 0 for chunks in replies for j in range(len(chunks))]
    assert all(len({*s.row.tolist()}) == 1 or len(s.row) <= limit for s in slabs)


def test_layout_is_the_documented_one() -> None:
    assert pack([1, 70_000], [2, 3]) == bytes([1, 0, 0, 0, 0x70, 0x11, 1, 0, 2, 0, 3, 0])


def test_values_past_the_field_are_held_at_its_limit() -> None:
    assert pack([MAX_US + 5, -3], [70_000, 1]) == pack([MAX_US, 0], [MAX_TOK, 1])


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="2 chunk times but 1"):
        pack([1, 2], [1])


def test_rows_that_are_not_wanted_or_torn_are_left_out() -> None:
    run = run_of(reply(0, [(1, 1)]), reply(0, [(2, 2)]), reply(0, [(3, 3), (4, 4)]))
    torn = Chunks(run.chunks.words[:-1])
    assert torn.present(run.requests).tolist() == [True, True, False]
    slabs = list(torn.slabs(run.requests, np.array([False, True, True])))
    assert [s.tok.tolist() for s in slabs] == [[2]]
    assert np.array_equal(torn.first_tok(run.requests), [1, 2, np.nan], equal_nan=True)
