"""How alike two orders of the same few things are: Kendall's tau-b, and how little it means when they are few."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from simulator.core.table import Floats

#: resampled repeats; the seed is fixed, so the same records give the same interval
DRAWS, SEED = 1_000, 20_240
#: repeats below which resampling them says nothing
LEAST_REPEATS = 3
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Agreement:
    """tau: 1 the same order, -1 the opposite; None below two things, or when one order is no order. p: exact,
    two-sided, if the orders had nothing to do with each other; None with ties. p_least: the smallest p of n things.
    low, high: 95 % of tau over resampled repeats; None where anything has fewer than three."""

    n: int
    tau: float | None
    p: float | None
    p_least: float | None
    low: float | None = None
    high: float | None = None

    @property
    def can_tell(self) -> bool:
        """Whether so few things could give a p below 5 % at all."""
        return self.p_least is not None and self.p_least < LEVEL


def kendall(a: Floats, b: Floats) -> float | None:
    """tau-b of (n,) and (n,)."""
    pairs = np.triu_indices(len(a), 1)
    one, other = (np.sign(each[:, None] - each[None, :])[pairs] for each in (a, b))
    room = math.sqrt(float(np.count_nonzero(one)) * float(np.count_nonzero(other)))
    return float(np.sum(one * other)) / room if room else None


def inversions(n: int) -> list[int]:
    """How many of the n! orders have 0, 1, 2, ... pairs the wrong way round (Mahonian numbers)."""
    counts = [1]
    for size in range(2, n + 1):
        longer = [0] * (len(counts) + size - 1)
        for place, count in itertools.product(range(size), range(len(counts))):
            longer[place + count] += counts[count]
        counts = longer
    return counts


def exact_p(tau: float, n: int) -> float:
    """Two-sided, of n things without ties: the share of the n! orders at least as far from none as this one."""
    counts, most = inversions(n), n * (n - 1) // 2
    far = sum(count for wrong, count in enumerate(counts) if abs(1 - 2 * wrong / most) >= abs(tau) - 1e-9)
    return far / math.factorial(n)


def agreement(x: Floats, y: Floats) -> Agreement:
    """x, y: (things, repeats), NaN where a repeat is missing; a column is a repeat of all, so repeats are resampled as
    columns. Orders are of the means of logarithms."""
    n = len(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(x), np.log(y)
    one, other = (_means(each) for each in logs)
    whole = n >= 2 and bool(np.isfinite(one).all() and np.isfinite(other).all())
    tau = kendall(one, other) if whole else None
    if tau is None:
        return Agreement(n, None, None, None)
    ties = any(len(np.unique(each)) < n for each in (one, other))
    least = 2 / math.factorial(n) if n > 1 else None
    low, high = _interval(*logs)
    return Agreement(n, tau, None if ties else exact_p(tau, n), least, low, high)


def _means(logs: Floats) -> Floats:
    """Of each row's known values; NaN without any."""
    known = np.isfinite(logs)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(known, logs, 0.0).sum(axis=1) / known.sum(axis=1)
    return found


def _interval(x: Floats, y: Floats) -> tuple[float | None, float | None]:
    repeats = x.shape[1]
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum(axis=1).min(initial=repeats) < LEAST_REPEATS:  # a lone repeat shows nothing of how it would differ
        return None, None
    rng, found = np.random.default_rng(SEED), []
    for _ in range(DRAWS):
        drawn = rng.integers(repeats, size=repeats)
        one, other = _means(x[:, drawn]), _means(y[:, drawn])
        if np.isfinite(one).all() and np.isfinite(other).all() and (tau := kendall(one, other)) is not None:
            found.append(tau)
    if len(found) < DRAWS / 2:
        return None, None
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
