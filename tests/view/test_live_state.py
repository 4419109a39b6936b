"""The fold behind the live view, with tables."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import orjson
import pytest
from growing_run import pulse, request, session, slot

from simulator.core.gauges import RUNNING, WAITING
from simulator.core.record import EngineSample
from simulator.view.feed import Feed, RecentTail, process_gone
from simulator.view.plain import progress_line
from simulator.view.state import LiveState, busiest


def line(record: Any) -> dict[str, Any]:
    return orjson.loads(orjson.dumps(record))


def state_with(*records: Any) -> LiveState:
    state = LiveState()
    for record in records:
        match type(record).__name__:
            case "Pulse":
                state.on_pulse(line(record))
            case "Request":
                state.on_record(line(record))
            case "Session":
                state.on_session(line(record))
            case "EngineSample":
                state.on_engine(line(record))
    return state


def counters(t_s: float, hits: float, queries: float, drafts: float = 0, accepted: float = 0) -> EngineSample:
    return EngineSample(
        t_s,
        {
            "vllm:num_requests_running": 20.0,
            "vllm:num_requests_waiting": 3.0,
            "vllm:kv_cache_usage_perc": 0.41,
            "vllm:prefix_cache_hits_total": hits,
            "vllm:prefix_cache_queries_total": queries,
            "vllm:spec_decode_num_drafts_total": drafts,
            "vllm:spec_decode_num_accepted_tokens_total": accepted,
        },
    )


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([0], None),
        ([0, 500], None),
        ([0, 5000, 5100, 5200], None),  # a burst at the start is no rate
        ([0, 500, 1000, 1500, 2000], 1000.0),
        ([0, 500, 400, 400, 800], 400.0),  # an estimate corrected downwards counts
        ([500, 100, 100, 100, 100], 0.0),  # and never shows as a negative rate
        ([0] + [1_000_000] * 7 + [1_000_500], 1000.0 / 6),  # only the last three seconds
    ],
)
def test_output_rate(tokens: list[int], expected: float | None) -> None:
    state = state_with(*(pulse(0.5 * i, [], output_tok=tok) for i, tok in enumerate(tokens)))
    assert state.output_rate() == (None if expected is None else pytest.approx(expected))


def test_a_change_of_traffic_is_no_rate() -> None:
    state = state_with(
        pulse(0, [], output_tok=0),
        pulse(1, [], output_tok=100),
        pulse(2, [], output_tok=40, kind="synthetic"),
        pulse(3, [], output_tok=340, kind="synthetic"),
    )
    assert state.history(4, 1.0) == [None, 100.0, None, 300.0]
    assert state.output_rate() is None
    state.on_pulse(line(pulse(4, [], output_tok=640, kind="synthetic")))
    assert state.output_rate() == pytest.approx(300)


def test_a_warm_up_at_another_load_is_no_part_of_the_rate_or_of_the_limit() -> None:
    """All of a warm-up's requests at once, then four: what was open before would look like the front end's backlog."""
    state = LiveState()
    beats = [(1.0 * n, "warmup" if n < 4 else "synthetic", 32 if n < 4 else 4) for n in range(1, 13)]
    total, told = 0, {}
    for t_s, stage, running in beats:
        total += 5_000 if stage == "warmup" else 700
        state.on_engine(line(EngineSample(t_s - 0.2, {RUNNING: min(4.0, running), WAITING: 0.0})))
        state.on_pulse(line(pulse(t_s, [], stage=stage, kind="synthetic", output_tok=total, in_flight=running)))
        told[t_s] = state.output_rate(), state.limit(state.gauges())
    assert [told[t_s] for t_s in (4.0, 5.0)] == [(None, None)] * 2
    assert told[6.0] == (pytest.approx(700), None)
    rate, found = told[9.0]
    assert rate == pytest.approx(700) and found is not None and found["where"] == "none", found


def test_history_lies_on_a_fixed_grid() -> None:
    """A column keeps its value when time goes on; it only moves to the left."""
    beats = [pulse(0.5 * i, [], output_tok=100 * i * i) for i in range(40)]
    state, earlier = LiveState(), []
    for beat in beats:
        state.on_pulse(line(beat))
        now = state.history(8, 2.0)
        if earlier and beat.t_s % 2 == 0:
            assert now[:-1] == earlier[1:]
        earlier = now


def test_stage_rate_needs_the_stages_beginning() -> None:
    whole = state_with(
        pulse(10, [], stage="ramp", output_tok=50),
        pulse(11, [], output_tok=100, requests_done=5),
        pulse(15, [], output_tok=900, requests_done=9, requests_failed=1),
    )
    assert whole.stage_rate() == 200
    assert whole.stage_requests == 5
    joined = state_with(pulse(500, [], output_tok=100), pulse(510, [], output_tok=900))
    assert joined.stage_rate() is None
    assert joined.stage_start_s is None
    joined.windows = {"agent": {"start_s": 480.0, "end_s": 600.0}}
    assert joined.stage_start_s == 480
    assert whole.stage_start_s == 11


@pytest.mark.parametrize(
    ("waiting", "sampled_s", "shown"), [(0.0, 10.0, "prefill"), (2.0, 10.0, "queue"), (0.0, 2.0, "queue")]
)
def test_queue_is_prefill_when_nothing_waits(waiting: float, sampled_s: float, shown: str) -> None:
    """Only a fresh gauge may say so."""
    sample = EngineSample(sampled_s, {"vllm:num_requests_running": 1.0, "vllm:num_requests_waiting": waiting})
    state = state_with(sample, pulse(10.5, [slot(0, "queue"), slot(1, "tool")]))
    assert [state.shown_phase(s, state.gauges()) for s in state.slots] == [shown, "tool"]
    assert state.phases(1, 1.0)[0][0] == shown


def test_gauges() -> None:
    state = state_with(
        counters(1, hits=0, queries=0),  # older than ten seconds: not part of the shares
        counters(10, hits=1000, queries=2000, drafts=100, accepted=0),
        counters(20, hits=1900, queries=3000, drafts=200, accepted=80),
        pulse(20.4, [], in_flight=27),
    )
    gauges = state.gauges()
    assert (gauges.running, gauges.waiting, gauges.kv_share) == (20, 3, 0.41)
    assert gauges.hits == pytest.approx(0.9)
    assert gauges.acceptance == pytest.approx(1.8)
    assert gauges.backlog == 4


def test_gauges_without_news() -> None:
    reset = state_with(counters(1, 500, 900), counters(2, 10, 20), pulse(2, []))
    assert reset.gauges().hits is None, "a restarted engine counts from 0"
    idle = state_with(counters(1, 500, 900), counters(2, 500, 900), pulse(2, []))
    assert idle.gauges().hits is None
    stale = state_with(counters(1, 1, 2), EngineSample(8.0, {}, "refused"), pulse(9, []))
    assert stale.gauges().running is None
    assert stale.gauges().error == "refused"


def test_latencies_cover_good_requests_of_this_traffic_in_the_last_minute() -> None:
    state = state_with(
        request(t_end_s=5, t_first_s=9.0),  # more than a minute ago
        *(request(t_end_s=80, t_sent_s=70, t_first_s=70 + ttft, t_last_s=79) for ttft in (0.2, 0.4, 0.9)),
        request(t_end_s=80, t_sent_s=70, t_first_s=75.0, t_last_s=79, kind="synthetic"),
        request(t_end_s=80, t_sent_s=70, t_first_s=75.0, t_last_s=79, purpose="warmup"),
        request(t_end_s=80, t_sent_s=70, t_first_s=None, t_last_s=None, outcome="failed", error="timeout"),
        request(t_end_s=80, t_sent_s=None, t_first_s=None, t_last_s=None, outcome="failed", error="refused"),
        pulse(81, []),
    )
    late = state.latencies()
    assert late.n == 3
    assert late.ttft_p50_s == pytest.approx(0.4)
    assert late.ttft_p95_s == pytest.approx(0.85)
    assert late.e2el_p50_s == pytest.approx(9)
    assert state.last_failure["error"] == "refused"


def test_busiest_first() -> None:
    slots = (
        slot(0, "idle"),
        slot(1, "think"),
        slot(2, "tool"),
        slot(3, "queue"),
        slot(4, "decode", tok_s=10.0),
        slot(5, "decode", tok_s=90.0),
        slot(6, "prefill"),
        slot(7, "done"),
    )
    assert [s.slot for s in busiest(slots)] == [5, 4, 3, 6, 2, 1, 0, 7]


def test_sessions_count_what_their_check_said() -> None:
    state = state_with(session(), session(verified=False), session(verified=None), session(outcome="stopped"))
    assert (state.verified[True], state.verified[False], state.verified[None]) == (1, 1, 1)


def test_health_is_the_worst_lag_and_the_mean_share() -> None:
    state = state_with(
        pulse(0, []),
        pulse(1, [], loop_lag_s=0.5, cpu_share=1.0),
        pulse(7, [], loop_lag_s=0.001, cpu_share=0.2),
        pulse(8, [], loop_lag_s=0.03, cpu_share=0.4),
        pulse(10, [], loop_lag_s=0.002, cpu_share=0.7),
    )
    lag_s, cpu = state.health() or (None, None)
    assert lag_s == 0.03
    assert cpu == pytest.approx((0.2 * 6 + 0.4 * 1 + 0.7 * 2) / 9)


def test_progress_line() -> None:
    state = state_with(
        counters(41, 1, 2),
        request(t_end_s=41, t_sent_s=30, t_first_s=30.41, t_last_s=40),
        pulse(40, [slot(i) for i in range(32)], output_tok=0, in_flight=23),
        pulse(
            42,
            [slot(i, "idle" if i == 9 else "decode") for i in range(32)],
            output_tok=6824,
            requests_done=212,
            ends_s=150.0,
            in_flight=23,
        ),
    )
    state.manifest = {"engine": {"kind": "emulated"}}
    assert progress_line(state, 42.0) == (
        "[EMULATED] 00:42 window 31/32 busy  3,412 tok/s  TTFT p50 0.41 s  requests done 212 failed 0  KV 41 %  "
        "limit the engine  1:48 left"
    )
    state.manifest = {"engine": {"kind": "real"}}
    assert progress_line(state, 42.0).startswith("00:42 window")
    state.manifest = {"engine": {"kind": "real", "random_weights": True}}
    assert progress_line(state, 42.0).startswith("[RANDOM WEIGHTS] 00:42 window")
    state.manifest = {"engine": {"kind": "emulated"}, "mode": "live"}
    assert " solved " not in progress_line(state, 42.0), "nothing is judged yet"
    for verified in (True, False, True):
        state.on_session({"outcome": "completed", "verified": verified})
    assert "requests done 212 failed 0  solved 2 of 3  KV" in progress_line(state, 42.0)
    assert progress_line(LiveState(), 0.0) == "00:00 setup"


def test_feed_folds_each_line_once_and_passes_over_broken_ones(tmp_path: Path) -> None:
    state, feed = LiveState(), Feed(tmp_path)
    assert not feed.poll(state)
    (tmp_path / "manifest.json").write_bytes(b'{"label": "a"}')
    beat = orjson.dumps(pulse(1, [slot(0)]))
    with (tmp_path / "pulse.jsonl").open("wb") as file:
        file.write(b'{"t_s": 1}\nnot json\n[1]\n' + beat + b"\n" + beat[:40])
        file.flush()
        assert feed.poll(state)
        assert (state.pulse["t_s"], feed.ignored) == (1, 3)
        assert not feed.poll(state), "half a line is no news"
        file.write(beat[40:] + b"\n")
    assert feed.poll(state)
    assert feed.ignored == 3
    (tmp_path / "manifest.json").write_bytes(b'{"label": "a", "ended"')
    assert not feed.poll(state), "a half-written document is tried again"
    (tmp_path / "manifest.json").write_bytes(b'{"label": "a", "ended": 5}')
    assert feed.poll(state)
    assert state.ended


def test_a_long_past_is_skipped_at_a_line_boundary(tmp_path: Path) -> None:
    path = tmp_path / "pulse.jsonl"
    path.write_bytes(b"".join(b"%04d\n" % n for n in range(1000)))
    assert RecentTail(path, past_bytes=12).lines() == [b"0998", b"0999"]
    assert RecentTail(path, past_bytes=10).lines() == [b"0998", b"0999"]
    assert len(RecentTail(path, past_bytes=5000).lines()) == 1000


def test_process_gone() -> None:
    import os
    import subprocess
    import sys
    import time

    dead = subprocess.Popen([sys.executable, "-c", ""])
    assert os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT) is not None
    assert process_gone({"pid": dead.pid}) is True, "a zombie runs nothing"
    dead.wait()
    assert process_gone({"pid": dead.pid}) is True
    assert process_gone({"pid": os.getpid(), "t0_unix_s": time.time()}) is False
    assert process_gone({"pid": os.getpid(), "t0_unix_s": time.time() - 1e6}) is True, "the id was given out again"
    assert process_gone({}) is None


def test_every_slot_field_is_read() -> None:
    state = state_with(pulse(1, [slot(3, "tool"), slot(1, "think")]))
    assert [dataclasses.asdict(s) for s in state.slots] == [
        dataclasses.asdict(slot(1, "think")),
        dataclasses.asdict(slot(3, "tool")),
    ]
