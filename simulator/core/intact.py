"""Whether a run's records are all there, each once: what a copy that broke off or was put together wrongly lacks.

Requests are numbered from 0 without a gap, and every byte of the packed chunk times is one request's. Neither shows in
a line by itself, so each of them reads well in a file that lost its end or has it twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simulator.core.chunks import BYTES_A_CHUNK, Chunks
from simulator.core.table import Table


def faults(
    requests: Table, chunks: Chunks, sessions: Sequence[str], *, complete: bool, unreadable: int
) -> Iterator[str]:
    """A clause for each thing that is wrong with a run. sessions: the name on each line that a session left. complete:
    it came to its end and lost nothing on the way; of another one, numbers and chunks without a record are no fault.
    unreadable: lines of requests that are told of elsewhere."""
    numbers = requests["request"][np.isfinite(requests["request"])]
    different = np.unique(numbers)
    if twice := len(numbers) - len(different):
        yield f"{_of(twice, 'request')} more than once"
    if complete and len(different):
        planned = int(different[-1]) + 1
        if (missing := planned - len(different) - unreadable) > 0:
            yield f"{missing:,} of its {planned:,} requests {'are' if missing > 1 else 'is'} missing"
    yield from _chunk_faults(requests, chunks, complete=complete and not unreadable)
    if again := len(sessions) - len(set(sessions)):
        yield f"{_of(again, 'session')} more than once"


def _of(n: int, what: str) -> str:
    return f"{n:,} of its {what}s stand{'s' * (n == 1)}"


def _chunk_faults(requests: Table, chunks: Chunks, *, complete: bool) -> Iterator[str]:
    held = chunks.present(requests)
    begins = requests["chunks_at"][held]
    ends = begins + BYTES_A_CHUNK * requests["chunks"][held]
    order = np.argsort(begins, kind="stable")
    begins, furthest = begins[order], np.maximum.accumulate(ends[order])
    if shared := int(np.count_nonzero(begins[1:] < furthest[:-1])):
        yield f"chunk times of {shared:,} request{'s' * (shared > 1)} are another's as well"
    reached = np.concatenate(([0.0], furthest))
    nobodys = int(np.maximum(begins - reached[:-1], 0.0).sum() + 2 * len(chunks.words) - reached[-1])
    torn = bool((~held & (requests["chunks"] > 0)).any())  # told of elsewhere
    if complete and nobodys and not torn:
        yield f"{nobodys:,} bytes of its chunk times are no request's"
