"""Blocks: a fixed pool, reference counts, and a prefix cache over chained hashes with LRU eviction.

A block is free (nobody refers to it) or in use. A free block may still be cached: it keeps its hash, can be found, and
is evicted only when its turn in the free queue comes. This is vLLM v1's block pool in small.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence


class BlockPool:
    """`n_blocks` blocks, numbered from 0. Without `caching` hashes are ignored and nothing is ever found."""

    def __init__(self, n_blocks: int, *, caching: bool) -> None:
        self.n_blocks = n_blocks
        self.caching = caching
        self.refs = [0] * n_blocks
        self.hash_of: list[Hashable | None] = [None] * n_blocks
        self.by_hash: dict[Hashable, int] = {}
        self.free: OrderedDict[int, None] = OrderedDict.fromkeys(range(n_blocks))  # next to be taken first

    @property
    def used(self) -> int:
        return self.n_blocks - len(self.free)

    def match(self, hashes: Sequence[Hashable], limit: int) -> list[int]:
        """The cached blocks of the longest known prefix, at most `limit`. Claims nothing."""
        found: list[int] = []
        if not self.caching:
            return found
        get = self.by_hash.get
        for key in hashes[:limit]:
            block = get(key)
            if block is None:
                break
            found.append(block)
        return found

    def claim(self, matched: Sequence[int], n_new: int) -> list[int] | None:
        """Takes a reference on `matched` and `n_new` fresh blocks, all or nothing: the fresh ones, or None when there
        are too few. Matched blocks that were free leave the free queue and count against it."""
        refs, free = self.refs, self.free
        idle = sum(1 for block in matched if refs[block] == 0)
        if n_new + idle > len(free):
            return None
        for block in matched:
            if refs[block] == 0:
                del free[block]
            refs[block] += 1
        fresh: list[int] = []
        for _ in range(n_new):
            block, _none = free.popitem(last=False)
            old = self.hash_of[block]
            if old is not None:
                del self.by_hash[old]
                self.hash_of[block] = None
            refs[block] = 1
            fresh.append(block)
        return fresh

    def register(self, block: int, key: Hashable) -> None:
        """Makes a full block findable. The first block with a hash keeps it; a twin stays private."""
        if self.caching and self.hash_of[block] is None and key not in self.by_hash:
            self.by_hash[key] = block
            self.hash_of[block] = key

    def release(self, blocks: Iterable[int]) -> None:
        """Drops one reference on each; `blocks` in the sequence's order. The end of a sequence is queued for eviction
        before its beginning, which others are more likely to share."""
        refs = self.refs
        for block in reversed(list(blocks)):
            refs[block] -= 1
            if refs[block] == 0:
                self.free[block] = None

    def reset(self) -> bool:
        """Forgets every cached block; False, and nothing happens, while any block is in use."""
        if self.used:
            return False
        self.by_hash.clear()
        self.hash_of = [None] * self.n_blocks
        return True
