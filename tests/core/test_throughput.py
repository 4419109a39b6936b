"""Tokens over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fixtures_fold import Reply, failure, reply, run_of
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.run import RunData
from simulator.core.throughput import cached, in_flight, most_in_flight, rates, tokens_between
from simulator.core.window import CUT_SHORT, NO_WINDOW, Traffic, traffic

WINDOW = {"agent": (10.0, 20.0)}


def sample(*replies: Reply, **parts: Any) -> Traffic:
    found = traffic(run_of(*replies, **parts), "agent")
    assert found is not None
    return found


STEADY = [(1000, 2)] + [(1000, 2)] * 9  # ten chunks of two tokens, one a second


@pytest.mark.parametrize(
    ("case", "inside"),
    [
        (reply(10.0, STEADY), 18),  # 11..20: the last arrives at the window's end, which is outside
        (reply(5.0, STEADY), 12),  # 6..15: crosses the start with its parts from 10 on
        (reply(15.0, STEADY), 8),
        (reply(0.0, STEADY[:5]), 0),
        (reply(25.0, STEADY), 0),
        (reply(5.0, STEADY, outcome="cancelled", output_tok=None), 12),
        (reply(5.0, STEADY, outcome="failed", error="cut"), 0),
        (reply(10.0, [(1000, 2)] * 5, output_tok=13), 13),  # usage knows of three more: at the last output
        (reply(10.0, [(1000, 2)] * 5, output_tok=8), 8),
        (reply(10.0, [(1000, 2)] * 5, output_tok=None, output_source="none"), 10),
        (reply(0.0, [], t_first_s=5.0, t_last_s=15.0, output_tok=100), 50),  # lost chunks: evenly
        (reply(0.0, [], t_first_s=12.0, t_last_s=12.0, output_tok=7), 7),
    ],
)
def test_a_token_counts_where_its_chunk_arrived(case: Reply, inside: float) -> None:
    assert tokens_between(sample(case, windows=WINDOW), np.array([10.0, 20.0])) == pytest.approx([inside])


@given(st.lists(st.tuples(st.floats(0, 30), st.lists(st.tuples(st.integers(1, 4000), st.integers(0, 5)), min_size=1))))
def test_no_token_is_lost_or_counted_twice(streams: list[tuple[float, list[tuple[int, int]]]]) -> None:
    replies = [reply(sent, chunks) for sent, chunks in streams] or [reply(1.0, [(1, 1)])]
    bins = tokens_between(sample(*replies, windows=WINDOW), np.array([-np.inf, 3.0, 9.5, 20.0, np.inf]))
    assert bins.sum() == sum(tok for r in replies for _, tok in r.chunks)


def test_window_and_whole_run_stand_side_by_side() -> None:
    row = rates(sample(reply(8.0, STEADY), reply(10.5, STEADY), windows=WINDOW))
    assert row["output_tok_s"] == pytest.approx((18 + 18) / 10)
    assert row["output_tok_s_whole_run"] == pytest.approx(40 / 12.5)
    assert row["input_tok_s"] == pytest.approx(100 / 10)  # only one prefill ended inside
    assert row["total_tok_s"] == pytest.approx(row["output_tok_s"] + 100 / 10)


def test_prompts_without_usage_are_the_plans_and_are_counted() -> None:
    row = rates(sample(reply(11, STEADY, prompt_tok=None, planned_prompt_tok=300), windows=WINDOW))
    assert (row["input_tok"], row["prompts_planned"]) == (300, 1)


def test_nothing_arrived_is_unknown_not_zero() -> None:
    row = rates(sample(failure(11.0), failure(12.0), windows=WINDOW))
    assert [row[k] for k in ("output_tok_s", "output_tok_s_whole_run", "input_tok_s", "total_tok_s")] == [None] * 4


def test_an_idle_window_of_a_run_that_delivered_is_zero() -> None:
    assert rates(sample(reply(0.0, [(1000, 1)]), windows=WINDOW))["output_tok_s"] == 0


def test_in_flight_is_a_mean_over_time() -> None:
    assert in_flight(sample(reply(5.0, [(10_000, 1)]), reply(12.0, [(2_000, 1)]), windows=WINDOW)) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("spans", "most"),
    [
        ([], None),
        ([(11.0, 1.0)], 1),
        ([(11.0, 1.0), (12.0, 1.0)], 1),
        ([(11.0, 2.0), (12.0, 2.0), (12.5, 0.2), (12.8, 1.0)], 3),
        ([(5.0, 8.0), (6.0, 8.0), (12.0, 1.0)], 3),
        ([(1.0, 2.0)], 0),
    ],
)
def test_the_most_in_flight_at_one_moment_of_the_window(spans: list[tuple[float, float]], most: int | None) -> None:
    found = [reply(sent, [(1e3 * long, 1)]) for sent, long in spans] or [failure(12.0, "refused", t_sent_s=None)]
    assert most_in_flight(sample(*found, windows=WINDOW)) == most


def test_the_share_of_requests_that_were_sub_agents() -> None:
    found = sample(*(reply(11.0 + n, [(10, 1)], branch=n // 3) for n in range(4)), windows=WINDOW)
    assert rates(found)["subagent_share"] == 0.25
    synthetic = traffic(
        run_of(reply(11.0, [(10, 1)], kind="synthetic"), windows={"synthetic": (10.0, 20.0)}), "synthetic"
    )
    assert synthetic is not None and rates(synthetic)["subagent_share"] is None


def test_cached_share_of_first_and_later_turns() -> None:
    def turn(session: str, turn: int, cached_tok: int | None, **fields: Any) -> Reply:
        return reply(11.0 + turn, [(10, 1)], session=session, turn=turn, cached_tok=cached_tok, **fields)

    found = cached(
        sample(
            turn("s1", 0, 10), turn("s1", 1, 80), turn("s1", 2, 90),
            turn("s2", 4, 90, purpose="warmup"), turn("s2", 4, 99), turn("s2", 5, None),
            windows=WINDOW,
        )
    )  # fmt: skip
    assert found == {
        "all": pytest.approx((10 + 80 + 90 + 99) / 400),
        "first_turns": pytest.approx(0.1),
        "later_turns": pytest.approx((80 + 90 + 99) / 300),
        "n": 4,
        "source": "usage",
        "impossible": 0,
    }


def test_a_sub_agents_first_turn_is_a_first_turn_and_its_sessions_stays_one() -> None:
    """The session was met at its sixth turn; its sub-agents start at their turn 0."""
    run = sample(
        reply(11.0, [(10, 1)], turn=5, cached_tok=90), reply(12.0, [(10, 1)], turn=6, cached_tok=95),
        reply(13.0, [(10, 1)], turn=0, branch=1, cached_tok=10),
        reply(14.0, [(10, 1)], turn=1, branch=1, cached_tok=80),
        reply(13.0, [(10, 1)], turn=0, branch=2, cached_tok=20), windows=WINDOW,
    )  # fmt: skip
    found = cached(run)
    assert found["first_turns"] == pytest.approx((90 + 10 + 20) / 300)
    assert found["later_turns"] == pytest.approx((95 + 80) / 200)


@pytest.mark.parametrize(("claimed", "share", "n"), [([100], 1.0, 1), ([101], None, 0), ([50, 200], 0.5, 1)])
def test_more_cached_than_prompted_is_left_out_and_told(claimed: list[int], share: float | None, n: int) -> None:
    found = cached(sample(*(reply(11.0, [(10, 1)], cached_tok=tok) for tok in claimed), windows=WINDOW))
    assert (found["all"], found["n"], found["impossible"]) == (share, n, len(claimed) - n)


def test_cached_share_of_nothing() -> None:
    assert cached(sample(failure(11.0), windows=WINDOW))["all"] is None


def stated(run: RunData) -> tuple[float, float, bool, str]:
    found = traffic(run, "agent")
    assert found is not None
    window = found.window
    return window.start_s, window.end_s, window.steady, window.note


def test_the_window() -> None:
    one, two = reply(10.0, [(500, 1), (500, 1)]), reply(15.0, [(500, 1)])
    warm = reply(1.0, [(100, 1)], purpose="warmup")
    assert stated(run_of(one, two, warm, windows=WINDOW)) == (10.0, 20.0, True, "")
    assert stated(run_of(one, two, warm)) == (10.5, 15.5, False, NO_WINDOW)
    assert stated(run_of(one, two, windows=WINDOW, ended=False)) == (10.0, 15.5, True, CUT_SHORT)
    assert stated(run_of(one, two, windows={"agent": (20.0, 20.0)}))[2] is False
    assert stated(run_of(failure(3.0))) == (2.9995, 3.0, False, NO_WINDOW)
    assert traffic(run_of(warm), "agent") is None and traffic(run_of(one), "synthetic") is None


def test_who_belongs_to_the_window() -> None:
    before, inside, refused = reply(9.9, [(500, 1)]), reply(19.9, [(9_000, 1)]), failure(12, "refused", t_sent_s=None)
    found = sample(before, inside, refused, reply(12.0, [(1, 1)], purpose="warmup"), windows=WINDOW)
    assert found.sent["request"].tolist() == [1, 2]
    assert sample(before, inside, refused).sent.n == 3
