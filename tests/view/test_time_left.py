"""What a plain line says about the time that a stage still takes."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.view.left import left
from simulator.view.state import LiveState

SYNTHETIC = {"scenario": {"sessions": 2, "synthetic": {"requests": 100, "output_tok": 50, "warmup_requests": 10}}}


def slot(number: int, phase: str, ttft_s: float | None = None) -> dict[str, Any]:
    return {"slot": number, "session": f"s{number:04d}", "task": "coding/x", "turn": 1, "turns": 9, "phase": phase,
            "context_tok": 1000, "ttft_s": ttft_s, "tok_s": 0.0}  # fmt: skip


def after(stage: str, tok: int, kind: str = "synthetic", slots: list[dict[str, Any]] | None = None) -> LiveState:
    """A stage that began at second 1 and is now, at second 11, so far."""
    state = LiveState(manifest=SYNTHETIC)
    for t_s, done in ((1.0, 0), (11.0, tok)):
        state.on_pulse(
            {"t_s": t_s, "stage": stage, "ends_s": None, "kind": kind, "output_tok": done, "requests_done": 0,
             "requests_failed": 0, "sessions_done": 0, "in_flight": 0, "tools_running": 0, "loop_lag_s": 0.0,
             "cpu_share": 0.1, "slots": slots or []}
        )  # fmt: skip
    return state


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (after("synthetic", 1_000), "about 0:40 left"),
        (after("synthetic", 5_000), "about 0:00 left"),
        (after("synthetic", 6_000), "about 0:00 left"),
        (after("synthetic", 100), ""),
        (after("warmup", 250), "about 0:10 left"),
        (after("warmup", 250, kind="agent"), ""),
        (after("drain", 250), ""),
        (after("ramp", 9, "agent", [slot(0, "decode"), slot(1, "queue"), slot(2, "queue"), slot(3, "setup")]),
         "about 0:30 left"),
        (after("ramp", 9, "agent", [slot(0, "queue", 0.5), slot(1, "queue")]), "about 0:10 left"),
        (after("ramp", 9, "agent", [slot(0, "decode")]), "about 0:10 left"),
        (after("ramp", 9, "agent", [slot(0, "queue")]), ""),
        (after("ramp", 9, "agent"), ""),
    ],
)  # fmt: skip
def test_what_is_left_is_reckoned_from_the_pace_so_far(state: LiveState, said: str) -> None:
    assert left(state, 11.0) == said


def test_a_known_end_goes_before_a_reckoned_one() -> None:
    state = after("synthetic", 1_000)
    state.pulse = {**state.pulse, "ends_s": 71.0}
    assert left(state, 11.0) == "1:00 left"
    assert left(LiveState(), 0.0) == ""


def test_a_drain_s_limit_is_no_forecast() -> None:
    state = after("drain", 250)
    state.pulse = {**state.pulse, "ends_s": 71.0}
    assert left(state, 11.0) == "at most 1:00 left"
