"""What the scheduler works on: requests with their state, the plan of a step, running totals, block hashes."""

from __future__ import annotations

from dataclasses import dataclass, field

import xxhash

from simulator.engine.embedded.cost import StepCost, StepWork

ID_BYTES = 4  # a token id in `Request.rest`: int32, little-endian

WAITING, RUNNING, PREEMPTED, FINISHED, ABORTED = "waiting", "running", "preempted", "finished", "aborted"


def block_hash(parent: bytes, ids: bytes) -> bytes:
    """Hash of a block of token ids (int32 bytes) and of everything before it."""
    return xxhash.xxh3_128_digest(parent + ids)


@dataclass(slots=True, eq=False)
class Request:
    """A prompt and the reply that it will get, decided on arrival; below, the state that the scheduler keeps.

    hashes: chained hashes of the prompt's full blocks; replies extend it as their blocks fill. rest: int32 bytes of
    the prompt's last, partial block and of the reply. reply_tok >= 1: tokens to generate. prefill_factor: a fault may
    make this prompt's tokens cost more. stops: it will end by a stop token, which nobody can know beforehand. Times are
    on the caller's clock; NaN until reached.
    """

    key: str
    prompt_tok: int
    reply_tok: int
    hashes: list[bytes]
    rest: bytes
    arrival_s: float
    prefill_factor: float = 1.0
    stops: bool = False
    status: str = WAITING
    decoding: bool = False  # its prompt is computed
    order: int = -1  # of its admission
    computed_tok: int = 0
    emitted_tok: int = 0
    cached_tok: int = -1  # tokens of the first admission's cache hit; -1 before it
    blocks: list[int] = field(default_factory=list)  # of the pool, one for each block_tok tokens of KV
    live: list[int] = field(default_factory=list)  # of the pool: the running recurrent state, and one for each draft
    saved: list[int] = field(default_factory=list)  # of the pool: states kept at block boundaries
    room_tok: int = 0  # tokens that `blocks` has room for
    n_registered: int = 0  # blocks that are findable
    n_states: int = 0  # block boundaries passed, as far as states go: the last saved state is of this one
    to_turn: bool = False  # the running state has been saved and must go on in fresh blocks
    n_prompt_blocks: int = 0
    preemptions: int = 0
    scheduled_s: float = float("nan")
    first_s: float = float("nan")
    last_s: float = float("nan")
    gap_s: float = float("nan")  # between the last two steps that gave it tokens

    def __post_init__(self) -> None:
        self.n_prompt_blocks = len(self.hashes)

    @property
    def known_tok(self) -> int:
        return self.prompt_tok + self.emitted_tok


@dataclass(slots=True)
class Counters:
    """Since the start. drafts: draft rounds; accepted: draft tokens accepted; per_pos[i]: rounds that accepted the
    i-th. wasted: decode slots of replies that had ended, planned before that was known. computed_prompt_tok: prompt
    (and recomputed) tokens that a step really computed; prefilled_tok: of prompts whose prefill ended, what the cache
    did not have. telling_steps: steps that gave somebody a token, the ones that vLLM counts. gaps, gaps_s: between two
    steps that gave a request tokens."""

    steps: int = 0
    busy_s: float = 0.0
    prompt_tok: int = 0
    computed_prompt_tok: int = 0
    generated_tok: int = 0
    queried_tok: int = 0
    hit_tok: int = 0
    preemptions: int = 0
    drafts: int = 0
    draft_tok: int = 0
    accepted: int = 0
    wasted: int = 0
    prefilled_tok: int = 0
    telling_steps: int = 0
    gaps: int = 0
    gaps_s: float = 0.0
    per_pos: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class StepPlan:
    """One step, scheduled at start_s and done at end_s. prefills: (request, tokens of its chunk). wasted: sequences
    that decode in vain, their replies having ended in the step before."""

    start_s: float
    end_s: float
    cost: StepCost
    work: StepWork
    prefills: list[tuple[Request, int]]
    decodes: list[Request]
    wasted: int = 0

    @property
    def tokens(self) -> int:
        return sum(n for _request, n in self.prefills) + len(self.decodes)
