"""How many draft tokens a round accepts."""

from __future__ import annotations

from bisect import bisect_left

from simulator.engine.embedded.settings import EngineParams


def at_least(params: EngineParams) -> list[float]:
    """P(a round accepts at least i drafts), i = 1..drafts: acceptance_rates as they are, else from the mean length."""
    return list(params.acceptance_rates) or acceptance(params.num_speculative_tokens, params.acceptance_length)


def acceptance(drafts: int, length: float) -> list[float]:
    """The same for a mean of `length` tokens a round: each draft is accepted with one and the same probability p, given
    that those before it were, so p + p^2 + ... + p^drafts = length - 1."""
    if drafts == 0 or length <= 1:
        return [0.0] * drafts
    grid = range(1 << 20)
    n = bisect_left(grid, length - 1, key=lambda i: sum((i / len(grid)) ** k for k in range(1, drafts + 1)))
    p = min(1.0, n / len(grid))
    return [p**k for k in range(1, drafts + 1)]
