"""The search for the largest load that meets its objectives: doubling until the first miss, then bisection, then the
two probes at the boundary once more; a miss that does not stand is bounded from above. A pure function of what has been
tried: the next load to try, or the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MET, MISSED, CLIENT = "met", "missed", "client-limited"
#: the boundary is found when its sides are this close, or one agent apart
CLOSE = 0.05
FOUND, NOISY, AT_LEAST, BELOW, CLIENT_LIMIT = "found", "noisy", "at least", "below", "client"


@dataclass(frozen=True, slots=True)
class Span:
    """Loads that may be tried, from low to high. whole: agents, not a rate. tries: at each side of the boundary; one is
    enough where a second gives the same."""

    low: float
    high: float
    whole: bool
    tries: int = 2


@dataclass(frozen=True, slots=True)
class Trial:
    """outcome: "met" | "missed" | "client-limited", which says nothing about the engine."""

    point: float
    outcome: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """kind: "found", best meets and below does not, each time; "noisy", at some load between them the verdict flipped;
    "at least", the largest load allowed still meets; "below", not even the smallest does; "client", nothing can be said
    above best, since the client is the limit at `below`. best: largest load that surely meets, None without one.
    below: smallest load that surely does not (for "client": at which the client gave out), None without one."""

    kind: str
    best: float | None
    below: float | None


def decide(span: Span, trials: Sequence[Trial]) -> float | Verdict:
    """The load to try next, or the verdict. trials: all so far, in order; more of them than asked for do no harm."""
    spoilt = _client(trials)
    if spoilt is not None and not isinstance(spoilt, Trial):
        return spoilt
    clean = [trial for trial in trials if trial.outcome != CLIENT]
    if spoilt is not None:
        return Verdict(CLIENT_LIMIT, _sure(clean)[0], spoilt.point)
    first: dict[float, str] = {}
    for trial in clean:
        first.setdefault(trial.point, trial.outcome)
    sides = _doubled(span, first)
    if not isinstance(sides, tuple):
        return sides
    low, high = sides
    while low is not None and high is not None and not _close(span, low, high):
        middle = _middle(span, low, high)
        if middle not in first:
            return middle
        low, high = (middle, high) if first[middle] == MET else (low, middle)
    for side in (low, high):
        if side is not None and sum(trial.point == side for trial in clean) < span.tries:
            return side
    beyond = _beyond(span, high, clean)
    return _verdict(low, high, clean) if beyond is None else beyond


def _beyond(span: Span, high: float | None, clean: Sequence[Trial]) -> float | None:
    """When the miss did not stand a second try, the next load above it, until one surely misses."""
    if high is None or _sure(clean)[1] is not None:
        return None
    top = max(trial.point for trial in clean)
    return next((point for point in _ladder(span) if point > top), None)


def _client(trials: Sequence[Trial]) -> float | Trial | None:
    """A load at which the client was the limit is tried once more; twice, and the search ends there."""
    for trial in trials:
        if trial.outcome == CLIENT:
            same = [other.outcome for other in trials if other.point == trial.point]
            if same.count(CLIENT) > 1:
                return trial
            if len(same) == 1:
                return trial.point
    return None


def _doubled(span: Span, first: dict[float, str]) -> float | tuple[float | None, float | None]:
    """The next load on the way up, or the loads on both sides of the first miss (None: outside of what is allowed)."""
    below: float | None = None
    for point in _ladder(span):
        if point not in first:
            return point
        if first[point] == MISSED:
            return below, point
        below = point
    return below, None


def _ladder(span: Span) -> Iterator[float]:
    point = span.low
    while point < span.high:
        yield point
        point *= 2
    yield span.high


def _close(span: Span, low: float, high: float) -> bool:
    return high - low <= max(1.0 if span.whole else 0.0, CLOSE * low)


def _middle(span: Span, low: float, high: float) -> float:
    middle = (low + high) / 2
    return float(int(middle)) if span.whole else float(f"{middle:.4g}")


def _sure(clean: Sequence[Trial]) -> tuple[float | None, float | None]:
    """(largest load that was met, with no miss at or below it; smallest that was missed, with none met above)."""
    missed = [trial.point for trial in clean if trial.outcome == MISSED]
    met = [trial.point for trial in clean if trial.outcome == MET]
    best = max((p for p in met if p < min(missed, default=float("inf"))), default=None)
    below = min((p for p in missed if p > max(met, default=float("-inf"))), default=None)
    return best, below


def _verdict(low: float | None, high: float | None, clean: Sequence[Trial]) -> Verdict:
    best, below = _sure(clean)
    if (best, below) != (low, high):
        return Verdict(NOISY, best, below)
    if low is None:
        return Verdict(BELOW, None, high)
    return Verdict(FOUND if high is not None else AT_LEAST, low, high)
