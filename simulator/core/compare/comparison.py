"""A whole comparison of two sides, each one run or several: what `sim diff` shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.core.compare.comparable import Couple, OneRun, Reason, reasons
from simulator.core.compare.notes import notes
from simulator.core.compare.pairing import Begun, Order, order, paired
from simulator.core.compare.pairs import PairedRatio, holm, ratio_of_pairs
from simulator.core.compare.rows import GROUPS, OUTPUT, Group, value_of
from simulator.core.compare.settings import Difference, differences
from simulator.core.compare.solving import Solving, solving
from simulator.core.compare.verdict import More, Setting, Verdict, more, verdict
from simulator.core.compare.within import quantile_ratio, throughput_ratio
from simulator.core.metric import Metric
from simulator.core.run import KINDS


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one traffic. a, b: the geometric mean of its values over pairs (their plain mean where one is not
    above 0; None where it is nowhere known). values: (A, B) of each pair. found: None where there is no ratio. word:
    None of a metric that has no better side. p_adjusted: after Holm; None for the primary one."""

    metric: Metric
    margin: float
    a: float | None
    b: float | None
    values: tuple[tuple[float | None, float | None], ...]
    found: PairedRatio | None
    word: Verdict | None = None
    p_adjusted: float | None = None
    more: More | None = None


@dataclass(frozen=True, slots=True)
class Block:
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """kind: "agent" or "synthetic". reasons: why it may not be compared. limited: names of client-limited runs."""

    kind: str
    blocks: tuple[Block, ...]
    reasons: tuple[str, ...]
    limited: tuple[str, ...]

    @property
    def rows(self) -> list[Row]:
        return [row for block in self.blocks for row in block.rows]


@dataclass(frozen=True, slots=True)
class Question:
    """primary: the metric that decides; kind: its traffic, "" for agents where there are some. margin: instead of 2 %
    and 5 %. allowed: differences that were asked for (comparable.ALLOWABLE)."""

    primary: Metric = OUTPUT
    kind: str = ""
    margin: float | None = None
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Comparison:
    """a, b: all runs of the sides; pairs: those that were compared. kind: the primary metric's traffic; "" when nothing
    was sent by both. reasons: all, also those that were allowed. Of one pair, intervals are within-run ones. solving:
    of live runs with a task in common."""

    question: Question
    a: tuple[OneRun, ...]
    b: tuple[OneRun, ...]
    pairs: tuple[Couple, ...]
    order: Order
    kind: str
    parts: tuple[Part, ...]
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...]
    settings: tuple[Difference, ...]
    solving: Solving | None = None

    @property
    def live(self) -> bool:
        """Whether models' own replies drove all agents."""
        return bool(self.pairs) and all(run.live for pair in self.pairs for run in pair)

    @property
    def primary(self) -> Row | None:
        rows = [row for part in self.parts if part.kind == self.kind for row in part.rows]
        return next((row for row in rows if row.metric == self.question.primary), None)

    @property
    def word(self) -> Verdict:
        """The verdict of the primary metric; of live runs whose solved share fell for sure, worse, whatever it says."""
        if self.solving is not None and self.solving.word is Verdict.WORSE:
            return Verdict.WORSE
        row = self.primary
        if row is None or row.word is None:
            return Verdict.INCOMPARABLE
        return row.word

    @property
    def one_pair(self) -> bool:
        return len(self.pairs) == 1

    @property
    def refused(self) -> list[Reason]:
        return [each for each in self.reasons if each.aspect not in self.question.allowed]


def begun(manifests: Sequence[Mapping[str, Any]]) -> list[Begun]:
    found = []
    for place, told in enumerate(manifests):
        seed, began = told.get("seed"), told.get("t0_unix_s")
        found.append(
            Begun(
                place,
                seed if isinstance(seed, int) else None,
                float(began) if isinstance(began, int | float) else None,
            )
        )
    return found


def compare(a: Sequence[OneRun], b: Sequence[OneRun], question: Question, said: Sequence[str] = ()) -> Comparison:
    """a, b: one run or more each. Without a seed in common runs are paired in order all the same, so that there is
    something to see; the verdict is then incomparable unless the difference was asked for. said: notes that go before
    its own."""
    starts = begun([run.manifest for run in a]), begun([run.manifest for run in b])
    shared = {each.seed for each in starts[0]} & {each.seed for each in starts[1]}
    found = paired(*starts, across_seeds="seed" in question.allowed or not shared)
    pairs = tuple((a[left], b[right]) for left, right in found.pairs)
    why = reasons(pairs)
    kinds = [kind for kind in KINDS if all(run.part(kind) is not None for pair in pairs for run in pair)]
    kind = question.kind or (kinds[0] if kinds else "")
    parts = _worded([_part(kind, pairs, why, question) for kind in kinds], kind, question)
    alone = [a[place].name for place in found.alone_a], [b[place].name for place in found.alone_b]
    ordered = order([(starts[0][left], starts[1][right]) for left, right in found.pairs])
    return Comparison(
        question=question,
        a=tuple(a),
        b=tuple(b),
        pairs=pairs,
        order=ordered,
        kind=kind,
        parts=tuple(parts),
        reasons=tuple(why),
        notes=(*said, *notes(pairs, ordered, alone, question.allowed)),
        settings=tuple(differences(pairs[0][0].engine, pairs[0][1].engine)),
        solving=_solving(pairs, why, parts, question),
    )


