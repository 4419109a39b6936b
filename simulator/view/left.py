"""How long a stage still takes, where that is known or can be told from how far it is."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.view.cells import clock
from simulator.view.state import LiveState

#: of a stage that is less far, nothing is foretold
LEAST_SHARE = 0.05


def left(state: LiveState, now_s: float) -> str:
    """`1:48 left` when the stage's end is known (`at most`, of a drain), `about 1:48 left` when it is reckoned from the
    stage's pace so far, "" when neither can be said."""
    ends_s, since_s = state.pulse.get("ends_s"), state.stage_start_s
    if ends_s is not None:
        return f"{at_most(state)}{clock(ends_s - now_s)} left"
    share = _share(state)
    if share is None or since_s is None or share < LEAST_SHARE or now_s <= since_s:
        return ""
    return f"about {clock((now_s - since_s) * (1 - min(1.0, share)) / share)} left"


def at_most(state: LiveState) -> str:
    """A drain ends with the last reply, long before its limit as a rule."""
    return "at most " if state.stage == "drain" else ""


def _share(state: LiveState) -> float | None:
    """How far the stage is: in a ramp, slots that have begun to answer; in synthetic traffic and its warm-up, output
    tokens."""
    scenario = state.manifest.get("scenario")
    scenario = scenario if isinstance(scenario, Mapping) else {}
    if state.stage == "ramp":
        begun = sum(s.ttft_s is not None or s.phase not in ("setup", "queue", "idle") for s in state.slots)
        sessions = scenario.get("sessions")
        slots = max(len(state.slots), sessions if isinstance(sessions, int) else 0)
        return begun / slots if slots else None
    block = scenario.get("synthetic")
    if not isinstance(block, Mapping) or state.pulse.get("kind") != "synthetic":
        return None
    requests = block.get({"warmup": "warmup_requests", "synthetic": "requests"}.get(state.stage, ""))
    each = block.get("output_tok")
    if not isinstance(requests, int) or not isinstance(each, int) or not requests * each:
        return None
    return (state.pulse["output_tok"] - state.stage_since_tok) / (requests * each)
