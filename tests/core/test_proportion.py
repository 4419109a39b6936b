"""Intervals of shares, McNemar's test and its power, held against tables, SciPy and a known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from simulator.core.compare.solving import of_counts
from simulator.core.compare.verdict import Verdict
from simulator.core.proportion import difference, fall_found, mcnemar, smallest_fall, wilson

SIMULATIONS = 2_000


@pytest.mark.parametrize(
    ("good", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_newcombe_printed_it(good: int, of: int, low: float, high: float) -> None:
    """Statistics in Medicine 17 (1998) 857, table I, method 3."""
    assert wilson(good, of) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(0, 300), st.integers(0, 300))
def test_wilson_is_scipys_and_never_leaves_0_to_1(good: int, bad: int) -> None:
    found = wilson(good, good + bad)
    if not good + bad:
        assert found is None
        return
    assert found is not None and 0 <= found[0] <= good / (good + bad) <= found[1] <= 1
    theirs = reference.binomtest(good, good + bad).proportion_ci(method="wilson")
    assert found == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError):
        wilson(3, 2)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_sign_test(lost: int, won: int) -> None:
    wanted = reference.binomtest(lost, lost + won).pvalue if lost + won else 1.0
    assert mcnemar(lost, won) == pytest.approx(wanted) == pytest.approx(mcnemar(won, lost))


@pytest.mark.parametrize(("n", "lost", "won"), [(32, 0.3, 0.1), (32, 0.02, 0.02), (100, 0.15, 0.15), (100, 0.3, 0.02)])
def test_the_paired_interval_covers_the_truth(n: int, lost: float, won: float) -> None:
    rows, times = np.unique(drawn(n, lost, won, seed=n), axis=0, return_counts=True)
    ends = [difference(*map(int, row)) for row in rows]
    held = [each is not None and each[0] <= won - lost <= each[1] for each in ends]
    assert times[np.array(held)].sum() / SIMULATIONS > 0.93


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(1, 40))
def test_the_paired_interval_holds_the_estimate_and_has_a_mirror(both: int, lost: int, won: int, neither: int) -> None:
    found, other = difference(both, lost, won, neither), difference(both, won, lost, neither)
    assert found is not None and other is not None
    assert found[0] <= (won - lost) / (both + lost + won + neither) <= found[1]
    assert found == pytest.approx((-other[1], -other[0]))


def test_nothing_paired_is_nothing_known() -> None:
    assert difference(0, 0, 0, 0) is None and of_counts((0, 0, 0, 0)) is None


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ((14, 10, 1, 7), Verdict.WORSE),
        ((14, 1, 10, 7), Verdict.BETTER),
        ((14, 5, 0, 7), Verdict.INCONCLUSIVE),  # five that go one way: p 0.0625
        ((14, 6, 0, 7), Verdict.WORSE),
        ((200, 1, 1, 40), Verdict.EQUIVALENT),
        ((5, 0, 0, 3), Verdict.INCONCLUSIVE),
        ((9_000, 60, 20, 900), Verdict.WORSE),  # sure, and small: sure comes first
    ],
)
def test_words(counts: tuple[int, int, int, int], word: Verdict) -> None:
    found = of_counts(counts)
    assert found is not None and found.word is word


def drawn(n: int, lost: float, won: float, seed: int) -> np.ndarray:
    """Counts (both, lost, won, neither) of so many simulations, a third of the rest solved by nobody."""
    rest = 1 - lost - won
    return np.random.default_rng(seed).multinomial(n, [rest * 2 / 3, lost, won, rest / 3], SIMULATIONS)


def share_of(word: Verdict, counts: np.ndarray) -> float:
    """Simulations of that verdict; each distinct outcome is judged once."""
    rows, times = np.unique(counts, axis=0, return_counts=True)
    hits = [found is not None and found.word is word for found in map(_judged, rows)]
    return float(times[np.array(hits)].sum() / SIMULATIONS)


def _judged(row: np.ndarray):
    return of_counts(tuple(int(each) for each in row))


@pytest.mark.parametrize(("n", "differing"), [(16, 0.3), (32, 0.3), (64, 0.1), (64, 0.5), (200, 0.2)])
def test_equal_engines_are_seldom_called_worse(n: int, differing: float) -> None:
    counts = drawn(n, differing / 2, differing / 2, seed=n)
    assert share_of(Verdict.WORSE, counts) < 0.05 and share_of(Verdict.BETTER, counts) < 0.05


@pytest.mark.parametrize(("n", "differing"), [(32, 0.5), (64, 0.2), (64, 0.4), (200, 0.1), (200, 0.3)])
def test_a_fall_of_the_printed_size_is_found_as_often_as_printed(n: int, differing: float) -> None:
    fall = smallest_fall(n, differing)
    assert fall is not None
    differing = max(differing, fall)
    counts = drawn(n, (differing + fall) / 2, (differing - fall) / 2, seed=n)
    assert 0.77 < share_of(Verdict.WORSE, counts) < 0.83
    assert fall_found(n, differing, fall) == pytest.approx(0.80, abs=0.01)
    # what a user sees rests on the share that differed in his own runs, and is near that
    printed = [smallest_fall(n, (row[1] + row[2]) / n) for row in counts[:60]]
    assert np.mean([each for each in printed if each is not None]) == pytest.approx(fall, rel=0.1)


@given(st.integers(2, 30), st.floats(0.05, 1.0), st.floats(0.01, 1.0))
def test_power_against_a_sum_over_every_outcome(n: int, differing: float, fall: float) -> None:
    differing = max(differing, fall)
    lost, won = (differing + fall) / 2, (differing - fall) / 2
    found = sum(
        math.comb(n, i) * math.comb(n - i, j) * lost**i * won**j * (1 - differing) ** (n - i - j)
        for i in range(n + 1)
        for j in range(n - i + 1)
        if i > j and mcnemar(i, j) < 0.05
    )
    assert fall_found(n, differing, fall) == pytest.approx(found, abs=1e-9)


def test_few_pairs_find_nothing_and_more_find_less() -> None:
    assert smallest_fall(5, 0.2) is None and fall_found(5, 1.0, 1.0) == 0
    falls = [smallest_fall(n, 0.2) for n in (8, 16, 32, 64, 256)]
    assert all(each is not None for each in falls) and falls == sorted(falls, reverse=True)
