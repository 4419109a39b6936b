"""Stretches in which next to nothing came from the engine though requests were open: it, or what is between, stood
still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from simulator.core.latency import ttft_s
from simulator.core.stats import known, quantile
from simulator.core.table import Floats, Ints, Mask, Table
from simulator.core.window import Traffic, ok
from simulator.core.wording import counted

#: arrivals closer together than this are one moment: a step's chunks reach their clients together
RESOLUTION_S = 0.01
#: a stretch is silent while the gaps between its moments are on average longer than so many seconds, and so many times
#: the p99 of all gaps: an engine that stands still lets a few chunks through
SILENT_S, SILENT_P99 = 1.0, 3.0
#: and it is a stall when it is longer than so many seconds and so many times that p99
LEAST_S, TIMES_P99 = 3.0, 20.0
#: and, where no reply was under way and a long prompt may have been computed, so many times the median TTFT
TIMES_TTFT = 5.0
TOLD = 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stall. open: the fewest requests that were open in it; moments: how often something arrived all the same."""

    start_s: float
    end_s: float
    open: int
    moments: int

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True)
class Gaps:
    """The time from start_s on, cut where something arrived: edges_s (n + 1,), open (n,): the fewest requests that were
    open in each."""

    edges_s: Floats
    open: Ints

    @property
    def lengths_s(self) -> Floats:
        return np.diff(self.edges_s)


def stalls(sample: Traffic) -> dict[str, Any] | None:
    """{"count", "total_s", "share" (of the window), "limit_s" (stretches as long as this are stalls), "longest": up to
    three of {"start_s", "end_s", "open", "moments"}, the longest first}. None where arrivals cannot tell: in a run that
    was killed, whose open requests left no record, and where nothing arrived."""
    start_s = _begun_s(sample)
    if not sample.run.ended or start_s is None or start_s >= sample.window.end_s:
        return None
    gaps = _gaps(sample, start_s)
    busy_s = gaps.lengths_s[gaps.open > 0]
    # of few gaps the second longest, so that one stall does not make itself usual
    usual_s = float(np.quantile(busy_s, 0.99, method="lower")) if len(busy_s) else 0.0
    limit_s = max(LEAST_S, TIMES_P99 * usual_s)
    idle_s = max(limit_s, TIMES_TTFT * (quantile(ttft_s(sample.every), 0.5) or 0.0))
    silent = _stretches(gaps, max(SILENT_S, SILENT_P99 * usual_s))
    long = (each for each in silent if each.length_s > limit_s)
    found = [each for each in long if each.length_s > idle_s or _under_way(sample.every, gaps, each)]
    total_s = sum((each.length_s for each in found), 0.0)
    return {
        "count": len(found),
        "total_s": total_s,
        "share": total_s / sample.window.length_s,
        "limit_s": limit_s,
        "longest": [asdict(each) for each in sorted(found, key=lambda each: -each.length_s)[:TOLD]],
    }


def stalled(found: Mapping[str, Any]) -> str:
    """The stalls of `stalls` in words; there is one at least."""
    longest, several = found["longest"][0], found["count"] > 1
    what = "hardly anything arrived" if longest["moments"] else "nothing arrived"
    times = f"{found['count']} times, {found['total_s']:.0f} s in all" if several else f"for {found['total_s']:.0f} s"
    share = f"{100 * found['share']:.0f} % of the window"
    span = f"from {longest['start_s']:.0f} s to {longest['end_s']:.0f} s of the run"
    waited = counted(longest["open"], "request was", "requests were")
    return f"{what} {times}, {share}, {'the longest ' * several}{span}, while {waited} open"


def _stretches(gaps: Gaps, silent_s: float) -> list[Stretch]:
    """Runs of gaps with requests open in all of them that are on average longer than silent_s: long gaps, put together
    as long as what lies between two of them weighs less than either."""
    lengths, found = gaps.lengths_s, list[Stretch]()
    so_far = np.concatenate([[0.0], np.cumsum(lengths - silent_s)])
    idle = np.concatenate([[0], np.cumsum(gaps.open == 0)])
    first, past, weight = 0, 0, 0.0
    for n in [*np.flatnonzero((lengths > silent_s) & (gaps.open > 0)).tolist(), len(lengths)]:
        last = n == len(lengths)
        own = 0.0 if last else float(lengths[n] - silent_s)
        dip = float(so_far[n] - so_far[past])
        if not last and past and idle[n] == idle[past] and min(weight, own) + dip > 0:
            weight += dip + own
        else:
            if past:
                fewest = int(gaps.open[first:past].min())
                found.append(Stretch(float(gaps.edges_s[first]), float(gaps.edges_s[past]), fewest, past - first - 1))
            first, weight = n, own
        past = n + 1
    return found


