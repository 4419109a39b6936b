"""Small statistics with one rule: what cannot be known is None, never 0 and never NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simulator.core.table import Floats, Ints

#: p99 of fewer requests than this is decided by a handful of them, so it is left out and p95 stands last
P99_NEEDS = 1_000
QUANTILES = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}


#: Student's t, 0.975, for 1 to 30 degrees of freedom
_T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def t_95(freedom: int) -> float:
    """The factor of a two-sided 95 % interval; from 31 degrees of freedom on 1.96 + 2.5 / freedom, within 0.002."""
    if freedom < 1:
        return math.inf
    return _T_95[freedom - 1] if freedom <= len(_T_95) else 1.96 + 2.5 / freedom


def finite(value: float | np.floating[Any] | None) -> float | None:
    """The value as a float; None for None, NaN and infinities."""
    return float(value) if value is not None and math.isfinite(value) else None


def ratio(part: float | None, whole: float | None) -> float | None:
    """part / whole; None when either is unknown or the whole is 0."""
    return finite(part / whole) if part is not None and whole else None


def known(values: Floats) -> Floats:
    held: Floats = values[np.isfinite(values)]
    return held


def mean(values: Floats) -> float | None:
    held = known(values)
    return float(held.mean()) if len(held) else None


def quantile(values: Floats, q: float) -> float | None:
    """Linear interpolation between order statistics (NumPy's default), over the known values."""
    held = known(values)
    return float(np.quantile(held, q)) if len(held) else None


def describe(values: Floats, *, of: int | None = None, failed: int = 0) -> dict[str, Any]:
    """A distribution of one value a request (or turn, session, call): {n, of, failed, mean, min, p50, p90, p95, p99,
    max}, in the values' unit.

    n: how many values there are. of: how many things could have had one; the rest failed or were undefined. p99 is None
    with fewer than 1,000 values.
    """
    held = known(values)
    n = len(held)
    row: dict[str, Any] = {"n": n, "of": len(values) if of is None else of, "failed": failed}
    row["mean"] = float(held.mean()) if n else None
    row["min"] = float(held.min()) if n else None
    row |= {name: float(np.quantile(held, q)) if n else None for name, q in QUANTILES.items()}
    if n < P99_NEEDS:
        row["p99"] = None
    row["max"] = float(held.max()) if n else None
    return row


def jain(values: Floats) -> float | None:
    """Jain's fairness index (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has everything. None with
    fewer than two known values, or when all are 0. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984."""
    held = known(values)
    if len(held) < 2 or not held.any():
        return None
    scaled = held / np.abs(held).max()  # so that squares neither overflow nor vanish
    return float(scaled.sum() ** 2 / (len(scaled) * np.square(scaled).sum()))


def _added(counts: Floats, place: Ints, weight: Ints) -> Floats:
    """Bucket counts with more weight in them, longer if need be."""
    more = np.bincount(place, weights=weight, minlength=len(counts)).astype(np.float64)
    more[: len(counts)] += counts
    return more


class GapHistogram:
    """Weighted distribution of gaps too many to keep: 300 million of them need 42 MB at most.

    Buckets are one microsecond, the resolution of the stored gaps, below a second, and one millisecond above; quantiles
    are a bucket's value, the smallest that reaches the wanted share of the weight. Mean and maximum are exact.
    """

    FINE_US = 1_000_000
    COARSE_US = 1_000

    def __init__(self) -> None:
        self._fine = np.zeros(0)
        self._coarse = np.zeros(0)
        self._sum_us = 0.0
        self._max_us = -math.inf
        self.weight = 0

    def add(self, gap_us: Floats, weight: Ints) -> None:
        """gap_us, weight: (n,); a weight of k counts as k equal gaps."""
        if not len(gap_us):
            return
        rounded = np.rint(gap_us).astype(np.int64)
        fine = rounded < self.FINE_US
        self._fine = _added(self._fine, rounded[fine], weight[fine])
        self._coarse = _added(self._coarse, rounded[~fine] // self.COARSE_US, weight[~fine])
        self._sum_us += float(np.dot(gap_us, weight))
        self._max_us = max(self._max_us, float(gap_us[weight > 0].max(initial=-math.inf)))
        self.weight += int(weight.sum())

    def quantile_s(self, q: float) -> float | None:
        """Seconds; None of an empty histogram."""
        if not self.weight:
            return None
        wanted = q * self.weight
        below = self._fine.sum()
        if wanted <= below:
            return float(np.searchsorted(np.cumsum(self._fine), wanted)) * 1e-6
        bucket = np.searchsorted(np.cumsum(self._coarse), wanted - below)
        return float(min(bucket * self.COARSE_US, self._max_us)) * 1e-6

    def describe(self, requests: int) -> dict[str, Any]:
        """{n, requests, mean, p50, p90, p95, p99, max} in seconds; n: the total weight. p99 needs 1,000 requests."""
        row: dict[str, Any] = {"n": self.weight, "requests": requests}
        row["mean"] = self._sum_us / self.weight * 1e-6 if self.weight else None
        row |= {name: self.quantile_s(q) for name, q in QUANTILES.items()}
        if requests < P99_NEEDS:
            row["p99"] = None
        row["max"] = self._max_us * 1e-6 if self.weight else None
        return row
