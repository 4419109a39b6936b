"""Planned against achieved arrivals, places, and whether a load came to a steady state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fixtures_fold import reply, run_of, session

from simulator.core.arrived import Arrived, arrivals, place_wait_s
from simulator.core.certify import health
from simulator.core.run import RunData
from simulator.core.summary import summarise
from simulator.core.window import Traffic, traffic

STREAM = [(100.0, 1), (20.0, 1)]


def sessions_run(
    due_s: list[float], placed_s: list[float], ended_s: list[float], window: tuple[float, float], late_s: float = 0.001
) -> RunData:
    """Sessions of one request each, sent as soon as they have a place."""
    begun = [max(d, p) + late_s for d, p in zip(due_s, placed_s, strict=True)]
    names = [f"s{n:04d}" for n in range(len(due_s))]
    replies = [reply(b, STREAM, session=s, t_due_s=d) for b, s, d in zip(begun, names, due_s, strict=True)]
    lives = [
        session(s, p, e, t_ready_s=max(p, d), t_due_s=d)
        for s, p, e, d in zip(names, placed_s, ended_s, due_s, strict=True)
    ]
    plan = {"agent": {"kind": "poisson", "places": 2, "due_s": due_s}}
    return run_of(*replies, sessions=tuple(lives), windows={"agent": window}, arrivals=plan)


def agent(run: RunData) -> Traffic:
    found = traffic(run, "agent")
    assert found is not None
    return found


def test_rates_lateness_and_places_by_hand() -> None:
    run = sessions_run([0.0, 5.0, 6.0, 8.0, 20.0], [-1.0, 4.0, 7.0, 8.5, 20.0], [9.0] * 5, (4.0, 14.0))
    row = arrivals(agent(run))
    assert row is not None
    assert (row["planned"], row["planned_per_s"], row["achieved_per_s"]) == (3, 0.3, 0.3)
    assert row["late_p50_s"] == pytest.approx(0.501) and row["late_s"]["max"] == pytest.approx(1.001)
    assert row["late_p99_s"] is None, "p99 of three arrivals is none"
    assert row["waited_for_place"] == 2 and row["never_placed"] == 0
    assert row["place_wait_s"]["mean"] == pytest.approx(0.5)
    assert row["state"] is None, "five arrivals are no state"


def test_an_arrival_that_never_began_is_counted() -> None:
    run = sessions_run([0.0, 1.0], [0.0, 1.0], [5.0, 5.0], (0.0, 10.0))
    plan = {"agent": {"kind": "constant", "places": 2, "due_s": [0.0, 1.0, 2.0, 3.0]}}
    row = arrivals(agent(RunData(run.requests, run.chunks, sessions=run.sessions, windows=run.windows, arrivals=plan)))
    assert row is not None
    assert (row["planned"], row["planned_per_s"], row["achieved_per_s"], row["never_placed"]) == (4, 0.4, 0.2, 2)
    assert row["waited_for_place"] == 2


def test_a_run_that_was_cut_short_was_not_late_for_the_rest() -> None:
    run = sessions_run([0.0, 1.0], [0.0, 1.0], [5.0, 5.0], (0.0, 10.0))
    plan = {"agent": {"kind": "constant", "places": 2, "due_s": [0.0, 1.0, 50.0]}}
    row = arrivals(agent(RunData(run.requests, run.chunks, sessions=run.sessions, arrivals=plan)))
    assert row is not None and (row["planned"], row["never_placed"]) == (2, 0)


def test_a_closed_loop_has_no_arrivals() -> None:
    run = run_of(reply(1.0, STREAM), windows={"agent": (0.0, 10.0)})
    assert arrivals(agent(run)) is None and summarise(run)["agent"]["arrival"] is None
    assert place_wait_s(agent(run)).tolist() == [0.0]


def test_latency_from_due_holds_the_wait() -> None:
    part = summarise(sessions_run([1.0], [3.0], [9.0], (0.0, 10.0), late_s=0.0))["agent"]
    assert part["ttft_s"]["p50"] == pytest.approx(0.1) and part["ttft_from_due_s"]["p50"] == pytest.approx(2.1)
    assert part["e2el_s"]["p50"] == pytest.approx(0.12) and part["e2el_from_due_s"]["p50"] == pytest.approx(2.12)
    assert part["turn_latency_s"]["p50"] == pytest.approx(2.12)


def test_waiting_for_a_place_is_not_the_clients_lateness() -> None:
    run = sessions_run([1.0, 2.0], [0.5, 6.0], [9.0, 9.0], (0.0, 10.0), late_s=0.01)
    assert place_wait_s(agent(run)) == pytest.approx([0.0, 4.0])
    assert health(agent(run))["lateness_s"]["max"] == pytest.approx(0.01)


def steady(life_s: float, n: int = 100, places: int = 1_000) -> dict[str, Any]:
    """One arrival a second for n seconds; the second half of the time is the window."""
    due = [float(i) for i in range(n)]
    free, placed = [0.0] * places, []
    for d in due:
        begin = max(d, min(free))
        free[free.index(min(free))] = begin + life_s
        placed.append(begin)
    row = arrivals(agent(sessions_run(due, placed, [p + life_s for p in placed], (n / 2, float(n)))))
    assert row is not None
    return row


@pytest.mark.parametrize(
    ("life_s", "places", "state"),
    [
        (10.0, 1_000, "steady"),  # ten open at any time
        (45.0, 1_000, "steady"),
        (500.0, 1_000, "filling"),  # nothing has ended yet
        (10.0, 10, "steady"),
        (10.0, 5, "overloaded"),  # places for half of what arrives
    ],
)
def test_a_load_is_steady_filling_or_overloaded(life_s: float, places: int, state: str) -> None:
    row = steady(life_s, places=places)
    assert row["state"] == state
    assert row["planned_per_s"] == pytest.approx(1.0)
    assert (row["achieved_per_s"] < 0.8) == (state == "overloaded")


def test_an_engine_that_falls_behind_is_overloaded_without_a_cap() -> None:
    due = [float(i) for i in range(100)]
    ended = [2.0 * i + 5.0 for i in range(100)]  # one done every two seconds
    run = sessions_run(due, due, ended, (30.0, 100.0))
    summary = summarise(run)
    assert summary["agent"]["arrival"]["state"] == "overloaded"
    (told,) = [w for w in summary["warnings"] if w["code"] == "overloaded"]
    assert "no steady state" in told["what"] and "lower the rate" in told["cure"]


def test_synthetic_requests_are_judged_over_their_arrivals() -> None:
    def run(life_ms: float, places: int | None = None) -> RunData:
        replies = [
            reply(i / 10, [(life_ms, 1)], kind="synthetic", session=f"syn{i}", t_due_s=i / 10) for i in range(100)
        ]
        plan = {"synthetic": {"kind": "constant", "places": places}}
        return run_of(*replies, windows={"synthetic": (0.0, 30.0)}, arrivals=plan)

    for life_ms, state in ((500.0, "steady"), (60_000.0, "filling")):
        sample = traffic(run(life_ms), "synthetic")
        assert sample is not None
        row = arrivals(sample)
        assert row is not None and row["state"] == state
        assert row["planned_per_s"] == row["achieved_per_s"] == pytest.approx(10.0)
        assert row["waited_for_place"] == 0
    capped = traffic(run(500.0, places=5), "synthetic")
    assert capped is not None and np.count_nonzero(place_wait_s(capped) >= 0) == 100


def test_who_is_there_is_counted_at_a_moment() -> None:
    found = Arrived(np.array([0.0, 4.0]), np.array([0.0, 6.0]), np.array([0.0, 6.0]), np.array([8.0, np.nan]))
    assert [found.open_at(t) for t in (-1.0, 0.0, 4.0, 8.0, 99.0)] == [0, 1, 2, 1, 1]
    assert [found.open_at(t, waiting=True) for t in (0.0, 4.0, 6.0)] == [0, 1, 0]


@pytest.mark.parametrize("seed", range(5))
def test_chance_alone_is_no_overload(seed: int) -> None:
    rng = np.random.default_rng(seed)
    due = np.cumsum(rng.exponential(1.0, 300))
    run = sessions_run(list(due), list(due), list(due + rng.exponential(20.0, 300)), (100.0, float(due[-1])))
    row = arrivals(agent(run))
    assert row is not None and row["state"] == "steady"
