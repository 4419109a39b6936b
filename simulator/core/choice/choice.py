"""Which rung of a ladder each kind of traffic would choose, whether repeats decide it, and the price of choosing by the
other one."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.core.choice.rank import Agreement, agreement
from simulator.core.compare.pairs import PairedRatio, ratio_of_pairs
from simulator.core.compare.power import CONFIDENCE
from simulator.core.compare.verdict import LATENCY_MARGIN, THROUGHPUT_MARGIN, Setting, Verdict, verdict

AGENTS, SYNTHETIC = "agents", "synthetic"
OUTPUT = "output_tok_s"
#: figures of a repeat, as ladder.json names them, and which way is better
FIGURES = {OUTPUT: "higher", "ttft_p50_s": "lower", "tpot_p50_s": "lower", "turn_p50_s": "lower"}


@dataclass(frozen=True, slots=True)
class Repeat:
    """One server life or cache-reset repeat. pair: repeats of one pair were sent the same work. agents, synthetic:
    figures (FIGURES) of each traffic, None where it was not sent or gave nothing. limited: the client was the limit.
    doubts: why it is not certified, a clause each."""

    pair: int
    agents: dict[str, float | None] | None
    synthetic: dict[str, float | None] | None
    limited: bool = False
    doubts: tuple[str, ...] = ()

    def figure(self, kind: str, figure: str) -> float | None:
        part = self.agents if kind == AGENTS else self.synthetic
        found = None if part is None else part.get(figure)
        return found if found is not None and math.isfinite(found) and found > 0 else None


@dataclass(frozen=True, slots=True)
class Rung:
    """A configuration with its repeats that came to an end. failed: how many did not. level: the load, where a ladder
    was climbed at several; only rungs of one level can be compared."""

    name: str
    repeats: tuple[Repeat, ...]
    failed: int = 0
    level: int | None = None

    @property
    def plain(self) -> str:
        """Its name without the level, which `sim ladder` puts behind it."""
        return self.name if self.level is None else self.name.removesuffix(f"@{self.level}")

    def values(self, kind: str, figure: str) -> dict[int, float]:
        """pair -> figure; of several repeats of one pair, their geometric mean."""
        found: dict[int, list[float]] = {}
        for repeat in self.repeats:
            if (value := repeat.figure(kind, figure)) is not None:
                found.setdefault(repeat.pair, []).append(math.log(value))
        return {pair: math.exp(sum(logs) / len(logs)) for pair, logs in sorted(found.items())}

    def mean(self, kind: str, figure: str, pairs: Container[int] | None = None) -> float | None:
        """Geometric, of all its repeats or those of some pairs."""
        values = [each for pair, each in self.values(kind, figure).items() if pairs is None or pair in pairs]
        return _mean(values) if values else None


def _mean(values: Iterable[float]) -> float:
    """Geometric."""
    logs = [math.log(each) for each in values]
    return math.exp(sum(logs) / len(logs))


@dataclass(frozen=True, slots=True)
class Against:
    """A rung beside the winner: ratio of its figure to the winner's over their common pairs, and what may be said.
    value, best: both figures over these pairs, geometric means, of which the ratio is."""

    rung: str
    ratio: PairedRatio
    verdict: Verdict
    value: float
    best: float


@dataclass(frozen=True, slots=True)
class Winner:
    """Of one traffic. others: the other rungs against it, best first. missing: rungs without a figure, or without
    a pair in common with it."""

    kind: str
    figure: str
    rung: str
    value: float
    others: tuple[Against, ...]
    missing: tuple[str, ...]

    @property
    def equal(self) -> tuple[str, ...]:
        """Rungs that repeats show to be as good, or could not tell from it."""
        undecided = (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
        return tuple(each.rung for each in self.others if each.verdict in undecided)

    @property
    def decided(self) -> bool:
        return bool(self.others) and all(each.verdict == Verdict.WORSE for each in self.others)


@dataclass(frozen=True, slots=True)
class Choice:
    """agents, synthetic: each traffic's winner; None when it has no figure. regret: agents' figure on the rung that the
    synthetic test chooses against that on their own, a share, above 0 when it is worse; low, high: its interval.
    verdict: of that difference. runs: most repeats of a rung. undrawn: why nothing may be said of a choice, a sentence
    without its end; "" where something may."""

    agents: Winner | None
    synthetic: Winner | None
    regret: float | None
    low: float | None
    high: float | None
    verdict: Verdict | None
    agreement: Agreement
    runs: int
    undrawn: str = ""


def choose(rungs: Sequence[Rung], figure: str = OUTPUT) -> Choice:
    """figure: what agents are judged by; synthetic traffic is judged by output tok/s, as everybody does."""
    agents, synthetic = winner(rungs, AGENTS, figure), winner(rungs, SYNTHETIC, OUTPUT)
    runs = max((len(rung.repeats) for rung in rungs), default=0)
    regret = low = high = said = None
    if agents is not None and synthetic is not None:
        other = next((each for each in agents.others if each.rung == synthetic.rung), None)
        if agents.rung == synthetic.rung:
            regret = 0.0
        elif other is not None:
            regret, low, high = _regret(other.ratio, figure)
            said = other.verdict
    why = undrawn(rungs, figure)
    if said is not None and any(_is_limited(rung) for rung in _with_both(rungs, figure)):
        said = Verdict.CLIENT_LIMITED
    return Choice(agents, synthetic, regret, low, high, said, _agreement(rungs, figure), runs, why)


def undrawn(rungs: Sequence[Rung], figure: str) -> str:
    """Why these rungs choose nothing. A rung whose client was the limit may be the best of them or the worst, whatever
    it measured, so one is enough."""
    both = _with_both(rungs, figure)
    if len(both) < 2:
        few = (
            f"only {both[0].name} has figures of both kinds of traffic" if both else "no rung has figures of both kinds"
        )
        return f"{few}, and a choice takes two rungs that have them"
    limited = [rung.name for rung in both if _is_limited(rung)]
    if not limited:
        return ""
    names = ", ".join(limited[:4]) + f" and {len(limited) - 4} more" * (len(limited) > 4)
    return f"the client was the limit in runs of {names}, so what differs may be the client's and not the engine's"


def _with_both(rungs: Sequence[Rung], figure: str) -> list[Rung]:
    return [rung for rung in rungs if rung.values(AGENTS, figure) and rung.values(SYNTHETIC, OUTPUT)]


def _is_limited(rung: Rung) -> bool:
    return any(repeat.limited for repeat in rung.repeats)


def winner(rungs: Sequence[Rung], kind: str, figure: str) -> Winner | None:
    """By the mean of the logarithms over the pairs that all rungs have, so that an unfinished ladder does not set one
    hour's runs against another's; over all repeats where there is no such pair."""
    sign = 1 if FIGURES[figure] == "higher" else -1
    have = [rung.values(kind, figure).keys() for rung in rungs if rung.values(kind, figure)]
    common = set[int]().union(*have).intersection(*have)
    means = {rung.name: mean for rung in rungs if (mean := rung.mean(kind, figure, common or None)) is not None}
    if not means:
        return None
    order = sorted(means, key=lambda name: -sign * means[name])
    by_name = {rung.name: rung for rung in rungs}
    others = _against(by_name[order[0]], [by_name[name] for name in order[1:]], kind, figure)
    shown = {order[0], *(each.rung for each in others)}
    missing = tuple(rung.name for rung in rungs if rung.name not in shown)
    return Winner(kind, figure, order[0], means[order[0]], tuple(others), missing)


def _against(best: Rung, others: Sequence[Rung], kind: str, figure: str) -> list[Against]:
    """Each of the others by its common pairs with the best one. Which two rungs are compared is seen from the same
    figures, so the intervals hold for all pairs of rungs at once (Bonferroni)."""
    found: list[tuple[Rung, PairedRatio, dict[int, float], list[int]]] = []
    one = best.values(kind, figure)
    rungs = len(others) + 1
    confidence = 1 - (1 - CONFIDENCE) / max(1, rungs * (rungs - 1) // 2)
    for other in others:
        two = other.values(kind, figure)
        if pairs := sorted(one.keys() & two.keys()):
            ratio = ratio_of_pairs([one[n] for n in pairs], [two[n] for n in pairs], confidence)
            found.append((other, ratio, two, pairs))
    margin = THROUGHPUT_MARGIN if figure == OUTPUT else LATENCY_MARGIN
    return [
        Against(
            other.name,
            ratio,
            verdict(ratio, FIGURES[figure], margin, Setting(client_limited=_limited(pairs, best, other))),
            _mean(two[n] for n in pairs),
            _mean(one[n] for n in pairs),
        )
        for other, ratio, two, pairs in found
    ]


def _limited(pairs: Sequence[int], *rungs: Rung) -> bool:
    return any(repeat.limited for rung in rungs for repeat in rung.repeats if repeat.pair in pairs)


def _regret(found: PairedRatio, figure: str) -> tuple[float, float | None, float | None]:
    """How much worse, as a share: 0.027 is 2.7 % slower."""
    if FIGURES[figure] == "lower":
        return (
            found.ratio - 1,
            None if found.low is None else found.low - 1,
            None if found.high is None else found.high - 1,
        )
    return (
        1 - found.ratio,
        None if found.high is None else 1 - found.high,
        None if found.low is None else 1 - found.low,
    )


def _agreement(rungs: Sequence[Rung], figure: str) -> Agreement:
    """Of the rungs that have both figures; better first in both."""
    both = _with_both(rungs, figure)
    pairs = sorted({repeat.pair for rung in both for repeat in rung.repeats})

    def grid(kind: str, name: str) -> np.ndarray:
        return np.array([[rung.values(kind, name).get(pair, math.nan) for pair in pairs] for rung in both])

    if not both:
        return Agreement(0, None, None, None)
    one = grid(AGENTS, figure)
    return agreement(one if FIGURES[figure] == "higher" else 1 / one, grid(SYNTHETIC, OUTPUT))
