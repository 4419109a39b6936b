"""Two engines over a grid of traffic shapes and requests at once: who is faster where, and how sure that is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

A, B, TIE, NONE = "A", "B", "tie", "none"


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """Requests of one kind: output_tok generated for input_tok of prompt, of which `cached` (a share, 0 for prompts
    that nobody sent before) would be found by a cache that keeps everything to the token."""

    output_tok: int
    cached: float
    input_tok: int

    def told(self) -> str:
        cached = f", {100 * self.cached:.0f} % cached" if self.cached else ""
        return f"{self.input_tok:,}/{self.output_tok:,}{cached}"


@dataclass(frozen=True, slots=True)
class Cell:
    """at_once: requests open at any time. a, b: output tok/s of the two engines; None where one cannot serve it."""

    shape: Shape
    at_once: int
    a: float | None
    b: float | None

    @property
    def ratio(self) -> float | None:
        """A over B."""
        return self.a / self.b if self.a and self.b else None

    def winner(self, error: float) -> str:
        """error: share within which two figures are the same."""
        if self.ratio is None:
            return A if self.a else B if self.b else NONE
        if abs(math.log(self.ratio)) <= math.log1p(error):
            return TIE
        return A if self.ratio > 1 else B


@dataclass(frozen=True, slots=True)
class Tally:
    """How many cells each wins; ties are within the error, none of them ran where neither can serve the shape."""

    a: int
    b: int
    ties: int
    none: int

    @classmethod
    def of(cls, cells: Iterable[Cell], error: float) -> Tally:
        won = [cell.winner(error) for cell in cells]
        return cls(won.count(A), won.count(B), won.count(TIE), won.count(NONE))

    @property
    def n(self) -> int:
        return self.a + self.b + self.ties


def shapes(inputs: Sequence[int], outputs: Sequence[int], cached: Sequence[float]) -> list[Shape]:
    return sorted({Shape(out, share, tok) for out in outputs for share in cached for tok in inputs})


def boundary(row: Sequence[Cell], error: float) -> list[tuple[float, str]]:
    """Where the lead changes along cells of one shape: (requests at once, who leads above: A, B or TIE), by
    interpolation of the logarithms between neighbours. A lead ends where it is no longer above the error."""
    cells = sorted((cell for cell in row if cell.ratio), key=lambda cell: cell.at_once)
    limit, found = math.log1p(error), []
    for low, high in itertools.pairwise(cells):
        one, other = math.log(low.ratio or 1), math.log(high.ratio or 1)
        passed = [level for level in (limit, -limit) if (one - level) * (other - level) < 0]
        for level in sorted(passed, reverse=one > other):
            part = (one - level) / (one - other)
            at = math.exp(math.log(low.at_once) + part * (math.log(high.at_once) - math.log(low.at_once)))
            rising = other > one
            found.append((at, (A if level > 0 else TIE) if rising else (TIE if level > 0 else B)))
    return found


def nearest(at_once: Sequence[int], wanted: float) -> int:
    """The column nearest to a number of requests at once, by their ratio."""
    return min(at_once, key=lambda each: abs(math.log(each / max(wanted, 0.1))))
