"""What an engine's /metrics say about it at this moment, from its last samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

STALE_S = 5.0
RECENT_S = 10.0
#: (run time in seconds, metric name -> value)
Sample = tuple[float, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Gauges:
    """None where the engine does not say.

    hits: share of looked-up prefix tokens found in the cache over the last 10 s. acceptance: tokens a sequence got in
    a step that had drafts, same time. backlog: requests open at the client that the engine neither runs nor queues.
    late_s: how far an emulation lags behind its own model. error: why there are no values.
    """

    running: int | None = None
    waiting: int | None = None
    kv_share: float | None = None
    hits: float | None = None
    acceptance: float | None = None
    preemptions: int | None = None
    backlog: int | None = None
    late_s: float | None = None
    error: str = ""


def read_gauges(samples: Sequence[Sample], failure: tuple[float, str], now_s: float, in_flight: int | None) -> Gauges:
    """samples: good ones, oldest first; failure: time and text of the last bad one. Without values when the last good
    sample is older than STALE_S at `now_s`."""
    failed_s, error = failure
    if not samples or now_s - samples[-1][0] > STALE_S:
        return Gauges(error=error if now_s - failed_s < 2 * STALE_S else "")
    t_s, new = samples[-1]
    old = next(values for t, values in samples if t >= t_s - RECENT_S)
    running, waiting = _whole(new, "vllm:num_requests_running"), _whole(new, "vllm:num_requests_waiting")
    backlog = None
    if running is not None and waiting is not None and in_flight is not None:
        backlog = max(0, in_flight - running - waiting)
    accepted = _ratio(old, new, "vllm:spec_decode_num_accepted_tokens_total", "vllm:spec_decode_num_drafts_total")
    return Gauges(
        running=running,
        waiting=waiting,
        kv_share=new.get("vllm:kv_cache_usage_perc"),
        hits=_ratio(old, new, "vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"),
        acceptance=None if accepted is None else 1 + accepted,
        preemptions=_whole(new, "vllm:num_preemptions_total"),
        backlog=backlog,
        late_s=new.get("embedded:schedule_lag_seconds"),
    )


def _whole(values: Mapping[str, float], name: str) -> int | None:
    value = values.get(name)
    return None if value is None else round(value)


def _ratio(old: Mapping[str, float], new: Mapping[str, float], part: str, whole: str) -> float | None:
    """Growth of `part` over growth of `whole`; None when nothing happened or a counter was reset."""
    if not {part, whole} <= old.keys() & new.keys():
        return None
    grown, of = new[part] - old[part], new[whole] - old[whole]
    return grown / of if of > 0 and grown >= 0 else None
