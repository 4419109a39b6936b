"""What requests hold of the block pool, and what a prompt finds there: KV pages, and for hybrids recurrent states.

Pages and states come from one pool, so that each can push out the other. A hit on a hybrid needs both: the KV blocks of
the prefix, and a state saved at the boundary where it ends. Which boundaries have one is what `mamba_cache_mode` says:

    align   a state is saved where a step ends on a block boundary. The scheduler cuts prefill chunks so that one ends
            on the last boundary of the prompt; replies save theirs as they pass one. A sequence holds the last one
            saved; older ones stay findable until their blocks are needed. So the next turn starts from the last
            boundary that the turn before had prefilled: up to a block is computed again each time.
    all     a state is saved at every boundary and held as long as the sequence lives.
    none    no state is kept.

Drafts cost a block: without states the last one found is computed again, because the draft layers need the hidden
states at its end, which no cache keeps; on a hybrid the boundary that `align` aims at lies a block earlier, while `all`
loses nothing. Each of 1,772 hits of vLLM 0.25.1 is as said here (reports/h200_random_weights): without drafts and with
`all` the last turn's full blocks, with drafts and `align` one less, unless a step happened to end on the last boundary.

Modelled after vLLM 0.25-0.33 (scheduler's block-aligned split, hybrid cache coordinator). Not modelled: its optional
finer checkpoints inside a block, the one at the point where two prompts part, and a retention shorter than the pool.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.engine.embedded.blocks import BlockPool
from simulator.engine.embedded.memory import Layout
from simulator.engine.embedded.request import ID_BYTES, Request, block_hash


@dataclass(frozen=True, slots=True)
class Hit:
    """Blocks of the prefix that was found, and of the state at its end (none without mamba layers)."""

    blocks: list[int]
    state: list[int]


NO_HIT = Hit([], [])


class Cache:
    """most_tok: the most tokens that a step can compute."""

    def __init__(self, layout: Layout, *, caching: bool, drafts: int, most_tok: int) -> None:
        self.layout = layout
        self.caching = caching
        self.pool = BlockPool(layout.n_blocks, caching=caching)
        self.gives_up = 1 if drafts else 0  # blocks of a prompt that drafts keep from being found again
        self._groups = range(layout.state_groups)
        self._saves = layout.mode != "none"
        self._aligns = layout.mode == "align"
        self._most_tok = most_tok

    def find(self, request: Request) -> Hit:
        """The longest prefix of what the request knows that is in the pool. Claims nothing. Its last token is always
        left to compute: its logits are what sampling needs."""
        size = self.layout.block_tok
        found = self.pool.match(request.hashes, (request.known_tok - 1) // size)
        if not self.layout.state_groups:
            return Hit(found[: max(0, len(found) - self.gives_up)], [])
        for n in range(len(found), 0, -1) if self._saves else ():
            state = self._state_at(request, n)
            if state:
                return Hit(found[:n], state)
        return NO_HIT

    def _state_at(self, request: Request, boundary: int) -> list[int]:
        get, key = self.pool.by_hash.get, request.hashes[boundary - 1]
        state = [block for group in self._groups if (block := get((group, key))) is not None]
        return state if len(state) == len(self._groups) else []

    def admit(self, request: Request, hit: Hit, end_tok: int) -> bool:
        """Gives it what it needs to compute up to end_tok from the hit on; False, and nothing happens, without room."""
        layout = self.layout
        n_kv = -(-end_tok // layout.block_tok) - len(hit.blocks)
        n_states = layout.state_groups * n_kv if layout.mode == "all" else 0
        fresh = self.pool.claim(hit.blocks + hit.state, n_kv + n_states + layout.live_blocks)
        if fresh is None:
            return False
        request.blocks = hit.blocks + fresh[:n_kv]
        request.saved = hit.state + fresh[n_kv : n_kv + n_states]
        request.live = fresh[n_kv + n_states :]
        request.room_tok = len(request.blocks) * layout.block_tok
        request.computed_tok = len(hit.blocks) * layout.block_tok
        request.n_registered = request.n_states = len(hit.blocks)
        request.to_turn = False
        return True

    def grow(self, request: Request, end_tok: int) -> bool:
        """The same for a running request; False without room, and then it keeps what it has. A state that is no longer
        the last one saved goes back first."""
        layout, pool = self.layout, self.pool
        if request.to_turn and request.saved:
            pool.release(request.saved)
            request.saved = []
        n_kv = max(0, -(-end_tok // layout.block_tok) - len(request.blocks))
        n_states = layout.state_groups * (n_kv if layout.mode == "all" else request.to_turn)
        fresh = pool.claim((), n_kv + n_states)
        if fresh is None:
            return False
        request.blocks += fresh[:n_kv]
        request.room_tok += n_kv * layout.block_tok
        if layout.mode == "all":
            request.saved += fresh[n_kv:]
        elif request.to_turn:
            request.saved = request.live[: layout.state_groups]
            request.live[: layout.state_groups] = fresh[n_kv:]
            request.to_turn = False
        return True

    def register(self, request: Request, upto_tok: int) -> None:
        """Makes the request's full blocks of tokens below upto_tok findable, hashing the reply's as needed."""
        if not self.caching:
            return
        full = upto_tok // self.layout.block_tok
        if full <= request.n_registered:
            return
        self._hash(request, full)
        for index in range(request.n_registered, full):
            self.pool.register(request.blocks[index], request.hashes[index])
        request.n_registered = full

    def _hash(self, request: Request, n: int) -> None:
        hashes, size = request.hashes, self.layout.block_tok * ID_BYTES
        while len(hashes) < n:
            start = (len(hashes) - request.n_prompt_blocks) * size
            parent = hashes[-1] if hashes else b""
            hashes.append(block_hash(parent, request.rest[start : start + size]))

    def save_states(self, request: Request, *, exact: bool) -> None:
        """After a step: makes the states at the boundaries that the request has passed findable. exact: it decoded, so
        that no boundary is passed unseen; a prefill chunk in mode align leaves one only where it ends."""
        passed = request.computed_tok // self.layout.block_tok
        if passed == request.n_states or not self._saves:
            return
        groups = self.layout.state_groups
        if self.layout.mode == "all":
            first = len(request.blocks) - len(request.saved) // groups
            for boundary in range(request.n_states + 1, passed + 1):
                start = (boundary - 1 - first) * groups
                self._save(request, request.saved[start : start + groups], boundary)
        elif exact or request.computed_tok % self.layout.block_tok == 0:
            self._save(request, request.live[:groups], passed)
            request.to_turn = True
        request.n_states = passed

    def _save(self, request: Request, state: list[int], boundary: int) -> None:
        self._hash(request, boundary)
        key = request.hashes[boundary - 1]
        for group, block in enumerate(state):
            self.pool.register(block, (group, key))

    def free(self, request: Request) -> None:
        """Gives everything back: what nobody can find first, so that it is taken first."""
        if request.live:
            self.pool.release(request.live)
        self.pool.release(request.blocks)
        if request.saved:
            self.pool.release(request.saved)
        request.blocks, request.live, request.saved = [], [], []
        request.room_tok = request.n_registered = request.n_states = 0
        request.to_turn = False

    def cut(self, request: Request, start: int, n: int) -> int:
        """How many of the n tokens from `start` on to compute in one step, so that the state can be saved where it
        should be: prefill chunks end on block boundaries, one of them on the last that a later prompt can use. 0: too
        few for a block, wait for a step that has more."""
        if not self._aligns:
            return n
        size, known = self.layout.block_tok, request.known_tok
        prefill_end, end = max(request.prompt_tok, known - 1), start + n
        if start >= prefill_end:
            return n
        if end < prefill_end:
            floored = end // size * size
            if floored > start or size <= self._most_tok:
                end = floored
        last = max(0, known // size - self.gives_up) * size
        nearest = (start // size + 1) * size if start % size else 0
        end = min((stop for stop in (nearest, last) if start < stop < end), default=end)
        return max(0, end - start)
