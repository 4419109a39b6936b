"""The statistic of a comparison: the mean of ln(B/A) over pairs of runs.

The unit is the run. Requests of one run share a queue and a cache, so taking them for independent would invent
significance. Two runs of one seed, one on each side, are a pair: they send the same work, and what the machine was like
that hour is nearly the same for both when pairs are interleaved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts load when they are asked for, which most runs never do

from simulator.core.compare.power import CONFIDENCE, critical_t, minimum_detectable
from simulator.core.table import Floats

#: all sign patterns of this many pairs are counted exactly; of more, Student's p stands
EXACT_PAIRS = 32
#: a modified z (Iglewicz and Hoaglin, 1993) beyond this is an outlier; fewer pairs than 5 cannot tell
OUTLIER_Z, OUTLIER_PAIRS = 3.5, 5


@dataclass(frozen=True, slots=True)
class PairedRatio:
    """ratio: geometric mean of B/A. low, high: its interval; None for one pair. p: of the sign flip, exact up to 32
    pairs; its smallest value is 2 / 2**n. p_t: of Student's t, what the interval goes with. mde: minimum detectable
    |ln ratio| at 80 % power with this spread. cv: run-to-run coefficient of variation, the log ratios' standard
    deviation / sqrt(2). logs: ln(B/A) of each pair, in order."""

    ratio: float
    low: float | None
    high: float | None
    p: float | None
    p_t: float | None
    n: int
    mde: float | None
    cv: float | None
    logs: tuple[float, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether the interval leaves out 1."""
        return self.low is not None and self.high is not None and (self.low > 1 or self.high < 1)


def ratio_of_pairs(a: Sequence[float], b: Sequence[float], confidence: float = CONFIDENCE) -> PairedRatio:
    """a, b: one positive number a run, (n,) each; a[i] and b[i] are a pair. ValueError for none, for unequal numbers
    and for values that have no logarithm."""
    if len(a) != len(b) or not len(a):
        raise ValueError(f"{len(a)} and {len(b)} values are no pairs")
    if not all(math.isfinite(value) and value > 0 for value in (*a, *b)):
        raise ValueError("a ratio needs positive, finite values")
    logs = np.log(np.asarray(b, dtype=np.float64)) - np.log(np.asarray(a, dtype=np.float64))
    n, middle = len(logs), float(logs.mean())
    kept = tuple(float(each) for each in logs)
    if n == 1:
        return PairedRatio(math.exp(middle), None, None, None, None, 1, None, None, kept)
    spread = float(logs.std(ddof=1))
    error = spread / math.sqrt(n)
    half = critical_t(n - 1, confidence) * error
    cv = spread / math.sqrt(2)
    return PairedRatio(
        ratio=math.exp(middle),
        low=_exp(middle - half),
        high=_exp(middle + half),
        p=sign_flip_p(logs),
        p_t=_student_p(middle, error, n),
        n=n,
        mde=minimum_detectable(n, cv, confidence),
        cv=cv,
        logs=kept,
    )


def _exp(value: float) -> float:
    """Held within what a float can say: two wild pairs give an interval from nothing to everything."""
    return math.exp(min(max(value, -700.0), 700.0))


def _student_p(middle: float, error: float, n: int) -> float:
    if error == 0:
        return 1.0 if middle == 0 else 0.0
    return 2.0 * float(scipy.special.stdtr(n - 1, -abs(middle) / error))


def sign_flip_p(logs: Floats) -> float:
    """Exact two-sided p of the mean under the hypothesis that each pair could as well have come out the other way
    round: the share of the 2**n sign patterns whose sum is as far from 0 as the one seen. logs: (n,), n >= 1. Past 32
    pairs Student's p, which it then equals for every purpose."""
    n = len(logs)
    if n > EXACT_PAIRS:
        return _student_p(float(logs.mean()), float(logs.std(ddof=1)) / math.sqrt(n), n)
    seen = abs(float(logs.sum()))
    nearly = seen - 1e-9 * float(np.abs(logs).sum())  # sums in another order must not miss a tie
    left, right = _sums(logs[: n // 2]), np.sort(_sums(logs[n // 2 :]))
    # of all pairs (left, right): sum >= seen; those <= -seen are as many, since every pattern has its mirror
    above = len(right) - np.searchsorted(right, nearly - left, side="left")
    return min(1.0, 2.0 * float(above.sum()) / 2.0**n)


def _sums(logs: Floats) -> Floats:
    """Of all sign patterns; shape (2**n,)."""
    sums = np.zeros(1)
    for each in logs:
        sums = np.concatenate([sums + each, sums - each])
    return sums


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment (1979) of the p that there are: the chance of any false find among them stays below
    the level. In the order given."""
    known = sorted((value, place) for place, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    highest = 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * value))
        adjusted[place] = highest
    return adjusted


def outliers(logs: Sequence[float]) -> list[int]:
    """Places of pairs that lie far from the others: |modified z| above 3.5, by the median of absolute deviations. They
    are pointed at and never left out. None below five pairs."""
    values = np.asarray(logs, dtype=np.float64)
    if len(values) < OUTLIER_PAIRS:
        return []
    away = np.abs(values - np.median(values))
    usual = float(np.median(away))
    # a share of a per cent is within what any clock and window can tell
    return [int(i) for i in np.flatnonzero(0.6745 * away > OUTLIER_Z * max(usual, 5e-4))]
