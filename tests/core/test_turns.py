"""Turns, fairness and goodput."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from fixtures_fold import Reply, failure, reply, run_of, session
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.goodput import goodput
from simulator.core.turns import fairness, latency, slowdown, turns_due
from simulator.core.window import Traffic, traffic
from simulator.errors import UsageError


def sample(*replies: Reply, kind: str = "agent", **parts: Any) -> Traffic:
    found = traffic(run_of(*replies, **parts), kind)
    assert found is not None
    return found


def test_a_retried_turn_is_one_turn_due_at_its_first_attempt() -> None:
    first = failure(1.0, turn=3, t_due_s=0.9)
    again = reply(3.0, [(500, 1)], turn=3, retry=1, t_due_s=2.9)
    other = reply(1.0, [(500, 1)], turn=3, session="s0001", t_due_s=1.0)
    turns = turns_due(sample(again, first, other))
    assert turns.latency_s.tolist() == pytest.approx([2.6, 0.5])
    assert latency(turns)["failed"] == 0


def test_a_turn_that_never_succeeded_is_counted_and_has_no_latency() -> None:
    turns = turns_due(sample(failure(1.0, turn=1), reply(2.0, [(500, 1)], turn=2)))
    row = latency(turns)
    assert (row["n"], row["of"], row["failed"]) == (1, 2, 1)
    assert row["min"] == pytest.approx(0.501)


def test_a_sub_agents_turns_count_beside_those_of_its_session() -> None:
    own = [reply(1.0, [(500, 1)], turn=0, t_due_s=1.0), reply(9.0, [(700, 1)], turn=1, t_due_s=9.0)]
    sub = [reply(2.0 + i, [(100 + i, 1)], turn=i, branch=1, t_due_s=2.0 + i) for i in range(3)]
    turns = turns_due(sample(*own, *sub))
    assert sorted(turns.latency_s.tolist()) == pytest.approx([0.1, 0.101, 0.102, 0.5, 0.7])
    assert fairness(turns)["sessions"] == 1
    assert goodput(sample(*own, *sub), {"turn_s": 0.6})["share"] == pytest.approx(4 / 5)


def test_synthetic_requests_are_a_turn_each() -> None:
    same = [reply(float(i), [(100 * i, 1)], kind="synthetic", session="syn", t_due_s=float(i)) for i in (1, 2, 3)]
    assert turns_due(sample(*same, kind="synthetic")).latency_s.tolist() == pytest.approx([0.1, 0.2, 0.3])


def crowd(speed: dict[str, float], turns: int = 60, start_tok: dict[str, int] | None = None) -> Traffic:
    """Sessions whose turns take longer with context, times the session's own factor."""
    draw = random.Random(1)
    replies = []
    for name, factor in speed.items():
        for turn in range(turns):
            context = (start_tok or {}).get(name, 1_000) + 1_000 * turn
            ms = factor * (100 + context / 50) * draw.uniform(0.98, 1.02)
            replies.append(
                reply(float(turn), [(ms, 1)], session=name, turn=turn, prompt_tok=context, t_due_s=float(turn))
            )
    return sample(*replies)


def test_long_contexts_alone_are_not_unfair() -> None:
    row = fairness(turns_due(crowd({f"s{i}": 1.0 for i in range(6)})))
    assert row["sessions"] == 6
    assert row["jain"] > 0.999 and row["worst_over_median"] < 1.02


def test_sessions_with_long_histories_are_compared_with_their_like() -> None:
    names = [f"s{i}" for i in range(6)]
    grown = dict.fromkeys(names[:2], 200_000)
    row = fairness(turns_due(crowd(dict.fromkeys(names, 1.0), start_tok=grown)))
    assert row["jain"] > 0.99 and row["worst_over_median"] < 1.1


def test_a_starved_session_is() -> None:
    even = fairness(turns_due(crowd({f"s{i}": 1.0 for i in range(6)})))
    starved = fairness(turns_due(crowd({f"s{i}": 1.0 for i in range(5)} | {"slow": 4.0})))
    assert starved["jain"] < 0.75 < even["jain"]
    assert starved["worst_over_median"] == pytest.approx(4.0, rel=0.1)


def test_slowdown_is_against_neighbours_in_context() -> None:
    assert np.median(slowdown(turns_due(crowd({"a": 1.0, "b": 1.0})))) == pytest.approx(1.0, abs=0.02)


