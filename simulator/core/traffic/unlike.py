"""How unlike two traffics are: by quantiles, and as one number.

For each quantity the distance is the mean over quantiles of |log2 a - log2 b|, the first Wasserstein distance of the
logarithms: 1 means that values are a factor of two apart on average, whichever way. The whole distance is the mean over
the quantities that both have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.core.traffic.fold import FIXED_TOK, Shape

#: quantity -> values below it count as it, since a ratio to nothing says nothing
FLOOR = {
    "turns": 1.0, "first_prompt_tok": 1.0, "prompt_tok": 1.0, "growth_tok": 1.0, "output_tok": 1.0, "gap_s": 0.1,
}  # fmt: skip
QUANTILES = (0.1, 0.5, 0.9)
_GRID = np.linspace(0.005, 0.995, 100)


@dataclass(frozen=True, slots=True)
class Unlike:
    """Of one quantity: ratios of the quantiles p10, p50, p90, a over b; distance in factors of two."""

    name: str
    ratios: tuple[float, float, float]
    distance: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """distance: the mean of all, None when no quantity is on both sides."""

    against: str
    each: tuple[Unlike, ...]
    distance: float | None


def fixed_samples() -> dict[str, list[float]]:
    """The synthetic test: single calls of 512 tokens in and out, nothing between them."""
    return {"turns": [1.0], "first_prompt_tok": [FIXED_TOK], "prompt_tok": [FIXED_TOK], "output_tok": [FIXED_TOK],
            "gap_s": [0.0]}  # fmt: skip


def unlike(a: Shape, b: dict[str, list[float]], against: str) -> Comparison:
    rows = [
        _unlike(name, a.samples[name], b[name]) for name in FLOOR if a.samples.get(name) and b.get(name)
    ]  # fmt: skip
    whole = sum(row.distance for row in rows) / len(rows) if rows else None
    return Comparison(against, tuple(rows), whole)


def _unlike(name: str, a: Sequence[float], b: Sequence[float]) -> Unlike:
    left, right = (np.maximum(np.asarray(each, dtype=float), FLOOR[name]) for each in (a, b))
    p10, p50, p90 = (float(q) for q in np.quantile(left, QUANTILES) / np.quantile(right, QUANTILES))
    apart = np.abs(np.quantile(np.log2(left), _GRID) - np.quantile(np.log2(right), _GRID))
    return Unlike(name, (p10, p50, p90), float(apart.mean()))
