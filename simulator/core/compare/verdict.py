"""What may be said of a comparison: one word, the first that applies."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from simulator.core.compare.pairs import PairedRatio
from simulator.core.compare.power import pairs_to_equal, pairs_to_tell

#: share by which a ratio may miss 1 and still be called equal
THROUGHPUT_MARGIN, LATENCY_MARGIN = 0.02, 0.05
LEVEL = 0.05
#: fewer say nothing of their spread: two pairs may be alike by chance, and their interval then has no width
LEAST_PAIRS = 3


class Verdict(StrEnum):
    """In order of precedence: the first that applies is given."""

    INCOMPARABLE = "incomparable"
    CLIENT_LIMITED = "client-limited"
    SUGGESTIVE = "suggestive"
    EQUIVALENT = "equivalent"
    BETTER = "better"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Setting:
    """What holds for all metrics of a comparison before any of them is looked at."""

    incomparable: bool = False
    client_limited: bool = False


def verdict(
    found: PairedRatio, better: str, margin: float, setting: Setting = Setting(), p_adjusted: float | None = None
) -> Verdict:  # fmt: skip
    """better: "higher" or "lower". margin: share within which two values are equal (0.02: 2 %). p_adjusted: of a
    secondary metric, its p after Holm: above 5 % it is neither better nor worse, whatever its own interval says."""
    if setting.incomparable:
        return Verdict.INCOMPARABLE
    if setting.client_limited:
        return Verdict.CLIENT_LIMITED
    if found.low is None or found.high is None or found.n < LEAST_PAIRS:
        return Verdict.SUGGESTIVE
    if found.low > 1 - margin and found.high < 1 + margin:
        return Verdict.EQUIVALENT
    if found.certain and (p_adjusted is None or p_adjusted < LEVEL):
        return Verdict.BETTER if (found.ratio > 1) == (better == "higher") else Verdict.WORSE
    return Verdict.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class More:
    """How many pairs would settle an inconclusive metric if things are as they now seem. pairs: in all; None, more than
    anybody would run. towards: "different" or "equivalent"."""

    pairs: int | None
    towards: str


def more(found: PairedRatio, margin: float) -> More:
    """For a metric of two pairs or more."""
    cv = found.cv or 0.0
    options = [
        (pairs, towards)
        for pairs, towards in (
            (pairs_to_tell(found.ratio, cv), "different"),
            (pairs_to_equal(found.ratio, cv, margin), "equivalent"),
        )
        if pairs is not None
    ]
    if not options:
        return More(None, "different")
    pairs, towards = min(options)
    return More(max(pairs, found.n + 1), towards)
