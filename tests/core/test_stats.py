"""Quantiles, fairness and the gap histogram."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.stats import P99_NEEDS, GapHistogram, describe, finite, jain, quantile, ratio

POSITIVE = st.floats(1e-6, 1e6)


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_unknown_is_none(value: float | None) -> None:
    assert finite(value) is None
    assert ratio(value, 2.0) is None
    assert ratio(1.0, 0.0) is None and ratio(1.0, None) is None


def test_nothing_describes_as_nothing() -> None:
    row = describe(np.array([np.nan, np.nan]), failed=2)
    assert row == {
        "n": 0, "of": 2, "failed": 2, "mean": None, "min": None, "p50": None, "p90": None, "p95": None, "p99": None,
        "max": None,
    }  # fmt: skip


def test_one_value_is_all_its_quantiles() -> None:
    row = describe(np.array([0.25]))
    assert (row["n"], row["min"], row["p50"], row["p95"], row["max"], row["p99"]) == (1, 0.25, 0.25, 0.25, 0.25, None)


@pytest.mark.parametrize(("n", "shown"), [(P99_NEEDS - 1, False), (P99_NEEDS, True)])
def test_p99_needs_a_thousand(n: int, shown: bool) -> None:
    row = describe(np.arange(n, dtype=float))
    assert (row["p99"] is not None) is shown
    assert row["p95"] == pytest.approx(0.95 * (n - 1))


def test_unknown_values_are_not_zeros() -> None:
    assert quantile(np.array([np.nan, 4.0, np.nan, 6.0]), 0.5) == 5.0


@pytest.mark.parametrize(
    ("shares", "index"),
    [([1, 1, 1, 1], 1.0), ([1, 0, 0, 0], 0.25), ([2, 1], 0.9), ([1e200, 1e200], 1.0), ([1], None), ([0, 0], None)],
)
def test_jain(shares: list[float], index: float | None) -> None:
    assert jain(np.array(shares, dtype=float)) == (None if index is None else pytest.approx(index))


@given(st.lists(POSITIVE, min_size=2, max_size=30))
def test_jain_lies_between_one_share_and_all_equal(shares: list[float]) -> None:
    index = jain(np.array(shares))
    assert index is not None
    assert 1 / len(shares) - 1e-9 <= index <= 1 + 1e-9


GAP = st.tuples(st.integers(0, 3_000_000), st.integers(1, 5))


@given(st.lists(GAP, min_size=1, max_size=40), st.sampled_from([0.5, 0.9, 0.95]))
def test_histogram_agrees_with_sorting(gaps: list[tuple[int, int]], q: float) -> None:
    histogram = GapHistogram()
    for half in (gaps[::2], gaps[1::2]):
        histogram.add(np.array([g for g, _ in half], dtype=float), np.array([w for _, w in half], dtype=np.int64))
    each = np.sort(np.repeat([g for g, _ in gaps], [w for _, w in gaps]))
    exact = each[math.ceil(q * len(each) - 1e-9) - 1] * 1e-6
    found = histogram.quantile_s(q)
    assert found == pytest.approx(exact, abs=1.01e-3 if exact >= 1 else 1e-9)
    row = histogram.describe(requests=3)
    assert row["n"] == len(each) and row["p99"] is None
    assert row["mean"] == pytest.approx(each.mean() * 1e-6) and row["max"] == pytest.approx(each.max() * 1e-6)


def test_an_empty_histogram() -> None:
    assert set(GapHistogram().describe(requests=0).values()) == {0, None}