def _begun_s(sample: Traffic) -> float | None:
    """From when a silence means something. What was sent together at the start is computed together, and little comes
    meanwhile: until all of it has begun to answer or the first reply has ended. None when nothing arrived."""
    every, window = sample.every, sample.window
    firsts, ends = known(every["t_first_s"]), known(every["t_end_s"][ok(every)])
    if not len(firsts):
        return None
    together = known(every["t_first_s"][every["t_sent_s"] <= firsts.min()])
    over = min(float(together.max()), float(ends.min()) if len(ends) else np.inf)
    return max(window.start_s, over)


def _gaps(sample: Traffic, start_s: float) -> Gaps:
    end_s, busy = sample.window.end_s, _Open(sample.every)
    cuts = np.union1d(_moments(sample, start_s), busy.turns_s)
    edges_s = np.concatenate([[start_s], cuts[(cuts > start_s) & (cuts < end_s)], [end_s]])
    fewest = busy.fewest(edges_s[:-1], edges_s[1:])
    return Gaps(edges_s, np.where(_unknown(sample, edges_s), 0, fewest))


def _moments(sample: Traffic, start_s: float) -> Floats:
    """When something arrived after start_s and before the window's end, in steps of RESOLUTION_S; no moment twice."""
    every, end_s = sample.every, sample.window.end_s
    near = (every["t_last_s"] >= start_s) & (every["t_first_s"] <= end_s)
    seen = np.zeros(0, dtype=np.int64)
    for slab in sample.run.chunks.slabs(every, near):
        at_s = every["t_sent_s"][slab.row] + slab.at_us * 1e-6
        inside = at_s[(at_s > start_s) & (at_s < end_s)]
        seen = np.union1d(seen, ((inside - start_s) / RESOLUTION_S).astype(np.int64))
    return np.asarray(start_s + seen[seen > 0] * RESOLUTION_S, dtype=np.float64)


def _unknown(sample: Traffic, edges_s: Floats) -> Mask:
    """Which gaps lie within a reply whose chunks are lost: nothing is known of its pauses. Shape (n - 1,)."""
    every = sample.every
    lost = ~sample.run.chunks.present(every) & (every["t_last_s"] > every["t_first_s"])
    change = np.zeros(len(edges_s))
    np.add.at(change, np.searchsorted(edges_s[1:], every["t_first_s"][lost], side="right"), 1)
    np.add.at(change, np.searchsorted(edges_s[:-1], every["t_last_s"][lost], side="left"), -1)
    within: Mask = np.cumsum(change)[:-1] > 0
    return within


class _Open:
    """How many requests were open when. turns_s: when there was one again after a time without, and when there was none
    any more."""

    def __init__(self, every: Table) -> None:
        sent = np.isfinite(every["t_sent_s"])
        begins, ends = every["t_sent_s"][sent], every["t_end_s"][sent]
        t_s = np.concatenate([[-np.inf], begins, ends])
        order = np.argsort(t_s, kind="stable")
        steps = np.concatenate([[0], np.ones(len(begins)), -np.ones(len(ends))])
        self._t_s, self._open = t_s[order], np.cumsum(steps[order]).astype(np.int64)
        self.turns_s: Floats = self._t_s[1:][(self._open[1:] == 0) | (self._open[:-1] == 0)]

    def fewest(self, low_s: Floats, high_s: Floats) -> Ints:
        """Open at every moment between two times, at least; shape (n,)."""
        first = np.searchsorted(self._t_s, low_s, side="right") - 1
        past = np.searchsorted(self._t_s, high_s, side="left")
        bounds = np.stack([first, np.maximum(past, first + 1)], axis=1).ravel()
        fewest: Ints = np.minimum.reduceat(np.append(self._open, self._open[-1]), bounds)[::2]
        return fewest


def _under_way(every: Table, gaps: Gaps, stretch: Stretch) -> bool:
    """Whether a reply had begun before the longest gap of a stretch and went on after it."""
    first, past = np.searchsorted(gaps.edges_s, [stretch.start_s, stretch.end_s])
    longest = int(first + np.argmax(gaps.lengths_s[first:past]))
    begun, last = every["t_first_s"], every["t_last_s"]
    return bool(((begun <= gaps.edges_s[longest]) & (last >= gaps.edges_s[longest + 1])).any())
