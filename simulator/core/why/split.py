"""Splits a throughput ratio into factors that both runs measured. Every product is exact by construction; what has no
exact share in it stands beside it and is given none.

    output tok/s = requests in a step x tokens a step gives each x steps a second

Three sources of it, the first that both runs have:

    steps    the engine counted its steps
    gaps     steps as a decoding request sees them, from the time between two of its steps: exact too, and true where
             several API processes or engines each count the same steps
    records  no counters: open requests x share of that time in which their reply streamed x tok/s of a streaming reply
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simulator.core.stats import ratio
from simulator.core.why.measured import Measured

STEPS, GAPS, RECORDS = "steps", "gaps", "records"
#: the product of the factors must meet the ratio this closely
CLOSE = 0.01
#: steps counted this many times faster than a decoding request sees them were counted by several processes
COUNTED_TWICE = 1.5


@dataclass(frozen=True, slots=True)
class Factor:
    """One measured figure of both runs. ratio: b / a; None when one is 0 or unknown. ln: its share of the logarithm of
    the whole ratio; None of a figure that has no exact share."""

    key: str
    a: float | None
    b: float | None
    exact: bool

    @property
    def ratio(self) -> float | None:
        found = ratio(self.b, self.a)
        return found if found is not None and found > 0 else None

    @property
    def ln(self) -> float | None:
        return math.log(self.ratio) if self.exact and self.ratio is not None else None


@dataclass(frozen=True, slots=True)
class Split:
    """One kind of traffic of runs A and B. ratio: output tok/s of B over A, by the clients. product: of the factors.
    batch: the first factor once more, as a product of its own; work: the whole ratio once more, as tokens put through
    the model x share of them that is output. beside: figures without an exact share."""

    kind: str
    basis: str
    a: Measured
    b: Measured
    ratio: float
    factors: tuple[Factor, ...]
    batch: tuple[Factor, ...]
    work: tuple[Factor, ...]
    beside: tuple[Factor, ...]
    notes: tuple[str, ...]

    @property
    def product(self) -> float:
        return math.prod(each.ratio or math.nan for each in self.factors)

    @property
    def off(self) -> float:
        """How far the product is from the ratio, as a share of it."""
        return self.product / self.ratio - 1

    @property
    def holds(self) -> bool:
        return abs(self.off) <= CLOSE


def split(kind: str, a: Measured, b: Measured) -> Split | None:
    """None when one of the runs delivered nothing, so that there is no ratio."""
    whole = ratio(b.output_tok_s, a.output_tok_s)
    if not whole:
        return None
    basis, notes = _basis(a, b)
    factors = _factors(basis, a, b)
    batch = () if basis == RECORDS else _whole(_batch(a, b, factors[0]))
    work = _whole(_work(a, b))
    return Split(kind, basis, a, b, whole, factors, batch, work, _beside(a, b), notes)


def _whole(factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """The factors, or none when one of them is unknown: a product lacks nothing."""
    return factors if all(each.ratio is not None for each in factors) else ()


def _basis(a: Measured, b: Measured) -> tuple[str, tuple[str, ...]]:
    """Which source both runs have, and why it is not the first one."""
    if not all(one.given and one.generated and one.step_s for one in (a, b)):
        lacking = [name for name, one in (("A", a), ("B", b)) if not (one.given and one.generated and one.step_s)]
        return RECORDS, (
            f"{' and '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no scrapes of the engine's token and "
            "step counters over the window, so the split is the coarser one from the client's records",
        )
    if not (a.steps and b.steps):
        return GAPS, ("the engine's step count is missing, so steps are those that a decoding request sees",)
    notes = []
    for name, one in (("A", a), ("B", b)):
        seen = (one.steps or 0.0) / one.length_s * (one.step_s or 0.0)
        if seen > COUNTED_TWICE:
            notes.append(
                f"{name} counted each step {seen:.1f} times (several API processes or engines), so steps are those "
                "that a decoding request sees"
            )
    return (GAPS if notes else STEPS), tuple(notes)


def _both(key: str, a: Measured, b: Measured, figure: Callable[[Measured], float | None], *, exact: bool) -> Factor:
    return Factor(key, figure(a), figure(b), exact)


def _factors(basis: str, a: Measured, b: Measured) -> tuple[Factor, ...]:
    def steps_s(one: Measured) -> float | None:
        return one.rate(one.steps) if basis == STEPS else ratio(1.0, one.step_s)

    def in_step(one: Measured) -> float | None:
        return ratio(one.rate(one.given), steps_s(one))

    figures: dict[str, Callable[[Measured], float | None]] = {
        "in_step": in_step,
        "tok_a_step": lambda one: ratio(one.generated, one.given),
        "steps_s": steps_s,
    }
    if basis == RECORDS:
        figures = {
            "open": lambda one: one.in_flight,
            "streaming_share": lambda one: ratio(one.streaming, one.in_flight),
            "tok_s_streaming": lambda one: ratio(one.output_tok_s, one.streaming),
        }
    return tuple(_both(key, a, b, figure, exact=True) for key, figure in figures.items())


def _batch(a: Measured, b: Measured, in_step: Factor) -> tuple[Factor, ...]:
    """in_step = requests open at the client x share of that time in which a step serves them."""
    share = Factor("served_share", ratio(in_step.a, a.in_flight), ratio(in_step.b, b.in_flight), True)
    return (_both("open", a, b, lambda one: one.in_flight, exact=True), share)


def _work(a: Measured, b: Measured) -> tuple[Factor, ...]:
    return (
        _both("through_tok_s", a, b, lambda one: one.rate(one.step_tok), exact=True),
        _both("output_share", a, b, lambda one: ratio(one.generated, one.step_tok), exact=True),
    )


def _beside(a: Measured, b: Measured) -> tuple[Factor, ...]:
    figures: dict[str, Callable[[Measured], float | None]] = {
        "prefill_share": lambda one: ratio(one.computed_prompt_tok, one.step_tok),
        "computed_prompt_tok_s": lambda one: one.rate(one.computed_prompt_tok),
        "computed_prompt_tok_a_request": lambda one: ratio(one.computed_prompt_tok, one.firsts),
        "hit_share": lambda one: ratio(one.hits, one.queries),
        "acceptance_length": lambda one: one.acceptance_length,
        "preemptions": lambda one: one.preemptions,
        "running": lambda one: one.running,
        "waiting": lambda one: one.waiting,
        "backlog": lambda one: one.backlog,
        "kv_use": lambda one: one.kv_use,
        "failed": lambda one: float(one.failed),
    }
    found = (_both(key, a, b, figure, exact=False) for key, figure in figures.items())
    return tuple(each for each in found if each.a is not None or each.b is not None)
