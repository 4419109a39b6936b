"""Drift, and that noise is not called so."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fixtures_fold import Reply, reply, run_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from simulator.core.drift import drift, is_drift
from simulator.core.stats import t_95
from simulator.core.window import Traffic, traffic

WINDOW = {"agent": (10.0, 20.0)}


def sample(*replies: Reply, **parts: Any) -> Traffic:
    found = traffic(run_of(*replies, **parts), "agent")
    assert found is not None
    return found


def steadily(tokens: list[int]) -> Traffic:
    """A window of 10 s with replies of 0.2 s in even steps, so many tokens each."""
    step_s = 10.0 / len(tokens)
    return sample(*[reply(10.0 + i * step_s, [(100, n), (100, n)]) for i, n in enumerate(tokens)], windows=WINDOW)


@pytest.mark.parametrize(("late", "expected"), [(2, 0.0), (3, 0.5), (1, -0.5)])
def test_drift_between_the_halves(late: int, expected: float) -> None:
    replies = [reply(10.0 + i, [(500, 2 if i < 5 else late)]) for i in range(10)]
    found = drift(sample(*replies, reply(19.99, [(5_000, 9)]), windows=WINDOW))
    assert found["drift"] == pytest.approx(expected)


def test_a_tail_is_no_drift() -> None:
    wave = [reply(10.0 + t, [(100, 1)] + [(100, 1)] * 29) for t in (0.0, 3.0, 6.0)]
    assert drift(sample(*wave, windows={"agent": (10.0, 19.0)}))["drift"] == pytest.approx(0.0, abs=0.05)
    assert drift(sample(wave[0], windows=WINDOW)) == {"drift": None, "drift_margin": None}
    assert drift(sample(*wave))["drift"] is None  # no window, no halves


def test_the_margin_by_hand() -> None:
    """Replies of 1 s, the last sent at 30 s: halves of 10 s hold three bins of three E2EL and a bit, 3.33 s each. They
    get 6, 12, 9 tokens, then 12, 12, 12: ratio 36/27; variances 9 and 0; t for 4 degrees of freedom 2.776."""
    bins = [6, 12, 9, 12, 12, 12]
    replies = [reply(10.0 + i * 10 / 3, [(1_000, n)]) for i, n in enumerate(bins)]
    found = drift(sample(*replies, reply(30.0, [(1_000, 1)]), windows={"agent": (10.0, 32.0)}))
    assert found["drift"] == pytest.approx(12 / 9 - 1)
    assert found["drift_margin"] == pytest.approx(2.776 * (9 * (12 / 9) ** 2 / 3) ** 0.5 / 9, rel=1e-3)
    assert not is_drift(found["drift"], found["drift_margin"])


def test_a_short_window_has_no_margin_and_no_drift() -> None:
    slow = [reply(10.0 + i, [(4_000, 2 if i < 5 else 9)]) for i in range(10)]
    found = drift(sample(*slow, windows=WINDOW))
    assert found["drift"] is not None and found["drift"] > 0.05 and found["drift_margin"] is None
    assert not is_drift(found["drift"], found["drift_margin"])


def test_a_step_is_drift() -> None:
    found = drift(steadily([10] * 50 + [13] * 50))
    assert is_drift(found["drift"], found["drift_margin"])


def test_noise_alone_is_seldom_drift() -> None:
    """100 windows of replies that scatter by a half: in many of them the halves differ by more than 5 %."""
    draw, apart, called = random.Random(5), 0, 0
    for _ in range(100):
        found = drift(steadily([draw.choice([5, 30, 55]) for _ in range(60)]))
        apart += abs(found["drift"] or 0.0) > 0.05
        called += is_drift(found["drift"], found["drift_margin"])
    assert apart > 40 and called < 15


@settings(max_examples=40)
@given(st.lists(st.integers(0, 50), min_size=40, max_size=40), st.integers(2, 9))
def test_drift_does_not_depend_on_the_scale(tokens: list[int], times: int) -> None:
    one, many = drift(steadily(tokens)), drift(steadily([n * times for n in tokens]))
    assert (one["drift"] is None) == (many["drift"] is None)
    for key in ("drift", "drift_margin"):
        if one[key] is not None:
            assert many[key] == pytest.approx(one[key], abs=1e-9)


def test_students_t() -> None:
    for freedom in (1, 2, 10, 22, 30, 31, 45, 100, 1_000):
        assert t_95(freedom) == pytest.approx(float(stdtrit(freedom, 0.975)), abs=2e-3)
