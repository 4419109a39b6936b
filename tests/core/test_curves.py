"""Distributions and growths, thinned: what is left out moves no curve by more than it says."""

from __future__ import annotations

import numpy as np
from fixtures_fold import failure, reply, run_of
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.curves import TALK_POINTS, ecdf, growth, latency_curves
from simulator.core.window import traffic


def test_a_short_one_has_every_step() -> None:
    curve = ecdf(np.array([3.0, np.nan, 1.0, 2.0, 2.0]))
    assert list(curve.x) == [1, 2, 2, 3] and list(curve.share) == [0.25, 0.5, 0.75, 1] and curve.n == 4
    assert ecdf(np.zeros(0)).n == 0 and not len(ecdf(np.array([np.nan])).x)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400), st.integers(2, 50))
def test_a_thinned_one_is_right_at_its_points_and_keeps_its_ends(values: list[float], points: int) -> None:
    held, curve = np.array(values), ecdf(np.array(values), points)
    assert len(curve.x) <= max(points, 1) or len(values) <= points
    assert curve.x[0] == held.min() and curve.x[-1] == held.max() and curve.share[-1] == 1
    exact = np.searchsorted(np.sort(held), curve.x, side="right") / len(held)
    below = np.searchsorted(np.sort(held), curve.x, side="left") / len(held)
    assert (curve.share <= exact + 1e-12).all() and (curve.share > below).all()


def test_latencies_are_those_that_percentiles_cover() -> None:
    sample = traffic(run_of(reply(1.0, [(200, 1), (100, 5)]), reply(2.0, [(400, 1)]), failure(3.0)), "agent")
    assert sample is not None
    curves = latency_curves(sample)
    assert [round(x, 6) for x in curves["TTFT"].x] == [0.2, 0.4]
    assert curves["TPOT"].n == 1 and curves["E2EL"].n == 2


def test_prompts_grow_by_turn_in_each_sessions_own_conversation() -> None:
    made = [
        reply(float(turn), [(10, 1)], session=f"s{n}", turn=turn, prompt_tok=100 * turn + n)
        for n in range(5)
        for turn in (3, 1, 2)
    ]
    odd = [
        reply(9.0, [(10, 1)], session="s0", turn=1, branch=1, prompt_tok=7),
        reply(9.5, [(10, 1)], session="s0", turn=2, purpose="compaction", prompt_tok=8),
        failure(9.7, session="s0", turn=4),
    ]
    sample = traffic(run_of(*made, *odd), "agent")
    assert sample is not None
    talks, of = growth(sample)
    assert of == 5 and [talk.session for talk in talks] == [f"s{n}" for n in range(5)]
    assert list(talks[0].turn) == [1, 2, 3] and list(talks[0].prompt_tok) == [100, 200, 300]
    few, of = growth(sample, talks=2)
    assert of == 5 and [talk.session for talk in few] == ["s0", "s4"]


def test_a_long_conversation_keeps_its_ends() -> None:
    sample = traffic(run_of(*(reply(n / 10, [(10, 1)], turn=n) for n in range(500))), "agent")
    assert sample is not None
    (talk,), _ = growth(sample)
    assert len(talk.turn) <= TALK_POINTS and talk.turn[0] == 0 and talk.turn[-1] == 499
