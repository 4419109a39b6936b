"""In which order a ladder's rungs are measured, on which GPU, and how long that will take. Pure.

The unit is a life: one server, from its start to its end, in which a rung is measured once or several times. Lives of a
pair lie side by side in time, and their order turns round from pair to pair (A B, B A, A B, ...), so that what drifts
with time cancels out; with several lanes (a server each, side by side) the rungs also swap lanes, so that a faster GPU
cancels out, too.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: an estimate is taken for so much longer than it says
CAUTION = 1.1


@dataclass(frozen=True, slots=True)
class Life:
    """rung: its place in the ladder. pairs: the repeats that it makes, by pair, in order. lane: which server place."""

    rung: int
    lane: int
    pairs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Took:
    """Of a life that is over: seconds of its start (planning included) and its stop, and of each run."""

    rung: int
    start_s: float
    runs_s: tuple[float, ...]


def schedule(
    rungs: int, pairs: int, *, lanes: int = 1, repeats_per_life: int = 1, ends_first: bool = False
) -> tuple[Life, ...]:
    """All lives, the most important first; a lane takes its own of them in this order.

    In file order every pair has each rung once. ends_first: all pairs of the first and the last rung, then each other
    rung once, then what is left of those. In as many rounds as there are lanes a rung meets each lane of its group
    equally often."""
    if min(rungs, pairs, lanes, repeats_per_life) < 1:
        raise ValueError("a ladder has at least one rung, one pair, one lane and one repeat in a life")
    blocks = [tuple(range(at, min(at + repeats_per_life, pairs))) for at in range(0, pairs, repeats_per_life)]
    everyone = tuple(range(rungs))
    ends, others = tuple(dict.fromkeys((0, rungs - 1))), everyone[1:-1]
    numbers = range(len(blocks))
    if not ends_first or not others:
        rounds = [(everyone, number) for number in numbers]
    else:
        rounds = [(ends, number) for number in numbers] + [(others, number) for number in numbers]
    lives = []
    for members, number in rounds:
        placed = [Life(rung, _lane(at, number, len(members), lanes), blocks[number]) for at, rung in enumerate(members)]
        lives += placed if number % 2 == 0 else placed[::-1]
    return tuple(lives)


def _lane(at: int, number: int, members: int, lanes: int) -> int:
    """Of the at-th of `members` rungs in a round. Where there are lanes for several rounds side by side, the rounds
    take turns at groups of lanes, so that a pair's two sides always run at the same time."""
    groups = max(1, lanes // members)
    if groups == 1:
        return (at + number) % min(lanes, members)
    return (at + number // groups) % members + (number % groups) * members


def expected_s(life: Life, runs: int, over: Sequence[Took], floor_s: float) -> float:
    """Seconds that a life of so many runs will take, from those that are over: of the same rung where there are some.
    The first start of a machine compiles kernels and takes longer than later ones, so the middle of the starts counts.
    floor_s: what a run takes at least, for when nothing is known."""
    same = [each for each in over if each.rung == life.rung] or list(over)
    starts = [each.start_s for each in same]
    took = [seconds for each in same for seconds in each.runs_s]
    start_s = statistics.median(starts) if starts else 0.0
    run_s = max(statistics.fmean(took), 0.0) if took else floor_s
    return CAUTION * (start_s + runs * run_s)


def left_s(
    lives: Sequence[Life], levels: int, over: Sequence[Took], floor_s: float, going: Mapping[int, int] | None = None
) -> float | None:
    """Seconds until the last lane is done with what is left, None before anything is known. lives: not begun yet.
    levels: runs a repeat. going: lane -> runs that its life at work has still to make."""
    took = [seconds for each in over for seconds in each.runs_s]
    if not took:
        return None
    lanes = {lane: runs * statistics.fmean(took) for lane, runs in (going or {}).items()}
    for life in lives:
        spent = expected_s(life, len(life.pairs) * levels, over, floor_s)
        lanes[life.lane] = lanes.get(life.lane, 0.0) + spent / CAUTION
    return max(lanes.values(), default=0.0)
