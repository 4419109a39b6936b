"""Shares of a run's work: disjoint, complete, even."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.share import WHOLE, Share


@given(st.integers(0, 400), st.integers(1, 70), st.integers(1, 9))
def test_shares_add_up_to_the_whole(count: int, concurrency: int, of: int) -> None:
    shares = [Share(index, of) for index in range(of)]
    assert sorted(n for share in shares for n in share.numbers(count)) == list(range(count))
    parts = [share.requests(count, concurrency) for share in shares]
    assert sorted(n for part in parts for n in part) == list(range(count))
    for share, part in zip(shares, parts, strict=True):
        places = len(share.numbers(concurrency))
        # each place has as many requests as any other, give or take one
        assert places * (count // concurrency) <= len(part) <= places * -(-count // concurrency)


def test_the_whole_is_one_share() -> None:
    assert list(WHOLE.numbers(5)) == WHOLE.requests(5, 2) == [0, 1, 2, 3, 4]
    assert WHOLE.rate(3.0) == 3.0 and WHOLE.rate(None) is None
    assert Share(1, 4).rate(3.0) == 0.75


@pytest.mark.parametrize(("index", "of"), [(1, 1), (-1, 2), (0, 0)])
def test_there_is_no_share_outside(index: int, of: int) -> None:
    with pytest.raises(ValueError, match=f"part {index} of {of}"):
        Share(index, of)
