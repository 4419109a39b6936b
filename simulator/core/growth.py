"""How much an engine's counters grew inside a window whose edges lie between two scrapes.

A scrape comes once a second, and in the second in which a window opens a warm-up may end, nothing may happen for a
while, and two hundred prompts may arrive at once. The client's records know what came before the edge and what after
it, so growth is shared out by them instead of by the clock.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from simulator.core.record import EngineSample
from simulator.core.run import RunData
from simulator.core.stats import ratio
from simulator.core.throughput import tokens_between
from simulator.core.window import Traffic, Window

#: what a counter grows with: output tokens; requests that begin to answer; both kinds of tokens, prompts that the cache
#: does not have at their first output; requests open
TOKENS, BEGUN, PROCESSED, OPEN = "tokens", "begun", "processed", "open"
#: a window's edge this far outside the scrapes is not known
EDGE_S = 2.5
#: (earlier scrape, edge, later scrape), seconds -> share of the growth between the scrapes that came before the edge
Share = Callable[[float, float, float], float]


def linear(before_s: float, edge_s: float, after_s: float) -> float:
    return min(max((edge_s - before_s) / (after_s - before_s), 0.0), 1.0) if after_s > before_s else 1.0


def grown_in(samples: Sequence[EngineSample], name: str, window: Window, share: Share = linear) -> float | None:
    """Growth of a counter between the window's edges. A counter that fell was reset: what it shows then came since.
    None with fewer than two scrapes, or when they do not reach to the edges."""
    seen = sorted((s.t_s, s.values[name]) for s in samples if not s.error and name in s.values)
    if len(seen) < 2 or seen[0][0] > window.start_s + EDGE_S or seen[-1][0] < window.end_s - EDGE_S:
        return None
    at = np.array([t_s for t_s, _ in seen])
    so_far = np.cumsum([0.0, *(b if b < a else b - a for (_, a), (_, b) in itertools.pairwise(seen))])

    def until(edge_s: float) -> float:
        if not at[0] < edge_s < at[-1]:
            return float(so_far[0] if edge_s <= at[0] else so_far[-1])
        after = int(np.searchsorted(at, edge_s, side="right"))
        part = share(float(at[after - 1]), edge_s, float(at[after]))
        return float(so_far[after - 1] + part * (so_far[after] - so_far[after - 1]))

    return until(window.end_s) - until(window.start_s)


def placing(run: RunData) -> Mapping[str, Share]:
    """For each thing that counters grow with, how the records of all traffic, warm-up too, share growth out."""
    requests = run.requests
    sent, first, end = requests["t_sent_s"], requests["t_first_s"], requests["t_end_s"]
    fresh = np.nan_to_num(requests["prompt_tok"]) - np.nan_to_num(requests["cached_tok"])
    whole = Traffic(run, "", Window(-np.inf, np.inf, True), requests, requests)

    def open_s(low_s: float, high_s: float) -> float:
        return float(np.nansum(np.clip(np.minimum(end, high_s) - np.maximum(sent, low_s), 0, None)))

    def begun(low_s: float, high_s: float) -> float:
        return float(np.count_nonzero((first > low_s) & (first <= high_s)))

    @lru_cache(maxsize=64)
    def tokens(low_s: float, high_s: float) -> float:
        return float(tokens_between(whole, np.array([low_s, high_s]))[0]) if high_s > low_s else 0.0

    def processed(low_s: float, high_s: float) -> float:
        return tokens(low_s, high_s) + float(fresh[(first > low_s) & (first <= high_s)].sum())

    def sharing(amount: Callable[[float, float], float]) -> Share:
        def share(before_s: float, edge_s: float, after_s: float) -> float:
            for each in (amount, open_s):
                early, late = each(before_s, edge_s), each(edge_s, after_s)
                if (part := ratio(early, early + late)) is not None:
                    return part
            return linear(before_s, edge_s, after_s)

        return share

    amounts: dict[str, Callable[[float, float], float]] = {
        TOKENS: tokens,
        BEGUN: begun,
        PROCESSED: processed,
        OPEN: open_s,
    }
    return {name: sharing(amount) for name, amount in amounts.items()}
