"""A run of ours beside another tool's: the metrics that mean the same, pair by pair, with the words of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.compare.delivered import TOLERANCE
from simulator.core.compare.pairs import PairedRatio, holm, ratio_of_pairs
from simulator.core.compare.verdict import Setting, Verdict, verdict
from simulator.core.foreign.common import METRICS, Common, Measured

Couple = tuple[Measured, Measured]


@dataclass(frozen=True, slots=True)
class Row:
    """a, b: means over pairs. found: the ratio of geometric ones; None: not above 0. word None: neither side of it is
    better."""

    metric: Common
    a: float
    b: float
    found: PairedRatio | None
    word: Verdict | None


@dataclass(frozen=True, slots=True)
class Beside:
    """reasons: why no verdict may be drawn, those left out that the user asked for. limited: runs of ours that were the
    limit themselves. Only rows that both sides know."""

    pairs: tuple[Couple, ...]
    primary: Common
    rows: tuple[Row, ...]
    reasons: tuple[str, ...]
    limited: tuple[str, ...]

    @property
    def first(self) -> Row | None:
        return next((row for row in self.rows if row.metric == self.primary), None)

    @property
    def word(self) -> Verdict:
        row = self.first
        return Verdict.INCOMPARABLE if row is None or row.word is None else row.word

    @property
    def emulated(self) -> bool:
        return any(each.emulated for pair in self.pairs for each in pair)


def beside(
    pairs: Sequence[Couple], primary: Common, *, margin: float | None = None, allowed: frozenset[str] = frozenset()
) -> Beside:
    """margin: instead of 2 % and 5 %. allowed: of "model" and "scenario", differences that were asked for."""
    why = list(dict.fromkeys(each for pair in pairs for each in _reasons(*pair, allowed)))
    limited = list(dict.fromkeys(each.name for pair in pairs for each in pair if each.limited))
    setting = Setting(bool(why), bool(limited))
    ratios = {each.key: _ratio(each, pairs) for each in METRICS}
    judged = [m for m in METRICS if m.better and m != primary and ratios[m.key] is not None]
    p = holm([ratios[m.key].p_t for m in judged])  # type: ignore[union-attr]
    adjusted = {m.key: each for m, each in zip(judged, p, strict=True)}
    rows = []
    for metric in METRICS:
        sides = [
            [v for each in side if (v := each.figures.get(metric.key)) is not None] for side in zip(*pairs, strict=True)
        ]
        if not all(len(side) == len(pairs) for side in sides):
            continue
        found = ratios[metric.key]
        margin_of = metric.margin if margin is None else margin
        word = None
        if metric.better and found is not None:
            word = verdict(found, metric.better, margin_of, setting, adjusted.get(metric.key))
        a, b = (sum(side) / len(side) for side in sides)
        rows.append(Row(metric, a, b, found, word))
    return Beside(tuple(pairs), primary, tuple(rows), tuple(why), tuple(limited))


def _ratio(metric: Common, pairs: Sequence[Couple]) -> PairedRatio | None:
    values = [(a.figures.get(metric.key), b.figures.get(metric.key)) for a, b in pairs]
    known = [(a, b) for a, b in values if a and b and a > 0 and b > 0]
    if len(known) < len(pairs):
        return None
    return ratio_of_pairs([a for a, _ in known], [b for _, b in known])


def _reasons(a: Measured, b: Measured, allowed: frozenset[str]) -> list[str]:
    why = [f"{each.name} finished no request" for each in (a, b) if not each.requests]
    if "model" not in allowed and a.model != b.model:
        why.append(f"the models differ: `{a.model}` and `{b.model}` (--allow model)")
    if "scenario" in allowed:
        return why
    if a.at_once is not None and b.at_once is not None and a.at_once != b.at_once:
        why.append(f"{a.at_once} and {b.at_once} requests at once (--allow scenario)")
    for key, what in (("prompt_tok", "prompts"), ("output_tok", "replies")):
        left, right = a.figures.get(key), b.figures.get(key)
        if left and right and abs(right / left - 1) > TOLERANCE:
            why.append(f"{what} of {left:,.4g} and {right:,.4g} tokens in the mean (--allow scenario)")
    return why
