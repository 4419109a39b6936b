"""Shares of things that pass or do not: intervals, a test of two shares of the same things, and what it can find."""

from __future__ import annotations

import functools
import math

import numpy as np
import scipy  # its parts load when they are asked for, which most runs never do

from simulator.core.table import Floats, Ints

#: of a two-sided 95 % interval
Z_95 = 1.959963984540054
LEVEL, POWER = 0.05, 0.80
#: fewer pairs that differ than this cannot give a p below 5 %, even if all go one way
LEAST_DIFFERING = 6
Interval = tuple[float, float]


def wilson(good: int, of: int) -> Interval | None:
    """95 % interval of a share: score interval of Wilson (1927), which holds for small counts and near 0 and 1 as well.
    None of nothing. ValueError when more are good than there are."""
    if not 0 <= good <= of:
        raise ValueError(f"{good} of {of}")
    if not of:
        return None
    share, z2 = good / of, Z_95**2 / of
    middle = share + z2 / 2
    half = Z_95 * math.sqrt(share * (1 - share) / of + z2 / (4 * of))
    low, high = (middle - half) / (1 + z2), (middle + half) / (1 + z2)
    return (0.0 if good == 0 else low), (1.0 if good == of else high)


def mcnemar(lost: int, won: int) -> float:
    """Exact two-sided p of McNemar's test: of pairs that differ, as many go each way by chance. lost: passed in A and
    not in B; won: the other way round. 1 when none differ."""
    n = lost + won
    return min(1.0, 2.0 * float(scipy.special.bdtr(min(lost, won), n, 0.5))) if n else 1.0


def difference(both: int, lost: int, won: int, neither: int) -> Interval | None:
    """95 % interval of share(B) - share(A) over pairs: Newcombe's hybrid of Wilson's intervals (1998, method 10), which
    heeds that both were asked the same. None of no pairs."""
    n = both + lost + won + neither
    a, b = wilson(both + lost, n), wilson(both + won, n)
    if a is None or b is None:
        return None
    share_a, share_b = (both + lost) / n, (both + won) / n
    phi = _phi(both, lost, won, neither)
    down = (share_b - b[0]) ** 2 - 2 * phi * (share_b - b[0]) * (a[1] - share_a) + (a[1] - share_a) ** 2
    up = (b[1] - share_b) ** 2 - 2 * phi * (b[1] - share_b) * (share_a - a[0]) + (share_a - a[0]) ** 2
    middle = share_b - share_a
    return middle - math.sqrt(max(0.0, down)), middle + math.sqrt(max(0.0, up))


def _phi(both: int, lost: int, won: int, neither: int) -> float:
    """Correlation of the two, with Newcombe's correction; 0 where one side has no spread."""
    product = (both + lost) * (won + neither) * (both + won) * (lost + neither)
    if not product:
        return 0.0
    n, cross = both + lost + won + neither, both * neither - lost * won
    return (max(cross - n / 2, 0.0) if cross > 0 else cross) / math.sqrt(product)


def fall_found(n: int, differing: float, fall: float) -> float:
    """Probability that McNemar's exact test finds a fall (p below 5 %, more lost than won) over n pairs. differing: the
    share of pairs whose sides differ, at least `fall`."""
    differing = max(differing, fall)
    if n < LEAST_DIFFERING or differing <= 0:
        return 0.0
    each = np.arange(LEAST_DIFFERING, n + 1)
    chance = _binomial(each, n, differing)
    found = scipy.special.bdtrc(_needed(n) - 1.0, each, (1 + fall / differing) / 2)
    return float(np.dot(chance, found))


@functools.lru_cache(maxsize=8)
def _needed(n: int) -> Floats:
    """How many of 6, 7, ... n differing pairs must be lost for a p below 5 %; shape (n - 5,)."""
    least, found = LEAST_DIFFERING, []
    for of in range(LEAST_DIFFERING, n + 1):
        while 2 * float(scipy.special.bdtrc(least - 1, of, 0.5)) >= LEVEL:
            least += 1
        found.append(least)
    return np.array(found, dtype=np.float64)


def _binomial(k: Ints, n: int, share: float) -> Floats:
    f = scipy.special
    logs = f.gammaln(n + 1) - f.gammaln(k + 1) - f.gammaln(n - k + 1) + f.xlogy(k, share) + f.xlog1py(n - k, -share)
    chance: Floats = np.exp(logs)
    return chance


@functools.lru_cache(maxsize=1024)
def smallest_fall(n: int, differing: float) -> float | None:
    """The smallest fall of a share (0.1: ten points) that n pairs find four times out of five when that share of pairs
    differs. None when they would miss even a fall to nothing."""
    if fall_found(n, 1.0, 1.0) < POWER:
        return None
    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if fall_found(n, differing, middle) < POWER else (low, middle)
    return high
