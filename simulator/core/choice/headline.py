"""What a ladder found, in few figures: how far it came, and which rung leads for which traffic. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.core.choice.choice import AGENTS, OUTPUT, SYNTHETIC, winner
from simulator.core.choice.ladder_file import Ladder, ladder_of
from simulator.core.compare.pairs import PairedRatio
from simulator.core.ladder.result import Row, rows
from simulator.core.ladder.told import told

KINDS = (AGENTS, SYNTHETIC)


@dataclass(frozen=True, slots=True)
class Best:
    """The rung with most output tok/s of one kind of traffic, at one level of load (None where the ladder has one).
    first: the rung that ratios are to. ratio: to it, over their common pairs; None of the first rung itself, and where
    there are none."""

    kind: str
    rung: str
    level: int | None
    output_tok_s: float
    first: str
    ratio: PairedRatio | None


@dataclass(frozen=True, slots=True)
class Headline:
    """rungs: with a repeat that came to its end, of how many; runs: the same of all repeats that were asked for, those
    of `doubted` not certified. shape: of the synthetic traffic, "512/512", or "". best: by level, agents first."""

    rungs: int
    of_rungs: int
    runs: int
    of_runs: int
    doubted: int
    shape: str
    best: tuple[Best, ...]

    def leader(self, kind: str) -> Best | None:
        """The fastest of all levels."""
        return max((each for each in self.best if each.kind == kind), key=lambda b: b.output_tok_s, default=None)


def headline(text: bytes, name: str) -> Headline:
    """Of a ladder.json. UsageError that names it when it is none."""
    said, checked = told(text, name)
    return headline_of(said, ladder_of(checked))


def headline_of(said: Mapping[str, Any], ladder: Ladder) -> Headline:
    found = rows(said)
    return Headline(
        rungs=sum(row.repeats > 0 for row in found),
        of_rungs=len(found),
        runs=sum(row.repeats for row in found),
        of_runs=sum(max(row.wanted, row.repeats) for row in found),
        doubted=sum(row.repeats - row.certified for row in found),
        shape=str(said.get("synthetic_shape") or ""),
        best=tuple(best for kind in KINDS for best in _best(ladder, found, kind)),
    )


def _best(ladder: Ladder, found: list[Row], kind: str) -> list[Best]:
    """One a level, in the order of the file; none of a level where this traffic gave nothing."""
    told_of = {(rung.level, rung.name): row for rung, row in zip(ladder.rungs, found, strict=True)}
    leaders = []
    for level in dict.fromkeys(rung.level for rung in ladder.rungs):
        here = [rung for rung in ladder.rungs if rung.level == level]
        if (leader := winner(here, kind, OUTPUT)) is None:
            continue
        row = told_of[level, leader.rung]
        ratio = row.agents_ratio if kind == AGENTS else row.synthetic_ratio
        plain = next(rung.plain for rung in here if rung.name == leader.rung)
        leaders.append(Best(kind, plain, level, leader.value, here[0].plain, ratio))
    return leaders
