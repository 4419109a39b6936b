"""The server's own account over a window, from scrapes of its /metrics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simulator.core import growth
from simulator.core.growth import Share, grown_in, linear
from simulator.core.record import EngineSample
from simulator.core.stats import known, mean, quantile, ratio
from simulator.core.table import Floats, Table
from simulator.core.window import Window

RUNNING, WAITING = "vllm:num_requests_running", "vllm:num_requests_waiting"
KV_USE = "vllm:kv_cache_usage_perc"
DRAFTS, ACCEPTED = "vllm:spec_decode_num_drafts_total", "vllm:spec_decode_num_accepted_tokens_total"
QUERIES, HITS = "vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"
GENERATED, PREEMPTIONS = "vllm:generation_tokens_total", "vllm:num_preemptions_total"
STARTED = "process_start_time_seconds"
LAG = "embedded:schedule_lag_seconds"
#: beginnings of the names of an engine's own figures, apart from its process's
ENGINES = ("vllm:", "embedded:")
#: endings of sample names that only grow; histograms contribute their sum and count
COUNTS = ("_total", "_count", "_sum")
#: of a window, the share that must lie between scrapes inside it, for a rate by the engine's own count: of a shorter
#: one, the client's records would say more than the engine
COUNTED_SHARE = 0.5
#: a pulse this near to a scrape tells what was in flight at that moment
NEAR_S = 1.0


_BY_TIME: Mapping[str, Share] = {growth.TOKENS: linear, growth.OPEN: linear}


def within(samples: Sequence[EngineSample], window: Window) -> list[EngineSample]:
    """Good scrapes from the last one before the window's start to the last one inside it, in order of time."""
    good = sorted((s for s in samples if not s.error), key=lambda s: s.t_s)
    inside = [s for s in good if window.start_s <= s.t_s <= window.end_s]
    before = [s for s in good if window.start_s - 5.0 <= s.t_s < window.start_s]
    return before[-1:] + inside


def grown(samples: Sequence[EngineSample], name: str) -> float | None:
    """Growth of a counter from the first to the last sample that has it; None with fewer than two. A counter that fell
    was reset by a restart: what it shows then came since."""
    seen = [s.values[name] for s in samples if name in s.values]
    return float(sum(b if b < a else b - a for a, b in itertools.pairwise(seen))) if len(seen) > 1 else None


def open_by_records(requests: Table) -> Callable[[Floats], Floats]:
    """How many requests were open (t_sent to t_end) at each of some times, of a run whose every request has its record:
    exact, and all traffic, warm-up too, as the engine counts it."""
    sent = requests["t_sent_s"]
    begins, ends = np.sort(known(sent)), np.sort(known(requests["t_end_s"][np.isfinite(sent)]))

    def at(t_s: Floats) -> Floats:
        begun, ended = np.searchsorted(begins, t_s, side="right"), np.searchsorted(ends, t_s, side="right")
        return (begun - ended).astype(np.float64)

    return at


def open_by_pulses(pulses: Table) -> Callable[[Floats], Floats]:
    """The same as the client's nearest pulse says, for a run that was killed: what was open then left no record. NaN
    without a pulse within a second."""

    def at(t_s: Floats) -> Floats:
        if not pulses.n:
            return np.full(len(t_s), np.nan)
        right = np.clip(np.searchsorted(pulses["t_s"], t_s), 1, max(pulses.n - 1, 1))
        left = np.minimum(right - 1, pulses.n - 1)
        right = np.minimum(right, pulses.n - 1)
        nearest = np.where(t_s - pulses["t_s"][left] <= pulses["t_s"][right] - t_s, left, right)
        close = np.abs(pulses["t_s"][nearest] - t_s) <= NEAR_S
        return np.where(close, pulses["in_flight"][nearest], np.nan)

    return at


