"""Whether B solves what A solves: the same tasks on both sides, paired by seed and session; McNemar's test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simulator.core.compare.verdict import Setting, Verdict
from simulator.core.proportion import LEVEL, Interval, difference, mcnemar, smallest_fall, wilson
from simulator.core.record import Session

#: points by which the shares may differ and still be called equal
SHARE_MARGIN = 0.05
PLAIN = Setting()
#: the only failure that a slow client can cause: what a model says does not depend on it
LATE = "time_out"


@dataclass(frozen=True, slots=True)
class Checked:
    """What a session's check said. failure: the class of an unsolved one, "" of a solved one."""

    solved: bool
    failure: str = ""


Tasks = Mapping[tuple[str, ...], Checked]


def checked(sessions: Sequence[Session]) -> dict[tuple[str, ...], Checked]:
    """Of judged sessions: what was to be done, and by which client -> verdict. The same names in every run of a seed
    and a scenario."""
    return {
        (s.session, s.task_template, s.task_size, s.task_name, s.profile): Checked(
            s.verified is True, "" if s.verified else s.failure_class or "wrong_answer"
        )
        for s in sessions
    }


@dataclass(frozen=True, slots=True)
class Solving:
    """Of pairs of sessions with one task: both, lost (A alone solved it), won (B alone), neither. alone: tasks that
    only A and only B has a verdict on. a, b: Wilson's intervals of the shares; change: Newcombe's of share(B) less
    share(A). p: McNemar's, exact, two-sided. finds: the smallest fall that so many pairs would have found. losses:
    failure classes of B where A solved it, the most frequent first."""

    both: int
    lost: int
    won: int
    neither: int
    alone: tuple[int, int]
    a: Interval
    b: Interval
    change: Interval
    p: float
    finds: float | None
    losses: tuple[tuple[str, int], ...]
    word: Verdict

    @property
    def n(self) -> int:
        return self.both + self.lost + self.won + self.neither

    @property
    def shares(self) -> tuple[float, float]:
        return (self.both + self.lost) / self.n, (self.both + self.won) / self.n


def solving(
    pairs: Sequence[tuple[Tasks, Tasks]], setting: Setting = PLAIN, margin: float | None = None
) -> Solving | None:
    """pairs: the tasks of each pair of runs. None where no task has a verdict on both sides."""
    met: Counter[tuple[bool, bool]] = Counter()
    losses: Counter[str] = Counter()
    alone = [0, 0]
    for a, b in pairs:
        for key in a.keys() & b.keys():
            met[a[key].solved, b[key].solved] += 1
            if a[key].solved and not b[key].solved:
                losses[b[key].failure] += 1
        alone[0] += len(a.keys() - b.keys())
        alone[1] += len(b.keys() - a.keys())
    return of_counts(
        (met[True, True], met[True, False], met[False, True], met[False, False]), setting, margin,
        alone=(alone[0], alone[1]), losses=tuple(sorted(losses.items(), key=lambda each: (-each[1], each[0]))),
    )  # fmt: skip


def of_counts(
    counts: tuple[int, int, int, int], setting: Setting = PLAIN, margin: float | None = None, *,
    alone: tuple[int, int] = (0, 0), losses: tuple[tuple[str, int], ...] = (),
) -> Solving | None:  # fmt: skip
    """counts: both, lost, won, neither."""
    both, lost, won, neither = counts
    n = sum(counts)
    a, b, change = wilson(both + lost, n), wilson(both + won, n), difference(*counts)
    if a is None or b is None or change is None:
        return None
    p = mcnemar(lost, won)
    late = any(name == LATE for name, _ in losses)
    setting = Setting(setting.incomparable, setting.client_limited and late)
    word = _word(p, lost > won, change, SHARE_MARGIN if margin is None else margin, setting)
    finds = smallest_fall(n, (lost + won) / n)
    return Solving(both, lost, won, neither, alone, a, b, change, p, finds, losses, word)


def _word(p: float, fell: bool, change: Interval, margin: float, setting: Setting) -> Verdict:
    """A fall that is sure is told before all that would excuse its size."""
    if setting.incomparable:
        return Verdict.INCOMPARABLE
    if setting.client_limited:
        return Verdict.CLIENT_LIMITED
    if p < LEVEL:
        return Verdict.WORSE if fell else Verdict.BETTER
    if change[0] > -margin and change[1] < margin:
        return Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE
