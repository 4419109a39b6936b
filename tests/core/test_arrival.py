"""Schedules of an open loop: pure, seeded, absolute, the same however much of them is asked for."""

from __future__ import annotations

import math
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simulator.core.arrival import MAX_SESSIONS, due_times, request_times, session_times
from simulator.core.scenario import Arrival, Scenario, Synthetic
from simulator.errors import UsageError


def scenario(seed: int = 1, window_s: float | None = 60.0, ramp_s: float = 5.0, **arrival: Any) -> Scenario:
    block = Arrival(**{"kind": "poisson", "sessions_per_s": 1.0, **arrival})
    return Scenario(name="a", seed=seed, sessions=8, window_s=window_s, ramp_s=ramp_s, arrival=block)


def poisson(rate: float, seed: int, n: int, stream: str = "session") -> np.ndarray:
    times = due_times(Arrival(kind="poisson", sessions_per_s=rate), seed, stream)
    return np.array(list(islice(times, n)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_poisson_gaps_are_exponential_and_their_counts_poisson(seed: int) -> None:
    times = poisson(4.0, seed, 20_000)
    gaps = np.diff(times, prepend=0.0)
    assert gaps.mean() == pytest.approx(0.25, rel=0.03)
    assert stats.kstest(gaps, "expon", args=(0, 0.25)).pvalue > 1e-3
    counts = np.bincount(times.astype(int))[:4_000]
    assert counts.var() / counts.mean() == pytest.approx(1.0, abs=0.1), "bunched or evened out"
    assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 0.03, "a gap says nothing about the next"


@given(st.integers(0, 2**31), st.floats(0.01, 1e4), st.integers(1, 50), st.integers(1, 50))
def test_a_longer_schedule_begins_with_the_shorter_one(seed: int, rate: float, n: int, more: int) -> None:
    short, long = poisson(rate, seed, n), poisson(rate, seed, n + more)
    assert long[:n].tolist() == short.tolist()
    assert all(a <= b for a, b in pairwise(long)) and long[0] >= 0


@given(st.integers(0, 2**31), st.floats(0.01, 100), st.floats(1.0, 10))
def test_a_faster_schedule_is_the_same_draw_on_a_faster_clock(seed: int, rate: float, factor: float) -> None:
    np.testing.assert_allclose(poisson(rate, seed, 20), poisson(rate * factor, seed, 20) * factor, rtol=1e-9)


def test_seeds_and_streams_draw_apart() -> None:
    one = poisson(1.0, 1, 10)
    assert one.tolist() == poisson(1.0, 1, 10).tolist()
    assert one.tolist() != poisson(1.0, 2, 10).tolist()
    assert one.tolist() != poisson(1.0, 1, 10, stream="request").tolist()


def test_constant_gaps_do_not_drift() -> None:
    times = list(islice(due_times(Arrival(kind="constant", sessions_per_s=3.0), 1, "session"), 100_001))
    assert times[0] == 0.0 and times[300] == 100.0 and times[100_000] == 100_000 / 3.0


def test_a_trace_is_scaled_and_capped() -> None:
    trace = Arrival(kind="trace", times_s=(0.5, 1.0, 1.0, 4.0), scale=2.0, total=3)
    assert list(due_times(trace, 1, "session")) == [1.0, 2.0, 2.0]


def test_sessions_are_planned_until_the_window_closes() -> None:
    times = session_times(scenario(kind="constant", sessions_per_s=2.0, window_s=10.0, ramp_s=3.0))
    assert times == tuple(n / 2.0 for n in range(26)), "0 to 12.5 s: the window closes at 13 s"
    # the window's place follows the first arrival
    late = session_times(scenario(kind="trace", sessions_per_s=None, times_s=(7.0, 9.0, 30.0), window_s=10.0))
    assert late == (7.0, 9.0)


def test_without_a_window_all_that_are_wanted_arrive() -> None:
    assert len(session_times(scenario(window_s=None, total=7))) == 7
    assert len(session_times(scenario(window_s=None, total=MAX_SESSIONS))) == MAX_SESSIONS
    assert session_times(scenario(window_s=None, kind="trace", sessions_per_s=None, times_s=(1, 2))) == (1.0, 2.0)


@given(st.integers(0, 1000), st.floats(0.1, 5), st.floats(1, 60), st.floats(0, 30))
def test_planned_sessions_are_due_before_the_end_and_about_as_many_as_the_rate_says(
    seed: int, rate: float, window_s: float, ramp_s: float
) -> None:
    times = session_times(scenario(seed, window_s, ramp_s, sessions_per_s=rate))
    span = ramp_s + window_s
    assert times[0] <= times[-1] < times[0] + span
    assert abs(len(times) - 1 - rate * span) < 6 * math.sqrt(rate * span) + 6


def test_too_many_sessions_and_unread_files_are_told() -> None:
    with pytest.raises(UsageError, match=r"more than 4,096 sessions would arrive; lower `arrival.sessions_per_s`"):
        session_times(scenario(sessions_per_s=1000.0))
    with pytest.raises(UsageError, match=r"`a.txt` was not read"):
        session_times(scenario(kind="trace", sessions_per_s=None, file="a.txt"))


def test_requests_have_a_schedule_of_their_own() -> None:
    block = Synthetic.model_validate({"requests": 5, "arrival": {"kind": "constant", "requests_per_s": 10}})
    assert request_times(block, 1) == (0.0, 0.1, 0.2, 0.3, 0.4)
