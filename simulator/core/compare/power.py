"""How small a difference a number of pairs can find, and how many pairs a difference needs.

All of it is about the mean of ln(B/A) over pairs and Student's t. cv: run-to-run coefficient of variation of one side;
a pair's log ratio then has the standard deviation sqrt(2) * cv.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import scipy  # its parts load when they are asked for, which most runs never do

POWER = 0.80
CONFIDENCE = 0.95
#: more pairs than this are nobody's plan
MOST_PAIRS = 200


def critical_t(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Factor of a two-sided interval of Student's t."""
    return float(scipy.special.stdtrit(freedom, (1 + confidence) / 2))


def power(n: int, effect_sd: float, confidence: float = CONFIDENCE) -> float:
    """Probability that the interval of n pairs leaves out 1 on the side on which the effect is. effect_sd: |ln of the
    true ratio| in standard deviations of a pair's log ratio. n: 2 or more. Noncentral t."""
    beyond = scipy.special.nctdtr(n - 1, effect_sd * math.sqrt(n), critical_t(n - 1, confidence))
    return 1.0 - float(beyond)


@functools.lru_cache(maxsize=1024)
def shift_found(n: int, confidence: float = CONFIDENCE, wanted: float = POWER) -> float:
    """The smallest effect, in standard deviations of a pair's log ratio, that n pairs find with that power."""
    low, high = 0.0, 1.0
    while power(n, high, confidence) < wanted:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if power(n, middle, confidence) < wanted else (low, middle)
    return high


def minimum_detectable(n: int, cv: float, confidence: float = CONFIDENCE, wanted: float = POWER) -> float | None:
    """The smallest |ln ratio| that n pairs find with that power: 0.028 is 2.8 % either way (0.092 is a gain of 9.7 % or
    a loss of 8.8 %). None below two pairs, which have no interval."""
    return shift_found(n, confidence, wanted) * math.sqrt(2) * cv if n >= 2 else None


def pairs_to_tell(ratio: float, cv: float, confidence: float = CONFIDENCE) -> int | None:
    """How many pairs would find a ratio that is what it now seems, with 80 % power; None: more than MOST_PAIRS."""
    effect = abs(math.log(ratio))
    if effect == 0:
        return None
    return _least(lambda n: power(n, effect / (math.sqrt(2) * cv), confidence) >= POWER) if cv > 0 else 2


def pairs_to_equal(ratio: float, cv: float, margin: float, confidence: float = CONFIDENCE) -> int | None:
    """How many pairs bring the whole interval within +-margin (0.02: 2 %), if the ratio is what it now seems: interval
    and one and a half standard errors of luck, about 80 % of cases of two equal engines. None: outside, or more than
    MOST_PAIRS."""
    room = min(math.log1p(margin) - math.log(ratio), math.log(ratio) - math.log1p(-margin))
    if room <= 0:
        return None
    spread = math.sqrt(2) * cv
    return _least(lambda n: (critical_t(n - 1, confidence) + 1.3) * spread / math.sqrt(n) <= room)


def _least(enough: Callable[[int], bool]) -> int | None:
    """The smallest number of pairs, from 2 on, that is enough; more of them always are, too."""
    if not enough(MOST_PAIRS):
        return None
    low, high = 1, MOST_PAIRS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
