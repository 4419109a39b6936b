"""The run as single lines, for logs and terminals that cannot be drawn on."""

from __future__ import annotations

from simulator.view.cells import clean, clock, count, percent, seconds
from simulator.view.identity import RANDOM, is_emulated, is_random, is_virtual
from simulator.view.left import left
from simulator.view.state import LiveState
from simulator.view.verdict import WHO


def progress_line(state: LiveState, now_s: float, notice: str = "") -> str:
    """`[EMULATED] 00:42 window 31/32 busy  3,412 tok/s  TTFT p50 0.41 s  requests done 212 failed 0  KV 41 %  limit the
    engine  1:48 left`, of live agents also `solved 3 of 5`. What is not known is left out, and the limit when nobody is
    at one."""
    pulse = state.pulse
    mark = "[EMULATED] " if is_emulated(state.manifest) else ""
    mark = f"[{RANDOM}] " if is_random(state.manifest) else mark
    mark = "[EMULATED, virtual time] " if is_virtual(state.manifest) else mark
    slots = state.slots
    busy = sum(s.phase not in ("idle", "done") for s in slots)
    where = f"{mark}{_stamp(now_s)} {clean(state.stage)}"
    parts = [f"{where} {busy}/{len(slots)} busy" if slots else where]
    rate = state.output_rate()
    if rate is not None:
        parts.append(f"{count(rate, 11)} tok/s")
    ttft_s = state.latencies().ttft_p50_s
    if ttft_s is not None:
        parts.append(f"TTFT p50 {seconds(ttft_s)}")
    if pulse:
        parts.append(f"requests done {count(pulse['requests_done'])} failed {count(pulse['requests_failed'])}")
    if state.manifest.get("mode") == "live" and (judged := state.verified[True] + state.verified[False]):
        parts.append(f"solved {count(state.verified[True])} of {count(judged)}")
    gauges = state.gauges()
    if gauges.kv_share is not None:
        parts.append(f"KV {percent(gauges.kv_share)}")
    found = state.limit(gauges)
    if found is not None and found["past"]:
        parts.append(f"limit {WHO[found['past'][0]]}")
    if notice:
        parts.append(clean(notice))
    elif remains := left(state, now_s):
        parts.append(remains)
    return "  ".join(parts)


def _stamp(now_s: float) -> str:
    """Run time with two digits of minutes, so that lines of a log stay in column: 00:42, 1:02:03."""
    text = clock(now_s)
    return text if len(text) >= 5 else f"0{text}"