def test_fairness_by_hand() -> None:
    """Four turns with one context, of 1, 1, 3 and 3 s: the median is 2 s, the slowdowns 0.5 and 1.5, Jain's index
    (0.5 + 1.5)^2 / (2 x (0.25 + 2.25)) = 0.8, and the worst is 1.5 of the median 1.0."""
    quick = [reply(float(i), [(1_000, 1)], session="a", turn=i, t_due_s=float(i)) for i in range(2)]
    slow = [reply(float(i), [(3_000, 1)], session="b", turn=i, t_due_s=float(i)) for i in range(2)]
    row = fairness(turns_due(sample(*quick, *slow)))
    assert row == {"sessions": 2, "jain": pytest.approx(0.8), "worst_over_median": pytest.approx(1.5)}


@given(st.lists(st.floats(0.1, 100), min_size=2, max_size=8), st.floats(0.01, 100))
def test_fairness_is_between_one_and_its_share_and_knows_no_unit(ms: list[float], times: float) -> None:
    def of(factor: float) -> dict[str, Any]:
        return fairness(turns_due(sample(*[reply(1.0, [(v * factor * 1e3, 1)], session=f"s{i}", t_due_s=1.0)
                                           for i, v in enumerate(ms)])))  # fmt: skip

    row, scaled = of(1.0), of(times)
    assert 1 / len(ms) - 1e-9 <= row["jain"] <= 1 + 1e-9 and row["worst_over_median"] >= 1 - 1e-9
    assert scaled["jain"] == pytest.approx(row["jain"], rel=1e-6)


@pytest.mark.parametrize("replies", [[failure(1.0)], [reply(1.0, [(10, 1)])]])
def test_fairness_needs_two_sessions(replies: list[Reply]) -> None:
    row = fairness(turns_due(sample(*replies)))
    assert (row["jain"], row["worst_over_median"]) == (None, None)


GOOD = reply(1.0, [(100, 1), (10, 1)], session="a")
SLOW_START = reply(2.0, [(900, 1), (10, 1)], session="b")
SLOW_TOKENS = reply(3.0, [(100, 1), (200, 1)], session="b", turn=1)
SHORT = reply(4.0, [(100, 5)], session="a", turn=1)
RETRIED = reply(7.0, [(100, 1), (10, 1)], session="c", turn=5, retry=1, t_due_s=6.9)
FAILED = failure(5.0, session="c", turn=5, t_due_s=5.0)


@pytest.mark.parametrize(
    ("slo", "met"),
    [
        ({"ttft_s": 0.5}, 4),
        ({"tpot_s": 0.05}, 4),
        ({"ttft_s": 0.5, "tpot_s": 0.05}, 3),
        ({"e2el_s": 0.2}, 3),
        ({"turn_s": 1.5}, 4),
        ({"ttft_s": 0.01}, 0),
    ],
)
def test_goodput_meets_every_objective(slo: dict[str, float], met: int) -> None:
    ended = (session("a", 0, 9), session("b", 0, 9), session("c", 0, 9))
    run = sample(GOOD, SLOW_START, SLOW_TOKENS, SHORT, FAILED, RETRIED, sessions=ended, windows={"agent": (0.0, 10.0)})
    row = goodput(run, slo)
    assert row is not None
    assert (row["requests_s"], row["share"]) == (pytest.approx(met / 10), pytest.approx(met / 6))
    if slo == {"ttft_s": 0.5, "tpot_s": 0.05}:
        assert row["sessions_h"] == pytest.approx(360)  # only session a had no miss


def test_a_turn_is_late_from_its_first_attempt_even_before_the_window() -> None:
    early = failure(9.0, turn=5, t_due_s=8.0)
    again = reply(10.5, [(100, 1)], turn=5, retry=1, t_due_s=10.4)
    run = sample(early, again, windows={"agent": (10.0, 20.0)})
    assert [goodput(run, {"turn_s": s})["share"] for s in (1.0, 3.0)] == [0.0, 1.0]


def test_goodput_without_objectives_is_unknown_and_a_typo_is_named() -> None:
    assert goodput(sample(GOOD), {}) is None
    with pytest.raises(UsageError, match="'ttfs_s'"):
        goodput(sample(GOOD), {"ttfs_s": 1.0})
