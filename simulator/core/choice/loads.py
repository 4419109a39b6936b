"""A ladder climbed at several levels of load: how far each rung is from the first one at each level, which rung leads
where for which traffic, and between which levels the lead passes to another one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulator.core.choice.choice import AGENTS, FIGURES, OUTPUT, SYNTHETIC, Choice, Rung, Winner, choose
from simulator.core.compare.pairs import PairedRatio, ratio_of_pairs
from simulator.core.compare.verdict import LATENCY_MARGIN, THROUGHPUT_MARGIN, Verdict

KINDS = (AGENTS, SYNTHETIC)
#: of two levels' verdicts the first that is met holds for both
_WEAKEST = (Verdict.CLIENT_LIMITED, Verdict.SUGGESTIVE, Verdict.INCONCLUSIVE, Verdict.EQUIVALENT)


@dataclass(frozen=True, slots=True)
class Point:
    """A rung at a level. ratio: of its figure to the first rung's there, over their common pairs; the first rung's own
    is 1 without an interval. Above 1 is more of the figure, which is worse where the figure is a latency."""

    level: int
    value: float
    ratio: PairedRatio


@dataclass(frozen=True, slots=True)
class Curve:
    """One rung under one kind of traffic, by level; without the levels where it or the first rung has no figure."""

    kind: str
    rung: str
    points: tuple[Point, ...]

    def at(self, level: int) -> Point | None:
        return next((each for each in self.points if each.level == level), None)


@dataclass(frozen=True, slots=True)
class Change:
    """Between two levels the lead passes from one rung to another; on levels between them both lead. ahead: by how much
    the second is behind the first below, behind: by how much the first is behind the second above, shares; None without
    a common pair. verdict: WORSE when repeats show both, else why it is not shown."""

    kind: str
    below: int
    above: int
    before: str
    after: str
    ahead: float | None
    behind: float | None
    verdict: Verdict

    @property
    def decided(self) -> bool:
        return self.verdict == Verdict.WORSE


@dataclass(frozen=True, slots=True)
class ByLoad:
    """levels: ascending. choices: level -> what is chosen there. first: the rung that ratios are to. curves: agents'
    first, rungs in the ladder's order. changes: by kind of traffic, then by level."""

    levels: tuple[int, ...]
    choices: Mapping[int, Choice]
    first: str
    curves: tuple[Curve, ...]
    changes: tuple[Change, ...]
    figure: str

    @property
    def rungs(self) -> list[str]:
        """In the ladder's order."""
        return list(dict.fromkeys(curve.rung for curve in self.curves))

    def knows(self, kind: str) -> bool:
        return any(curve.kind == kind for curve in self.curves)

    def leader(self, kind: str, level: int) -> Winner | None:
        choice = self.choices[level]
        return choice.agents if kind == AGENTS else choice.synthetic

    def margin(self, kind: str) -> float:
        """Share within which two rungs are as good as equal."""
        return THROUGHPUT_MARGIN if kind == SYNTHETIC or self.figure == OUTPUT else LATENCY_MARGIN

    def leaders(self, kind: str, level: int) -> tuple[str, ...]:
        """The leader, and rungs that are as good as it: within the margin, whatever the repeats show. () of none."""
        leader = self.leader(kind, level)
        if leader is None:
            return ()
        near = [each.rung for each in leader.others if abs(1 - each.ratio.ratio) < self.margin(kind)]
        return tuple(name.removesuffix(f"@{level}") for name in (leader.rung, *near))

    @property
    def limited(self) -> tuple[int, ...]:
        """Levels at which the client was the limit in a run that the leader or a rung beside it has."""
        led = [(level, self.leader(kind, level)) for level in self.levels for kind in KINDS]
        found = {
            level
            for level, leader in led
            if leader is not None and any(each.verdict == Verdict.CLIENT_LIMITED for each in leader.others)
        }
        return tuple(sorted(found))


def by_load(rungs: Sequence[Rung], figure: str = OUTPUT) -> ByLoad | None:
    """figure: what agents are judged by. None where there are not two levels of load."""
    levels = tuple(sorted({rung.level for rung in rungs if rung.level is not None}))
    if len(levels) < 2:
        return None
    here = {level: [rung for rung in rungs if rung.level == level] for level in levels}
    choices = {level: choose(here[level], figure) for level in levels}
    first = next(rung.plain for rung in rungs if rung.level is not None)
    curves = [
        Curve(kind, name, tuple(_points(here, first, name, kind, figure if kind == AGENTS else OUTPUT)))
        for kind in KINDS
        for name in dict.fromkeys(rung.plain for rung in rungs if rung.level is not None)
    ]
    found = ByLoad(levels, choices, first, tuple(each for each in curves if each.points), (), figure)
    changes = tuple(change for kind in KINDS for change in _changes(found, kind))
    return ByLoad(levels, choices, first, found.curves, changes, figure)


def _points(here: Mapping[int, Sequence[Rung]], first: str, name: str, kind: str, figure: str) -> list[Point]:
    found = []
    for level, rungs in here.items():
        by_name = {each.plain: each.values(kind, figure) for each in rungs}
        base, mine = by_name.get(first) or {}, by_name.get(name) or {}
        pairs = sorted(base.keys() & mine.keys())
        if not pairs:
            continue
        ratio = ratio_of_pairs([base[n] for n in pairs], [mine[n] for n in pairs])
        value = next(each for each in rungs if each.plain == name).mean(kind, figure)
        assert value is not None
        itself = PairedRatio(1.0, None, None, None, None, len(pairs), None, None)
        found.append(Point(level, value, itself if name == first else ratio))
    return found


def _changes(found: ByLoad, kind: str) -> list[Change]:
    """The lead is held while one rung is among the leaders of every level."""
    changes: list[Change] = []
    held: list[str] = []
    since: list[int] = []
    for level in found.levels:
        leaders = found.leaders(kind, level)
        if not leaders:
            continue
        still = [name for name in held if name in leaders]
        if held and not still:
            before, after = held[0], leaders[0]
            below = next(each for each in reversed(since) if after not in found.leaders(kind, each))
            changes.append(_change(kind, found, (below, before), (level, after)))
            since = []
        held = still or list(leaders)
        since.append(level)
    return changes


def _change(kind: str, found: ByLoad, below: tuple[int, str], above: tuple[int, str]) -> Change:
    one, other = _gap(found, kind, *below, above[1]), _gap(found, kind, *above, below[1])
    verdicts = [each[1] for each in (one, other) if each is not None]
    weakest = next((each for each in _WEAKEST if each in verdicts), Verdict.WORSE)
    return Change(
        kind, below[0], above[0], below[1], above[1],
        ahead=None if one is None else one[0],
        behind=None if other is None else other[0],
        verdict=weakest if len(verdicts) == 2 else Verdict.INCONCLUSIVE,
    )  # fmt: skip


def _gap(found: ByLoad, kind: str, level: int, better: str, worse: str) -> tuple[float, Verdict] | None:
    """By how much one rung is behind another that leads at a level, a share of the other's figure, and what may be
    said of it; None without a common pair with the leader."""
    leader = found.leader(kind, level)
    assert leader is not None
    places = {each.rung.removesuffix(f"@{level}"): each for each in leader.others}
    if (behind := places.get(worse)) is None:
        return None
    ahead = 1.0 if better not in places else places[better].ratio.ratio
    figure = found.figure if kind == AGENTS else OUTPUT
    ratio = behind.ratio.ratio / ahead
    return (1 - ratio if FIGURES[figure] == "higher" else ratio - 1), behind.verdict
