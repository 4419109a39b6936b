"""How a run went over time: nothing is lost between bins, and what is unknown stays unknown."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures_fold import failure, reply, run_of, scrape
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.overtime import MOST, grid, over_time
from simulator.core.run import empty


@given(st.floats(-1e3, 1e5), st.floats(0, 1e6))
def test_a_grid_holds_the_run_in_equal_bins_of_whole_multiples(start_s: float, length_s: float) -> None:
    edges = grid(start_s, start_s + length_s)
    step = edges[1] - edges[0]
    assert edges[0] <= start_s + 1e-6 and start_s + length_s <= edges[-1] + 1e-6
    assert len(edges) - 1 <= MOST + 2 and np.allclose(np.diff(edges), step) and step >= 1
    assert np.allclose(edges / step, np.round(edges / step))


@given(st.lists(st.tuples(st.floats(0, 50), st.lists(st.tuples(st.integers(1, 900), st.integers(1, 9)), min_size=1))))
def test_every_token_is_in_one_bin(made: list[tuple[float, list[tuple[int, int]]]]) -> None:
    seen = over_time(run_of(*(reply(sent, stream) for sent, stream in made)))
    total = sum(tok for _, stream in made for _, tok in stream)
    if seen is None:
        assert not made
    else:
        step = seen.edges_s[1] - seen.edges_s[0]
        assert seen.output_tok_s["agent"].sum() * step == pytest.approx(total)


def test_nothing_sent_is_nothing_to_show() -> None:
    assert over_time(empty()) is None
    lone = over_time(run_of(failure(3.0)))
    assert lone is not None and not lone.output_tok_s["agent"].any()
    for series in (lone.running, lone.kv_use, lone.backlog, lone.cached_share, lone.acceptance_length):
        assert np.isnan(series).all()


def test_gauges_are_means_of_a_bins_scrapes_and_the_backlog_is_what_the_engine_has_not() -> None:
    chunks = [(100, 1), (3_900, 1)]
    scrapes = [
        scrape(1.2, num_requests_running=1, num_requests_waiting=0, kv_cache_usage_perc=0.2),
        scrape(1.8, num_requests_running=2, num_requests_waiting=1, kv_cache_usage_perc=0.4),
    ]
    seen = over_time(run_of(*(reply(0.5, chunks, session=f"s{n}") for n in range(4)), engine=tuple(scrapes)))
    assert seen is not None
    at = int(np.searchsorted(seen.edges_s, 1.5, side="right")) - 1
    assert seen.running[at] == 1.5 and seen.waiting[at] == 0.5 and seen.kv_use[at] == pytest.approx(0.3)
    assert seen.in_flight[at] == 4 and seen.backlog[at] == 2.0
    assert np.isnan(seen.running[at + 1])


def test_shares_are_of_sums_and_an_impossible_count_is_left_out() -> None:
    chunks = [(100, 1)]
    run = run_of(
        reply(1.0, chunks, prompt_tok=900, cached_tok=900),
        reply(2.0, chunks, prompt_tok=100, cached_tok=0),
        reply(2.0, chunks, prompt_tok=10, cached_tok=500),
        reply(30.0, chunks, prompt_tok=10, cached_tok=5),
    )
    seen = over_time(run)
    assert seen is not None
    known = seen.cached_share[np.isfinite(seen.cached_share)]
    assert list(known) == [0.9, 0.5]


def test_a_counter_that_was_reset_goes_on_from_there() -> None:
    steps = [(0, 0, 0), (5, 100, 50), (10, 200, 100), (15, 60, 60), (20, 120, 120)]
    scrapes = [
        scrape(t, spec_decode_num_drafts_total=drafts, spec_decode_num_accepted_tokens_total=accepted)
        for t, drafts, accepted in steps
    ]
    seen = over_time(run_of(reply(0.001, [(100, 1), (19_800, 1)]), engine=tuple(scrapes)))
    assert seen is not None
    assert seen.acceptance_length[:4] == pytest.approx([1.5, 1.5, 2.0, 2.0])
