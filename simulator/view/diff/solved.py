"""What two sides of live runs solved, in sentences."""

from __future__ import annotations

from simulator.core.compare.comparison import Comparison
from simulator.core.compare.solving import Solving
from simulator.core.compare.verdict import Verdict
from simulator.core.wording import counted
from simulator.view.diff.figures import p_text, share


def lines(found: Comparison) -> list[tuple[str, str]]:
    """(label, told), the label once; [] of replays."""
    if not found.live:
        return []
    each = found.solving
    if each is None:
        return [("solved", "no task has a verdict on both sides, so the solved shares cannot be paired")]
    counts = f"both {each.both:,}, only A {each.lost:,}, only B {each.won:,}, neither {each.neither:,}"
    told = [sentence(each), _shares(each), f"solved by {counts}; p is McNemar's, exact", _finds(each)]
    if each.losses:
        why = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in each.losses)
        told.append(f"what A alone solved, in B: {why}")
    if any(each.alone):
        told.append(f"left out, judged on one side only: {each.alone[0]:,} of A, {each.alone[1]:,} of B")
    return [("" if n else "solved", line) for n, line in enumerate(told)]


def sentence(found: Solving) -> str:
    """ "B solves 28.1 points fewer of the tasks than A (95 % -45.1..-9.0, 32 paired tasks, p 0.012): worse"."""
    low, high = (f"{100 * each:+.1f}" for each in found.change)
    before, after = found.shares
    seems = "solves" if found.word in (Verdict.WORSE, Verdict.BETTER) else "seems to solve"
    what = f"{_points(abs(after - before))} {'fewer' if after < before else 'more'} of the tasks than A"
    if found.lost == found.won:
        seems, what = "solves", "as many of the tasks as A"
    sure = f"95 % {low}..{high}, {found.n:,} paired task{'s' * (found.n > 1)}, p {p_text(found.p)}"
    return f"B {seems} {what} ({sure}): {found.word}"


def _shares(found: Solving) -> str:
    told = []
    for side, good, sure in (("A", found.both + found.lost, found.a), ("B", found.both + found.won, found.b)):
        low, high = (f"{100 * each:.1f}" for each in sure)
        told.append(f"{side} {good:,} of {found.n:,} ({share(good / found.n)}, 95 % {low}..{high})")
    return ", ".join(told)


def _finds(found: Solving) -> str:
    least = "none, not even one to nothing" if found.finds is None else _points(found.finds)
    differ = f" of which {share((found.lost + found.won) / found.n)} differ" if found.lost + found.won else ""
    return f"smallest fall that {counted(found.n, 'pair')}{differ} would find four times out of five: {least}"


def _points(of: float) -> str:
    return f"{100 * of:.1f} points"
