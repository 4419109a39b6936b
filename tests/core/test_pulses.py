"""Pulses of several processes put together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.core.pulses import together
from simulator.core.record import Pulse, SlotState


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
    assert (whole.loop_lag_s, whole.lag_ticks, whole.lag_over_2ms, whole.lag_over_50ms) == (0.09, 100, 8, 2)
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