def _solving(
    pairs: Sequence[Couple], why: Sequence[Reason], parts: Sequence[Part], question: Question
) -> Solving | None:
    """What fails costs an engine nothing in speed, and tasks in quality: that alone forbids no verdict here."""
    part = next((part for part in parts if part.kind == KINDS[0]), None)
    if part is None or not all(run.live for pair in pairs for run in pair):
        return None
    against = [
        each for each in why if each.kind in ("", part.kind) and each.aspect not in {*question.allowed, "failed"}
    ]
    same = [(a.tasks, b.tasks) for a, b in pairs if a.manifest.get("seed") == b.manifest.get("seed")]
    return solving(same, Setting(bool(against), bool(part.limited)), question.margin)


def _part(kind: str, pairs: Sequence[Couple], why: Sequence[Reason], question: Question) -> Part:
    against = [each.told for each in why if each.kind in ("", kind) and each.aspect not in question.allowed]
    limited = [run.name for pair in pairs for run in pair if run.limited(kind)]
    blocks = tuple(
        Block(group.title, tuple(_row(kind, metric, group, pairs, question) for metric in group.metrics))
        for group in GROUPS
    )
    return Part(kind, blocks, tuple(against), tuple(dict.fromkeys(limited)))


def _row(kind: str, metric: Metric, group: Group, pairs: Sequence[Couple], question: Question) -> Row:
    values = tuple((value_of(a.part(kind), metric), value_of(b.part(kind), metric)) for a, b in pairs)
    known = [(a, b) for a, b in values if a is not None and b is not None]
    margin = group.margin if question.margin is None else question.margin
    if not known:
        sides = [[v for v in side if v is not None] for side in zip(*values, strict=True)]
        means = [sum(side) / len(side) if side else None for side in sides]
        return Row(metric, margin, means[0], means[1], values, None)
    left, right = [a for a, _ in known], [b for _, b in known]
    if min(*left, *right) <= 0:
        return Row(metric, margin, sum(left) / len(left), sum(right) / len(right), values, None)
    found = ratio_of_pairs(left, right)
    if len(pairs) == 1:
        found = _within(kind, metric, pairs[0], left[0], right[0]) or found
    return Row(metric, margin, _middle(left), _middle(right), values, found)


def _middle(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _within(kind: str, metric: Metric, pair: Couple, a: float, b: float) -> PairedRatio | None:
    held = [run.within.get(kind) for run in pair]
    left, right = held
    if left is None or right is None:
        return None
    if metric == OUTPUT:
        return throughput_ratio(a, b, left.output, right.output)
    if len(metric.path) != 2:
        return None
    key = (metric.path[0], metric.path[1])
    return quantile_ratio(a, b, left.latency.get(key), right.latency.get(key))


def _worded(parts: Sequence[Part], kind: str, question: Question) -> list[Part]:
    """The verdict of each row; of all but the primary one with p after Holm."""
    others = [
        (part, row) for part in parts for row in part.rows if _judged(row) and not _first(part, row, kind, question)
    ]
    p = holm([row.found.p_t if row.found is not None else None for _, row in others])
    adjusted = {(part.kind, row.metric): each for (part, row), each in zip(others, p, strict=True)}
    return [
        replace(
            part,
            blocks=tuple(
                replace(
                    block, rows=tuple(_judge(part, row, adjusted.get((part.kind, row.metric))) for row in block.rows)
                )
                for block in part.blocks
            ),
        )
        for part in parts
    ]


def _first(part: Part, row: Row, kind: str, question: Question) -> bool:
    return part.kind == kind and row.metric == question.primary


def _judged(row: Row) -> bool:
    return bool(row.metric.better) and row.found is not None


def _judge(part: Part, row: Row, p: float | None) -> Row:
    setting = Setting(bool(part.reasons), bool(part.limited))
    if not _judged(row) or row.found is None:
        return row
    found = row.found if row.found.n > 1 else replace(row.found, low=None, high=None)
    word = verdict(found, row.metric.better, row.margin, setting, p)
    further = more(found, row.margin) if word is Verdict.INCONCLUSIVE else None
    return replace(row, word=word, p_adjusted=p, more=further)
