"""How sure one run is of its own figures, for a comparison of one run a side.

This knows nothing of what differs from run to run (another server life, another hour), so it is narrower than the truth
and never decides anything. Throughput: batch means over bins long enough to be nearly independent. Latency quantiles:
bootstrap over sessions, since the requests of one session are alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.core.compare.pairs import PairedRatio
from simulator.core.compare.power import critical_t
from simulator.core.latency import e2el_s, tpot_s, ttft_s
from simulator.core.stats import quantile
from simulator.core.table import Floats, Ints
from simulator.core.throughput import still_sending_s, tokens_between
from simulator.core.turns import turns_due
from simulator.core.window import Traffic

#: bins of agents are this many median E2EL long; synthetic requests come in waves of one E2EL, and bins are whole waves
AGENT_BIN_E2EL, WAVE_E2EL = 3.0, 1.0
LEAST_BINS, MOST_BINS = 4, 24
DRAWS = 1_000
#: sessions are drawn themselves up to this many; more are drawn in so many groups
MOST_CLUSTERS = 1_000
#: values are held in so many steps of their own distribution
STEPS = 1_024
LEVELS = {"p50": 0.50, "p95": 0.95}
SEED = 20_260_501


@dataclass(frozen=True, slots=True)
class Batch:
    """n bins; mean and standard error of the tokens in one, relative to the mean."""

    n: int
    relative_error: float


@dataclass(frozen=True, slots=True)
class Within:
    """output: of output tokens in the window; None when the window has too few bins. latency: (name, level) -> (DRAWS,)
    ln of the quantile in each redraw of the sessions; no key where there are fewer than two sessions."""

    output: Batch | None
    latency: dict[tuple[str, str], Floats]


def within(sample: Traffic) -> Within:
    sent, chunks = sample.sent, sample.run.chunks
    session, turns = sent.text("session").codes.astype(np.int64), turns_due(sample)
    rng = np.random.default_rng(SEED)
    values = {
        "ttft_s": (ttft_s(sent), session),
        "tpot_s": (tpot_s(sent, chunks), session),
        "e2el_s": (e2el_s(sent), session),
        "turn_latency_s": (turns.latency_s, turns.session),
    }
    found: dict[tuple[str, str], Floats] = {}
    for name, (each, cluster) in values.items():
        for level, drawn in redrawn(each, cluster, rng).items():
            found[name, level] = drawn
    return Within(batch(sample), found)


def batch(sample: Traffic) -> Batch | None:
    """Batch means of output tokens over the part of the window in which requests were still sent."""
    window, until_s = sample.window, still_sending_s(sample)
    typical = quantile(e2el_s(sample.sent), 0.5)
    if not typical:
        return None
    least_s = typical * (AGENT_BIN_E2EL if sample.kind == "agent" else WAVE_E2EL)
    waves = int((until_s - window.start_s) / least_s)
    if waves < LEAST_BINS:
        return None
    each = math.ceil(waves / MOST_BINS)  # whole waves
    bins = waves // each
    edges: Floats = window.start_s + np.arange(bins + 1, dtype=np.float64) * (each * least_s)
    tokens = tokens_between(sample, edges)
    middle = float(tokens.mean())
    return Batch(bins, float(tokens.std(ddof=1)) / math.sqrt(bins) / middle) if middle > 0 else None


def redrawn(values: Floats, cluster: Ints, rng: np.random.Generator) -> dict[str, Floats]:
    """{level: (DRAWS,) ln of that quantile}, clusters drawn with replacement. values, cluster: (n,); unknown values are
    left out. {} with fewer than two clusters, or where a value is not above 0."""
    held = np.isfinite(values)
    values, cluster = values[held], cluster[held]
    there = np.bincount(cluster) > 0
    names, clusters = (np.cumsum(there) - 1)[cluster], int(there.sum())  # numbered without gaps
    if clusters < 2 or values.min() <= 0:
        return {}
    if clusters > MOST_CLUSTERS:
        names, clusters = names % MOST_CLUSTERS, MOST_CLUSTERS
    rising = np.sort(values)
    steps = np.unique(rising[np.linspace(0, len(rising) - 1, min(STEPS, len(rising))).round().astype(np.int64)])
    place = np.searchsorted(steps, values, side="left")
    shape = (clusters, len(steps))
    cells = np.bincount(names * len(steps) + place, minlength=shape[0] * shape[1]).reshape(shape)
    chosen = rng.integers(0, clusters, (DRAWS, clusters)) + clusters * np.arange(DRAWS)[:, None]
    draws = np.bincount(chosen.ravel(), minlength=DRAWS * clusters).reshape(DRAWS, clusters)
    reached = np.cumsum(draws.astype(np.float32) @ cells.astype(np.float32), axis=1)
    logs, whole = np.log(steps), reached[:, -1:]
    return {name: logs[(reached < q * whole).sum(axis=1)] for name, q in LEVELS.items()}


def throughput_ratio(a: float, b: float, left: Batch | None, right: Batch | None) -> PairedRatio | None:
    """B/A of two runs with its within-run interval: errors of both, Welch's degrees of freedom."""
    if left is None or right is None:
        return None
    parts = left.relative_error**2, right.relative_error**2
    total = sum(parts)
    freedom = total**2 / (parts[0] ** 2 / (left.n - 1) + parts[1] ** 2 / (right.n - 1)) if total else 1e6
    half, middle = critical_t(max(1, int(freedom))) * math.sqrt(total), math.log(b / a)
    return _within(middle, middle - half, middle + half)


def quantile_ratio(a: float, b: float, left: Floats | None, right: Floats | None) -> PairedRatio | None:
    """The same of a latency quantile, from redraws of both runs' sessions."""
    if left is None or right is None:
        return None
    low, high = np.quantile(right - left, (0.025, 0.975))
    return _within(math.log(b / a), float(low), float(high))


def _within(middle: float, low: float, high: float) -> PairedRatio:
    return PairedRatio(math.exp(middle), math.exp(low), math.exp(high), None, None, 1, None, None, (middle,))
