"""Tokens a chunk out of what a server says in total and on the way, whatever that is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.counts import MAX_TOK, per_chunk, spread, tok

LOST = (None, "none")


@pytest.mark.parametrize(
    ("total", "running", "tokens", "found"),
    [
        (None, [], [], (None, "none")),
        (7, [], [], (7, "none")),
        (4, [1, 4], [1, 3], (4, "continuous")),
        # a final usage above the last running count: the last chunk gets the rest
        (10, [1, 2, 3], [1, 1, 8], (10, "continuous")),
        # and below it: the server contradicts itself
        (3, [10, 20, 30], [0, 0, 0], LOST),
        # told before anything was said, and never again
        (0, [0, -1, -1], [0, 0, 0], LOST),
        (1, [1, -1, -1], [0, 0, 0], LOST),
        (0, [0], [0], LOST),
        (2, [-1, -1, -1], [0, 0, 0], LOST),
        (3, [-1, -1, -1], [1, 1, 1], (3, "usage")),
        # counts of each chunk alone, or that fall, are no running counts
        (3, [1, 1, 1], [1, 1, 1], (3, "usage")),
        (8, [5, 3, 8], [2, 3, 3], (8, "usage")),
        (8, [5, -1, 8], [2, 3, 3], (8, "usage")),
        (None, [-1], [0], LOST),
    ],
)
def test_per_chunk(total: int | None, running: list[int], tokens: list[int], found: tuple[int | None, str]) -> None:
    assert per_chunk(total, running) == (found[0], tokens, found[1])


@given(st.none() | st.integers(0, 300), st.lists(st.integers(-1, 200), max_size=20))
def test_tokens_sum_to_the_total_and_none_is_negative(total: int | None, running: list[int]) -> None:
    told, tokens, source = per_chunk(total, running)
    assert told in (None, total) and len(tokens) == len(running) and all(n >= 0 for n in tokens)
    assert sum(tokens) == (told or 0) or not running
    assert (source == "none") == (told is None or not running)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(0, 50))
def test_true_running_counts_come_back(each: list[int], more: int) -> None:
    running = [sum(each[: n + 1]) for n in range(len(each))]
    assert per_chunk(running[-1] + more, running) == (
        running[-1] + more,
        [*each[:-1], each[-1] + more],
        "continuous",
    )


@given(st.integers(0, 5000), st.integers(1, 400))
def test_spread_is_exact_and_even(total: int, chunks: int) -> None:
    parts = spread(total, chunks)
    assert sum(parts) == total and len(parts) == chunks and max(parts) - min(parts) <= 1


@pytest.mark.parametrize("claimed", [True, "7", 1.5, -1, MAX_TOK + 1, [1]])
def test_what_is_no_count(claimed: object) -> None:
    with pytest.raises(ValueError, match="not a count of tokens"):
        tok(claimed, 3)
    assert (tok(None, 3), tok(0, 3), tok(MAX_TOK, None)) == (3, 0, MAX_TOK)