def backlog(samples: Sequence[EngineSample], open_at: Callable[[Floats], Floats]) -> Floats:
    """Front-end backlog at each scrape: requests the client has open minus those the engine says are running or
    waiting; shape (k,). A scrape and the count are never of quite the same moment, so a single value may be off by the
    requests that began or ended meanwhile, below 0 as well; the mean is not."""
    seen = [s for s in samples if RUNNING in s.values and WAITING in s.values]
    at = np.array([s.t_s for s in seen], dtype=np.float64)
    inside = np.array([s.values[RUNNING] + s.values[WAITING] for s in seen], dtype=np.float64)
    return known(open_at(at) - inside)


def fallen(samples: Sequence[EngineSample]) -> list[str]:
    """The engine's counters that went backward: it, or the process that counts for it, began again."""
    names = {name for s in samples for name in s.values if name.startswith("vllm:") and name.endswith(COUNTS)}
    return sorted(
        name
        for name in names
        if any(b < a for a, b in itertools.pairwise([s.values[name] for s in samples if name in s.values]))
    )


def restarted(samples: Sequence[EngineSample]) -> bool:
    starts = {s.values[STARTED] for s in samples if STARTED in s.values}
    return len(starts) > 1 or bool(fallen(samples))


def engine(
    samples: Sequence[EngineSample],
    window: Window,
    open_at: Callable[[Floats], Floats],
    placed: Mapping[str, Share] = _BY_TIME,
) -> dict[str, Any] | None:
    """Gauges and counter growth over a window; None when nothing was scraped inside it.

    {scrapes, running_mean, running_max, waiting_mean, waiting_max, kv_use_mean, kv_use_max, prefix_hit_share,
    preemptions, acceptance_length (1 + accepted / drafts; None without drafts), output_tok_s, backlog_mean,
    backlog_p95, emulation_lag_s, restarted, fallen, named}; shares are 0 to 1. placed: how growth between two
    scrapes with an edge of the window between them is shared out. output_tok_s: None where scrapes inside the
    window span too little of it. emulation_lag_s: how late an emulated engine's tokens went out, median of its
    recent peaks. fallen: counters that went back. named: whether any of it has a name of vLLM's.
    """
    chosen = within(samples, window)
    inside = [s for s in chosen if s.t_s >= window.start_s]
    if not inside:
        return None

    def gauge(name: str) -> Floats:
        return np.array([s.values[name] for s in inside if name in s.values], dtype=np.float64)

    def share(part: str, whole: str, by: str) -> float | None:
        """Of two counters' growth in the window or, where scrapes end too far from its edges, as far as they go."""
        found = (grown_in(samples, part, window, placed[by]), grown_in(samples, whole, window, placed[by]))
        return ratio(*(found if None not in found else (grown(chosen, part), grown(chosen, whole))))

    behind = backlog(inside, open_at)
    accepted = share(ACCEPTED, DRAFTS, growth.TOKENS)
    return {
        "scrapes": len(inside),
        "running_mean": mean(gauge(RUNNING)),
        "running_max": quantile(gauge(RUNNING), 1.0),
        "waiting_mean": mean(gauge(WAITING)),
        "waiting_max": quantile(gauge(WAITING), 1.0),
        "kv_use_mean": mean(gauge(KV_USE)),
        "kv_use_max": quantile(gauge(KV_USE), 1.0),
        "prefix_hit_share": share(HITS, QUERIES, growth.OPEN),
        "preemptions": grown(chosen, PREEMPTIONS),
        "acceptance_length": None if accepted is None else 1 + accepted,
        "output_tok_s": _made(samples, inside, window, placed[growth.TOKENS]),
        "backlog_mean": mean(behind),
        "backlog_p95": quantile(behind, 0.95),
        "emulation_lag_s": quantile(gauge(LAG), 0.5),
        "restarted": restarted(chosen),
        "fallen": fallen(chosen),
        "named": any(name.startswith(ENGINES) for s in inside for name in s.values),
    }


def _made(
    samples: Sequence[EngineSample], inside: Sequence[EngineSample], window: Window, placed: Share
) -> float | None:
    """Tokens a second that the engine counted in the window."""
    if inside[-1].t_s - inside[0].t_s < COUNTED_SHARE * window.length_s:
        return None
    return ratio(grown_in(samples, GENERATED, window, placed), window.length_s)
