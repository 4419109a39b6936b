"""How a run went over time: one grid of bins for everything, so that its pictures share an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.core.gauges import (
    ACCEPTED,
    DRAFTS,
    HITS,
    KV_USE,
    QUERIES,
    RUNNING,
    WAITING,
    open_by_pulses,
    open_by_records,
)
from simulator.core.record import EngineSample
from simulator.core.run import KINDS, RunData
from simulator.core.stats import known
from simulator.core.table import Floats
from simulator.core.throughput import tokens_between
from simulator.core.window import Traffic, ok, traffic

#: a bin's length is the first of these that makes no more than MOST bins
STEPS_S = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0)
MOST = 320
#: shares need several requests a bin to mean anything
COARSER = 5
#: moments of a bin whose mean is what was open in it
LOOKS = 8


@dataclass(frozen=True, slots=True)
class OverTime:
    """edges_s: (n + 1,), run seconds; all series (n,), NaN where nothing is known.

    output_tok_s: by traffic. in_flight: requests open at the client; backlog: of those, the ones that the engine
    neither runs nor has waiting, at the engine's scrapes. running, waiting, kv_use: gauges, mean of a bin's scrapes.
    share_edges_s: (m + 1,), coarser; cached_share (of prompt tokens whose request's first output came in the bin; the
    engine's own counters where no usage tells) and acceptance_length: (m,).
    """

    edges_s: Floats
    output_tok_s: dict[str, Floats]
    in_flight: Floats
    backlog: Floats
    running: Floats
    waiting: Floats
    kv_use: Floats
    share_edges_s: Floats
    cached_share: Floats
    acceptance_length: Floats


def over_time(run: RunData) -> OverTime | None:
    """None of a run without a request."""
    seen = known(np.concatenate([run.requests["t_call_s"], run.requests["t_end_s"]]))
    if not len(seen):
        return None
    edges = grid(float(seen.min()), float(seen.max()))
    step = edges[1] - edges[0]
    coarse = np.arange(edges[0], edges[-1] + step * COARSER, step * COARSER)
    samples = [found for kind in KINDS if (found := traffic(run, kind)) is not None]
    scraped = sorted((s for s in run.engine if not s.error), key=lambda s: s.t_s)
    open_at = open_by_records(run.requests) if run.ended else open_by_pulses(run.pulses)
    running, waiting = _gauge(scraped, RUNNING, edges), _gauge(scraped, WAITING, edges)
    return OverTime(
        edges_s=edges,
        output_tok_s={sample.kind: tokens_between(sample, edges) / step for sample in samples},
        in_flight=np.mean([open_at(edges[:-1] + step * (n + 0.5) / LOOKS) for n in range(LOOKS)], axis=0),
        backlog=_backlog(scraped, open_at, edges),
        running=running,
        waiting=waiting,
        kv_use=_gauge(scraped, KV_USE, edges),
        share_edges_s=coarse,
        cached_share=_cached(samples, scraped, coarse),
        acceptance_length=1 + _ratio(_steps(scraped, ACCEPTED, coarse), _steps(scraped, DRAFTS, coarse)),
    )


def grid(start_s: float, end_s: float) -> Floats:
    """Edges of equal bins, whole multiples of their length, that hold [start_s, end_s]."""
    length = max(end_s - start_s, 1e-9)
    step = next((s for s in STEPS_S if length / s <= MOST), float(np.ceil(length / MOST)))
    first = np.floor(start_s / step)
    return np.arange(first, max(np.ceil(end_s / step), first + 1) + 1) * step


def _place(t_s: Floats, edges_s: Floats) -> tuple[np.ndarray, np.ndarray]:
    """(which of the times lie inside, the bins of those)."""
    place = np.searchsorted(edges_s, t_s, side="right") - 1
    inside = (place >= 0) & (place < len(edges_s) - 1)
    return inside, place[inside]


def _sums(t_s: Floats, weight: Floats, edges_s: Floats) -> Floats:
    inside, place = _place(t_s, edges_s)
    return np.bincount(place, weights=weight[inside], minlength=len(edges_s) - 1).astype(np.float64)


def _means(t_s: Floats, values: Floats, edges_s: Floats) -> Floats:
    held = np.isfinite(values)
    return _ratio(_sums(t_s[held], values[held], edges_s), _sums(t_s[held], np.ones(int(held.sum())), edges_s))


def _ratio(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return found


def _gauge(samples: Sequence[EngineSample], name: str, edges_s: Floats) -> Floats:
    held = [(s.t_s, s.values[name]) for s in samples if name in s.values]
    if not held:
        return np.full(len(edges_s) - 1, np.nan)
    t_s, values = np.array(held, dtype=np.float64).T
    return _means(t_s, values, edges_s)


def _steps(samples: Sequence[EngineSample], name: str, edges_s: Floats) -> Floats:
    """Growth of a counter in each bin, what came between two scrapes spread evenly; a counter that fell was reset."""
    held = [(s.t_s, s.values[name]) for s in samples if name in s.values]
    if len(held) < 2:
        return np.full(len(edges_s) - 1, np.nan)
    t_s, values = np.array(held, dtype=np.float64).T
    growth = np.where(np.diff(values) < 0, values[1:], np.diff(values))
    total = np.concatenate([[0.0], np.cumsum(growth)])
    return np.diff(np.interp(edges_s, t_s, total))


def _backlog(samples: Sequence[EngineSample], open_at: Callable[[Floats], Floats], edges_s: Floats) -> Floats:
    held = [(s.t_s, s.values[RUNNING] + s.values[WAITING]) for s in samples if {RUNNING, WAITING} <= s.values.keys()]
    if not held:
        return np.full(len(edges_s) - 1, np.nan)
    t_s, inside = np.array(held, dtype=np.float64).T
    return _means(t_s, open_at(t_s) - inside, edges_s)


def _cached(samples: Sequence[Traffic], scraped: Sequence[EngineSample], edges_s: Floats) -> Floats:
    """By usage; a count above its prompt cannot be true and is left out, as in the summary."""
    found, asked = np.zeros(len(edges_s) - 1), np.zeros(len(edges_s) - 1)
    for sample in samples:
        every = sample.every
        told = ok(every) & (every["prompt_tok"] > 0) & (every["cached_tok"] <= every["prompt_tok"])
        first = every["t_first_s"][told]
        found += _sums(first, every["cached_tok"][told], edges_s)
        asked += _sums(first, every["prompt_tok"][told], edges_s)
    if asked.any():
        return _ratio(found, asked)
    return _ratio(_steps(scraped, HITS, edges_s), _steps(scraped, QUERIES, edges_s))
