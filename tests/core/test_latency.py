"""Every latency formula, as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fixtures_fold import Reply, failure, reply, run_of

from simulator.core import latency
from simulator.core.window import traffic

PLAIN = reply(10.0, [(200, 1), (20, 1), (20, 1)])
SPECULATIVE = reply(10.0, [(200, 3), (15, 3), (15, 2), (15, 3)])
WHOLE = reply(10.0, [(200, 40)])
REASONING = reply(10.0, [(200, 2), (30, 2), (30, 2)], t_first_answer_s=10.26)
NO_USAGE = reply(10.0, [(200, 1), (20, 1)], output_tok=None, output_source="none")
LOST_CHUNKS = reply(10.0, [], t_first_s=10.2, t_last_s=10.6, output_tok=41, chunks=10)
CUT = reply(10.0, [(200, 1), (20, 1)], outcome="failed", error="cut")
STOPPED = reply(10.0, [(200, 1), (20, 1)], outcome="cancelled", error="cancelled", output_tok=None)
SILENT = reply(10.0, [], outcome="cancelled", error="cancelled")


def one(values: Any) -> float | None:
    assert len(values) == 1
    return None if np.isnan(values[0]) else pytest.approx(float(values[0]))


@pytest.mark.parametrize(
    ("case", "ttft", "answer", "e2el"),
    [
        (PLAIN, 0.2, 0.2, 0.24),
        (REASONING, 0.2, 0.26, 0.26),
        (NO_USAGE, 0.2, 0.2, 0.22),
        (CUT, None, None, None),
        (STOPPED, 0.2, 0.2, None),
        (SILENT, None, None, None),
        (failure(10.0), None, None, None),
    ],
)
def test_first_and_last(case: Reply, ttft: float | None, answer: float | None, e2el: float | None) -> None:
    table = run_of(case).requests
    assert one(latency.ttft_s(table)) == ttft
    assert one(latency.ttft_answer_s(table)) == answer
    assert one(latency.e2el_s(table)) == e2el


@pytest.mark.parametrize(
    ("case", "n_first", "tpot", "per_chunk"),
    [
        (PLAIN, 1, 0.020, 1.0),
        (SPECULATIVE, 3, 0.045 / 8, 11 / 4),  # not 0.045 / 10, and not the 15 ms between chunks
        (WHOLE, 40, None, 40.0),
        (REASONING, 2, 0.015, 2.0),
        (NO_USAGE, 1, None, None),
        (LOST_CHUNKS, 5, 0.4 / 36, 4.1),  # n_first estimated: 41 tokens over 10 chunks
        (CUT, 1, None, None),
        (STOPPED, 1, None, None),
        (failure(10.0), None, None, None),
        (reply(10.0, [(200, 1), (0, 1)]), 1, None, 1.0),  # no time passed in which to see a token
        (reply(10.0, [(200, 1)]), 1, None, 1.0),
        (reply(10.0, [(200, 0), (10, 1), (10, 1)]), 0, 0.010, 2 / 3),
    ],
)
def test_decode(case: Reply, n_first: float | None, tpot: float | None, per_chunk: float | None) -> None:
    run = run_of(case)
    table, chunks = run.requests, run.chunks
    assert one(latency.n_first_tok(table, chunks)) == n_first
    assert one(latency.tpot_s(table, chunks)) == tpot
    assert one(latency.tok_s_user(table, chunks)) == (None if tpot is None else pytest.approx(1 / tpot))
    assert one(latency.tokens_per_chunk(table)) == per_chunk


def test_user_speed_with_the_wait() -> None:
    assert one(latency.tok_s_user_e2e(run_of(SPECULATIVE).requests)) == 11 / 0.245
    assert one(latency.tok_s_user_e2e(run_of(NO_USAGE).requests)) is None


def test_client_queue_counts_failures_too() -> None:
    never_sent = failure(12.0, "refused", t_sent_s=None)
    run = run_of(reply(10.0, [(1, 1)], t_due_s=9.9), failure(11.0, t_due_s=10.5), never_sent)
    late = latency.client_queue_s(run.requests)
    assert late[:2] == pytest.approx([0.1, 0.5]) and np.isnan(late[2])


def test_gaps_between_chunks_and_between_tokens() -> None:
    run = run_of(SPECULATIVE, PLAIN, CUT)
    icl, itl, covered = latency.gaps(run.requests, run.chunks)
    assert covered == 2
    assert (icl.weight, itl.weight) == (5, 10)
    assert icl.describe(2)["mean"] == pytest.approx((3 * 0.015 + 2 * 0.020) / 5)
    assert itl.describe(2)["mean"] == pytest.approx((0.045 + 0.040) / 10)  # by tokens: 8 and 2
    assert itl.describe(2)["p50"] == pytest.approx(0.005)
    assert itl.describe(2)["max"] == pytest.approx(0.020)


def test_turning_speculation_on_is_no_regression_of_itl() -> None:
    slow = run_of(reply(0.0, [(100, 1)] + [(10, 1)] * 30))
    fast = run_of(reply(0.0, [(100, 1)] + [(15, 3)] * 10))
    means = [latency.gaps(run.requests, run.chunks)[1].describe(1)["mean"] for run in (slow, fast)]
    assert means[1] == pytest.approx(means[0] / 2)


def test_a_chunk_without_tokens_gives_its_gap_to_the_next() -> None:
    run = run_of(reply(0.0, [(100, 1), (10, 0), (20, 2), (5, 0)]))
    icl, itl, _ = latency.gaps(run.requests, run.chunks)
    assert icl.weight == 3
    assert itl.weight == 2 and itl.describe(1)["mean"] == pytest.approx(0.015)


def test_percentiles_say_what_they_cover() -> None:
    run = run_of(PLAIN, SPECULATIVE, CUT, STOPPED, failure(10.0), windows={"agent": (0.0, 20.0)})
    sample = traffic(run, "agent")
    assert sample is not None
    rows = latency.latencies(sample)
    assert [(rows[k]["n"], rows[k]["of"], rows[k]["failed"]) for k in ("ttft_s", "e2el_s")] == [(3, 5, 2), (2, 5, 2)]
    assert rows["ttft_s"]["min"] > 0
