"""Output chunks of all requests: their arrival times and token counts, packed, and unpacked in slabs.

Packed form of one request with n chunks: n little-endian uint32, microseconds since the previous output chunk (the
first: since the request was sent), then n uint16, tokens in the chunk. 6 bytes a chunk: ten minutes of 12,000 tok/s are
43 MB. A run can hold more chunks than memory, so they are read a slab of whole requests at a time.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.core.table import Floats, Ints, Mask, Table

MAX_US = 2**32 - 1
MAX_TOK = 2**16 - 1
BYTES_A_CHUNK = 6
SLAB_CHUNKS = 1 << 20


def pack(deltas_us: Sequence[int], tokens: Sequence[int]) -> bytes:
    """One request's chunks in packed form. Values past the field's range are held at its limit: a gap of 71 minutes
    or a chunk of 65,535 tokens. ValueError when the two differ in length."""
    if len(deltas_us) != len(tokens):
        raise ValueError(f"{len(deltas_us)} chunk times but {len(tokens)} chunk token counts")
    try:
        times, counts = array("I", deltas_us), array("H", tokens)
    except OverflowError:
        times = array("I", [min(max(d, 0), MAX_US) for d in deltas_us])
        counts = array("H", [min(max(t, 0), MAX_TOK) for t in tokens])
    if sys.byteorder != "little":
        times.byteswap()
        counts.byteswap()
    return times.tobytes() + counts.tobytes()


@dataclass(frozen=True, slots=True)
class Slab:
    """Chunks of some requests, in request order, then arrival order; all arrays have the same length.

    row: the request's row in the table. at_us: microseconds since it was sent. gap_us: since its previous output chunk
    (for `first` ones, since it was sent). tok: tokens in the chunk. first: it is its request's first output chunk.
    """

    row: Ints
    at_us: Ints
    gap_us: Ints
    tok: Ints
    first: Mask


@dataclass(frozen=True, slots=True)
class Chunks:
    """words: the packed bytes of a whole run as little-endian uint16 (m,); it may be a memory map."""

    words: NDArray[np.uint16]

    def present(self, requests: Table) -> Mask:
        """Which requests have their chunks here, whole; shape (n,)."""
        at, count = requests["chunks_at"], requests["chunks"]
        held = (at >= 0) & (count > 0) & (at % 2 == 0)
        whole: Mask = at + BYTES_A_CHUNK * count <= 2 * len(self.words)
        present: Mask = held & whole
        return present

    def first_tok(self, requests: Table) -> Floats:
        """Tokens in each request's first output chunk, NaN where its chunks are not here; shape (n,)."""
        held = self.present(requests)
        found = np.full(requests.n, np.nan)
        start = requests["chunks_at"][held].astype(np.int64) // 2
        found[held] = self.words[start + 2 * requests["chunks"][held].astype(np.int64)]
        return found

    def slabs(self, requests: Table, rows: Mask, limit: int = SLAB_CHUNKS) -> Iterator[Slab]:
        """Chunks of the requests where `rows` (n,) is true, about `limit` chunks at a time."""
        chosen = np.flatnonzero(rows & self.present(requests))
        counts = requests["chunks"][chosen].astype(np.int64)
        starts = requests["chunks_at"][chosen].astype(np.int64) // 2
        upto = np.cumsum(counts)
        begin = 0
        while begin < len(chosen):
            done = int(upto[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(upto, done + limit, side="right")))
            yield self._slab(chosen[begin:end], starts[begin:end], counts[begin:end])
            begin = end

    def _slab(self, rows: Ints, starts: Ints, counts: Ints) -> Slab:
        """Gathers all requests at once: word positions are made by arithmetic, never by a loop over requests."""
        ends = np.cumsum(counts)
        begins = ends - counts
        within = np.arange(int(ends[-1]), dtype=np.int64) - np.repeat(begins, counts)
        low = np.repeat(starts, counts) + 2 * within
        gap = self.words[low].astype(np.int64) + (self.words[low + 1].astype(np.int64) << 16)
        tok = self.words[np.repeat(starts + 2 * counts, counts) + within].astype(np.int64)
        total = np.cumsum(gap)
        before = total[begins] - gap[begins]
        return Slab(np.repeat(rows, counts), total - np.repeat(before, counts), gap, tok, within == 0)
