"""How many tokens a reply has, chunk by chunk, from what its server says: a total, running counts, or both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

#: tokens that a server may claim for one request
MAX_TOK = 100_000_000


def tok(claimed: Any, before: int | None) -> int | None:
    """A server's count of tokens; ValueError when it cannot be one."""
    if claimed is None:
        return before
    if isinstance(claimed, bool) or not isinstance(claimed, int) or not 0 <= claimed <= MAX_TOK:
        raise ValueError(f"not a count of tokens: {claimed!r:.40}")
    return claimed


def per_chunk(total: int | None, running: Sequence[int]) -> tuple[int | None, list[int], str]:
    """(total, tokens of each chunk, "continuous" | "usage" | "none"). total: what the server said last, None when it
    said nothing. running: its count as each output chunk named it, -1 where one did not.

    Wherever a total comes back with chunks, the tokens sum to it and none is negative. A total below the number of
    chunks, or below what was counted on the way, is none: a chunk has a token at least, and such a usage was sent too
    early or by one who does not count. Running counts are taken where every chunk has one and they rise to at least a
    token a chunk; the last chunk then also gets what a final usage adds (tokens that made no text).
    """
    chunks = len(running)
    if chunks == 0:
        return total, [], "none"
    if total is None or total < max(chunks, *running):
        return None, [0] * chunks, "none"
    if running[0] < 0 or running[-1] < chunks or any(after < before for before, after in pairwise(running)):
        return total, spread(total, chunks), "usage"
    tokens = [after - before for before, after in pairwise((0, *running))]
    tokens[-1] += total - running[-1]
    return total, tokens, "continuous"


def spread(total: int, chunks: int) -> list[int]:
    """`total` over `chunks` as evenly as whole numbers allow; the sum is exact."""
    base, extra = divmod(total, chunks)
    # The larger shares are spaced out, so that a rate computed over any stretch stays right.
    return [base + ((i + 1) * extra // chunks - i * extra // chunks) for i in range(chunks)]
