"""Pulses of several processes put together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fixtures_fold import reply, run_of
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.certify import health
from simulator.core.pulses import WorstLag, together
from simulator.core.record import Pulse, SlotState
from simulator.core.window import traffic


def slot(number: int) -> SlotState:
    return SlotState(number, f"s{number:04d}", "coding/x", 1, 9, "decode", 1000, 0.2, 50.0)


def pulse(**changed: object) -> Pulse:
    base = Pulse(
        t_s=10.0, stage="window", ends_s=60.0, kind="agent", output_tok=100, requests_done=10, requests_failed=1,
        sessions_done=2, in_flight=3, tools_running=1, loop_lag_s=0.004, cpu_share=0.2, slots=[slot(0), slot(2)],
        lag_ticks=50, lag_over_2ms=4,
    )  # fmt: skip
    return replace(base, **changed)


def test_counts_add_up_and_the_busiest_process_stands_for_the_client() -> None:
    a, b = pulse(), pulse(t_s=10.1, cpu_share=0.5, loop_lag_s=0.09, slots=[slot(1)], lag_over_50ms=2, output_tok=40)
    whole = together([a, b], [[a], [b]])
    assert (whole.output_tok, whole.requests_done, whole.requests_failed, whole.sessions_done) == (140, 20, 2, 4)
    assert (whole.in_flight, whole.tools_running) == (6, 2)
    assert (whole.loop_lag_s, whole.lag_ticks, whole.lag_over_2ms, whole.lag_over_50ms) == (0.09, 50, 4, 2)
    assert (whole.cpu_share, whole.cpu_shares) == (0.5, [0.2, 0.5])
    assert [s.slot for s in whole.slots] == [0, 1, 2]
    assert (whole.t_s, whole.stage, whole.ends_s, whole.kind) == (10.1, "window", 60.0, "agent")


def test_a_process_that_stalled_keeps_its_counts_and_adds_no_lag() -> None:
    a, b = pulse(), pulse(cpu_share=0.7)
    whole = together([a, b], [[a], []])
    assert (whole.output_tok, whole.lag_ticks, whole.cpu_shares) == (200, 50, [0.2, 0.7])


def test_two_pulses_of_one_process_count_both() -> None:
    first, then = pulse(cpu_share=0.2, lag_ticks=40), pulse(cpu_share=0.4, lag_ticks=10, output_tok=150)
    whole = together([then], [[first, then]])
    assert (whole.output_tok, whole.lag_ticks, whole.cpu_share) == (150, 50, pytest.approx(0.3))


def lags(late: int = 0, ticks: int = 50, **changed: object) -> Pulse:
    marks = {f"lag_over_{mark}ms": late for mark in (2, 5, 10, 20, 50, 100, 500)}
    return pulse(**{"lag_ticks": ticks, "loop_lag_s": 0.6 if late else 0.001, **marks, **changed})


def p99(beats: list[list[list[Pulse]]]) -> tuple[str, float]:
    """(verdict, lag p99) of a window of beats: of each process, what it wrote at each."""
    worst, latest, whole = WorstLag(len(beats[0])), [lags() for _ in beats[0]], []
    for n, fresh in enumerate(beats):
        latest = [pulses[-1] if pulses else last for last, pulses in zip(latest, fresh, strict=True)]
        whole.append(replace(together(latest, fresh, worst), t_s=n / 2))
    run = run_of(reply(1.0, [(250, 1), (750, 5)]), windows={"agent": (0.0, len(beats) / 2)}, pulses=whole)
    sample = traffic(run, "agent")
    assert sample is not None
    row = health(sample)
    return row["verdict"], row["loop_lag_s"]["p99"]


@pytest.mark.parametrize("procs", [1, 2, 8, 64])
def test_one_process_that_stalls_is_not_averaged_away(procs: int) -> None:
    """0.6 s every 10 s: its beat in the stall is missed, and told with the next."""
    beats = []
    for n in range(120):
        fresh = [[lags()] for _ in range(procs)]
        fresh[-1] = [] if n % 20 == 8 else [lags(60, 100)] if n % 20 == 9 else [lags()]
        beats.append(fresh)
    verdict, lag = p99(beats)
    assert verdict == "client-limited" and lag > 0.1


def test_many_processes_that_are_late_now_and_then_are_no_bad_process() -> None:
    beats = [[[lags(1 if (n + 7 * k) % 240 == 0 else 0)] for k in range(8)] for n in range(240)]
    assert p99(beats)[0] == "ok", "each is late at 1 of 12,000 moments"


@given(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=1, max_size=30))
def test_the_worst_process_never_reads_better_than_it_was(late: list[list[int]]) -> None:
    worst = WorstLag(3)
    told = sum(worst.counts("agent", "window", [[lags(n)] for n in beat])["lag_over_20ms"] for beat in late)
    assert max(sum(process) for process in zip(*late, strict=True)) <= told <= sum(map(sum, late))


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ((("agent", "ramp"), ("agent", "window")), ("agent", "ramp")),
        ((("agent", "drain"), ("agent", "window")), ("agent", "window")),
        ((("agent", "drain"), ("synthetic", "warmup")), ("agent", "drain")),
        ((("synthetic", "done"), ("synthetic", "synthetic")), ("synthetic", "synthetic")),
        ((("synthetic", "done"), ("synthetic", "done")), ("synthetic", "done")),
    ],
)
def test_the_process_least_far_names_the_stage(stages: tuple[tuple[str, str], ...], expected: tuple[str, str]) -> None:
    pulses = [pulse(kind=kind, stage=stage, slots=[slot(n)]) for n, (kind, stage) in enumerate(stages)]
    whole = together(pulses, [[p] for p in pulses])
    assert (whole.kind, whole.stage) == expected
    same = [p for p in pulses if p.kind == whole.kind]
    assert whole.output_tok == sum(p.output_tok for p in same), "another traffic's counts are not this one's"
    assert whole.in_flight == 6, "open requests are open, whatever their kind"
