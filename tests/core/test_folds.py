"""Sessions, tools, engine gauges and the client's health."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fixtures_fold import failure, pulse, reply, run_of, scrape, session, tool

from simulator.core.certify import client, lateness_tail_s
from simulator.core.gauges import (
    backlog,
    engine,
    fallen,
    grown,
    open_by_pulses,
    open_by_records,
    restarted,
)
from simulator.core.record import EngineSample, Pulse
from simulator.core.sessions import adds_up, outcomes, wall
from simulator.core.summary import summarise
from simulator.core.table import table_of
from simulator.core.tools import tools
from simulator.core.window import Traffic, Window, traffic

WINDOW = {"agent": (10.0, 20.0)}
UNKNOWN = open_by_pulses(table_of(Pulse, []))
PLAIN = reply(11.0, [(250, 1), (750, 5)])


def sample(*replies: Any, **parts: Any) -> Traffic:
    found = traffic(run_of(*(replies or (PLAIN,)), windows=WINDOW, **parts), "agent")
    assert found is not None
    return found


SPLIT = dict(
    model_s=4.0, tool_run_s=2.0, tool_queue_s=0.5, tool_pace_s=0.5, think_s=2.0, backoff_s=0.6, client_s=0.4
)  # fmt: skip


def test_wall_split_adds_up_and_says_when_it_does_not() -> None:
    good, leaky = session("a", 8, 18, **SPLIT), session("b", 8, 18, **{**SPLIT, "think_s": 1.0})
    assert adds_up(good) and not adds_up(leaky)
    outside = session("c", 0, 9)
    row = wall(sample(sessions=(good, leaky, outside)))
    assert row is not None
    assert (row["sessions"], row["wall_s"], row["not_adding_up"]) == (2, 20.0, 1)
    assert row["shares"]["model_s"] == pytest.approx(0.4)
    assert row["unexplained_share"] == pytest.approx(0.05)
    assert sum(row["shares"].values()) + row["unexplained_share"] == pytest.approx(1.0)


def test_model_time_is_split_at_the_first_token() -> None:
    row = wall(sample(PLAIN, failure(12.0), sessions=(session("s0000", 10, 20),)))
    assert row is not None and row["first_token_share"] == pytest.approx(0.25)


def test_no_session_no_wall() -> None:
    assert wall(sample()) is None


def test_sessions_an_hour_count_what_ended_completed_inside() -> None:
    row = outcomes(
        sample(
            sessions=(
                session("a", 0, 12, verified=True), session("b", 5, 19, verified=False, check="total is 3, not 4"),
                session("c", 5, 15, outcome="failed"), session("d", 5, 25), session("e", 11, 17, start_turn=2),
                session("f", 12, 20, outcome="stopped"),
            )
        )
    )  # fmt: skip
    assert (row["completed"], row["failed"], row["stopped"], row["verified"], row["refuted"]) == (3, 1, 0, 1, 1)
    assert row["per_hour"] == pytest.approx(3 * 360)
    assert (row["wall_s"]["n"], row["wall_s"]["max"]) == (2, 14.0)  # one began in mid-session
    assert row["check_examples"] == ["b: total is 3, not 4"]


def test_tools() -> None:
    calls = [
        tool(11.0, 11.1, 11.5, 12.0),
        tool(12.0, 12.0, 12.2, matched=False, difference="line 2: 3 passed", tool="command", turn=4),
        tool(25.0, 25.0, 26.0),
    ]
    row = tools(run_of(PLAIN, tools=calls).tools, Window(10.0, 20.0, True))
    assert row is not None
    assert (row["calls"], row["mismatches"], row["mismatch_share"]) == (2, 1, 0.5)
    assert row["run_total_s"] == pytest.approx(0.6)
    assert row["queue_s"]["max"] == pytest.approx(0.1) and row["pace_s"]["max"] == pytest.approx(0.5)
    assert row["examples"] == ["s0000 turn 4 command: line 2: 3 passed"]
    assert {name: part["calls"] for name, part in row["by_tool"].items()} == {"command": 1, "search": 1}
    assert tools(run_of(PLAIN).tools, Window(10.0, 20.0, True)) is None


def drafting(t_s: float, drafts: float, accepted: float) -> EngineSample:
    return scrape(t_s, spec_decode_num_drafts_total=drafts, spec_decode_num_accepted_tokens_total=accepted)


@pytest.mark.parametrize(
    ("samples", "length"),
    [
        (
            [drafting(0, 100, 50), drafting(9, 200, 100), drafting(15, 300, 250), drafting(19, 400, 300)],
            1.9545,
        ),
        ([drafting(12, 100, 0), drafting(18, 200, 187)], 2.87),
        ([drafting(12, 100, 0)], None),
        ([drafting(12, 100, 9), drafting(18, 100, 9)], None),  # no drafts in the window
        ([scrape(12, num_requests_running=1), scrape(13, num_requests_running=1)], None),
        (
            [drafting(9.5, 900, 900), drafting(15, 10, 5), drafting(19, 20, 15)],
            1 + 16 / 21,
        ),  # restarted: what it shows is new
    ],
)
def test_acceptance_length_over_the_window(samples: list[EngineSample], length: float | None) -> None:
    found = engine(samples, Window(10.0, 20.0, True), UNKNOWN)
    assert found is not None
    assert found["acceptance_length"] == (None if length is None else pytest.approx(length, abs=1e-4))


def test_growth_takes_the_first_and_last_that_have_the_counter() -> None:
    samples = [scrape(1, other=1), scrape(2, n=5), scrape(3, other=1), scrape(6, n=25)]
    assert grown(samples, "vllm:n") == 20.0
    assert grown(samples[:2], "vllm:n") is None


def gauges(t_s: float, running: float, waiting: float, **values: float) -> EngineSample:
    return scrape(t_s, num_requests_running=running, num_requests_waiting=waiting, **values)


def test_the_wait_for_sub_agents_is_a_part_of_its_own() -> None:
    """6 s of model and 4 s of waiting for a sub-agent, whose request of 3 s is no model time of its session."""
    life = session("s0000", 10.0, 20.0, model_s=6.0, subagent_s=4.0)
    own = reply(10.5, [(1_000, 1), (3_000, 1)])
    sub = reply(15.0, [(2_900, 1), (100, 1)], branch=1)
    row = wall(sample(own, sub, sessions=(life,)))
    assert row is not None and row["not_adding_up"] == 0
    assert (row["shares"]["model_s"], row["shares"]["subagent_s"]) == (0.6, 0.4)
    assert row["first_token_share"] == pytest.approx(0.25)


def test_front_end_backlog_is_what_the_engine_does_not_know() -> None:
    pulses = table_of(Pulse, [pulse(t / 2, in_flight=32) for t in range(20, 40)])
    samples = [gauges(10.2, 2, 0), gauges(11.2, 30, 2), gauges(15.1, 20, 4), gauges(60.0, 0, 0)]
    assert backlog(samples, open_by_pulses(pulses)).tolist() == [30, 0, 8]
    assert backlog(samples, UNKNOWN).tolist() == []
    assert backlog([], open_by_pulses(pulses)).tolist() == []


@pytest.mark.parametrize("beats", [1, 2])
def test_backlog_with_hardly_any_pulses(beats: int) -> None:
    pulses = table_of(Pulse, [pulse(10.0 + t, in_flight=5) for t in range(beats)])
    assert backlog([gauges(10.1, 1, 1)], open_by_pulses(pulses)).tolist() == [3]


def test_records_tell_exactly_what_was_open() -> None:
    never = reply(1.0, t_sent_s=None, t_end_s=9.0, outcome="failed", error="refused")
    requests = run_of(
        reply(1.0, [(2_000, 1)]), reply(2.0, [(2_000, 1)], purpose="warmup"), reply(3.5, [(100, 1)]), never
    ).requests  # fmt: skip
    at = np.array([0.5, 1.0, 2.5, 3.2, 3.55, 5.0])
    assert open_by_records(requests)(at).tolist() == [0, 1, 2, 1, 2, 0]
    assert backlog([gauges(2.5, 1, 0), gauges(3.2, 2, 0)], open_by_records(requests)).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("name", "values", "fell"),
    [
        ("num_preemptions_total", (4, 9, 1), True),
        ("time_to_first_token_seconds_count", (4, 4, 0), True),
        ("generation_tokens_total", (4, 4, 5), False),
        ("num_requests_running", (4, 4, 1), False),  # a gauge may fall
        ("kv_cache_usage_perc", (0.9, 0.1, 0.2), False),
        ("prefix_cache_hits_total", (0, 0, 0), False),
    ],
)
def test_only_a_counter_that_goes_backward_is_a_restart(name: str, values: tuple[float, ...], fell: bool) -> None:
    samples = [scrape(11.0 + i, **{name: value}) for i, value in enumerate(values)]
    assert restarted(samples) == fell and fallen(samples) == [f"vllm:{name}"] * fell


def test_engine_over_the_window() -> None:
    samples = [
        gauges(9.0, 50, 50, kv_cache_usage_perc=0.99, generation_tokens_total=100, prefix_cache_queries_total=0,
               prefix_cache_hits_total=0, num_preemptions_total=1),
        gauges(14.0, 4, 1, kv_cache_usage_perc=0.25, generation_tokens_total=600, prefix_cache_queries_total=50,
               prefix_cache_hits_total=40, num_preemptions_total=1),
        EngineSample(15.0, {}, "timed out"),
        gauges(19.0, 6, 3, kv_cache_usage_perc=0.75, generation_tokens_total=1_100, prefix_cache_queries_total=100,
               prefix_cache_hits_total=90, num_preemptions_total=4),
        gauges(21.0, 90, 90, kv_cache_usage_perc=1.0),
    ]  # fmt: skip
    row = engine(samples, Window(10.0, 20.0, True), UNKNOWN)
    assert row is not None
    assert (row["scrapes"], row["running_mean"], row["waiting_max"]) == (2, 5.0, 3.0)
    assert (row["kv_use_mean"], row["kv_use_max"]) == (0.5, 0.75)
    assert (row["prefix_hit_share"], row["preemptions"]) == (pytest.approx(82 / 90), 3.0)
    assert row["output_tok_s"] == pytest.approx(90.0), "a fifth of the first 500 came before the window"
    assert row["backlog_mean"] is None and row["restarted"] is False
    assert engine(samples[:1], Window(10.0, 20.0, True), UNKNOWN) is None


@pytest.mark.parametrize(("end_s", "told"), [(40.0, True), (3.6, False)])
def test_a_warm_up_between_two_scrapes_is_none_of_the_window(end_s: float, told: bool) -> None:
    """Scrapes at 1.9 s and 2.9 s, a warm-up of 2,000 tokens that ended at 2.2 s, a window that opened at 2.4 s: by the
    clock half of the warm-up's last 1,000 would be the window's."""
    warm = reply(0.5, [(600, 1_000), (1_100, 1_000)], purpose="warmup")
    steady = reply(2.4, [(100, 1)] * round(10 * end_s - 24))

    def counted(t_s: float) -> float:
        return 1_000 * (t_s >= 1.1) + 1_000 * (t_s >= 2.2) + max(0, round(10 * (t_s - 2.4)))

    samples = tuple(scrape(t + 0.9, generation_tokens_total=counted(t + 0.9)) for t in range(int(end_s) + 1))
    run = run_of(warm, steady, windows={"agent": (2.4, end_s)}, engine=samples, pulses=HEALTHY)
    summary = summarise(run)
    made = summary["engine"]["agent"]["output_tok_s"]
    assert made == (pytest.approx(summary["agent"]["output_tok_s"], rel=0.02) if told else None)
    assert "engine_disagrees" not in {each["code"] for each in summary["warnings"]}


HEALTHY = [pulse(10 + t / 2, loop_lag_s=0.002, cpu_share=0.3) for t in range(20)]


@pytest.mark.parametrize(
    ("pulses", "due_s", "verdict", "reason"),
    [
        (HEALTHY, 10.999, "ok", ""),
        ([pulse(12.0, loop_lag_s=0.05)], 10.999, "client-limited", "event-loop lag"),
        ([pulse(12.0, cpu_share=0.97)], 10.999, "client-limited", "97 % of a core"),
        (HEALTHY, 10.9, "client-limited", "late by 9.1 % of a turn"),
        ([], 10.999, "unknown", ""),
        ([pulse(5.0, loop_lag_s=0.5)], 10.999, "unknown", ""),  # lag outside the window does not count
    ],
)
def test_the_client_certifies_itself(pulses: list[Pulse], due_s: float, verdict: str, reason: str) -> None:
    found = client([sample(reply(11.0, [(250, 1), (750, 5)], t_due_s=due_s), pulses=pulses)])
    assert found["verdict"] == verdict
    assert (reason in " ".join(found["reasons"])) and bool(found["reasons"]) == bool(reason)


def test_lateness_and_the_servers_own_ttft() -> None:
    row = client([sample(reply(11.0, [(250, 1)], t_due_s=10.99, server_ttft_s=0.24), pulses=HEALTHY)])["agent"]
    assert row["ttft_minus_server_s"]["p50"] == pytest.approx(0.010)
    assert lateness_tail_s(row) == pytest.approx(0.01)


def test_the_worst_verdict_counts() -> None:
    assert client([])["verdict"] == "unknown"
