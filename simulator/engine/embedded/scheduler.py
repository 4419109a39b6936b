"""Continuous batching, one step at a time, on a clock that the caller owns: vLLM v1's scheduling policy.

`step(now_s)` decides what the next step computes and how long that takes; `complete(plan)` applies it at its end.
The server calls them in real time, tests and capacity questions in virtual time:

    running requests first, in order of admission, then the waiting queue, first come first served; prompts in chunks
    under max_num_batched_tokens; a request that finds no KV block preempts the youngest running one, which later
    starts again from its cached blocks (recompute).
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import deque
from collections.abc import Callable

from simulator.engine.embedded.blocks import BlockPool
from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.cost import NO_COST, CostModel, StepWork
from simulator.engine.embedded.request import (
    ABORTED,
    FINISHED,
    ID_BYTES,
    PREEMPTED,
    RUNNING,
    WAITING,
    Counters,
    Request,
    StepPlan,
    block_hash,
)
from simulator.errors import UsageError


class Scheduler:
    """All state is open to reading: waiting, running, pool, counters. Raises UsageError when the KV pool cannot hold
    one request of max_model_len."""

    def __init__(self, params: EngineParams, *, seed: int = 0) -> None:
        self.params = params
        self.cost = CostModel(params)
        n_blocks = self.cost.kv_blocks()
        lookahead = params.max_model_len + params.num_speculative_tokens
        if n_blocks * params.block_size < lookahead:
            raise UsageError(
                f"KV cache of {n_blocks} blocks of {params.block_size} tokens cannot hold one request of max_model_len "
                f"{params.max_model_len}; lower max_model_len or max_num_seqs, or raise gpu_memory_utilization"
            )
        self.pool = BlockPool(n_blocks, caching=params.enable_prefix_caching)
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        self.counters = Counters(per_pos=[0] * params.num_speculative_tokens)
        self._at_least = acceptance(params.num_speculative_tokens, params.acceptance_length)
        self._draw: Callable[[], float] = random.Random(seed).random
        self._previous: StepPlan | None = None

    @property
    def has_work(self) -> bool:
        return bool(self.running or self.waiting)

    def add(self, request: Request) -> None:
        """Queues a request. Prompt and reply must fit max_model_len: the caller refuses longer ones."""
        if request.prompt_tok < 1 or request.reply_tok < 1:
            raise ValueError("a request needs a prompt token and a reply token")
        if request.prompt_tok + request.reply_tok > self.params.max_model_len:
            raise ValueError("prompt and reply are longer than max_model_len")
        self.waiting.append(request)

    def abort(self, request: Request) -> bool:
        """Forgets a request and frees its blocks; also between `step` and `complete`. False if it had ended."""
        if request.status in (FINISHED, ABORTED):
            return False
        if request.status == RUNNING:
            self.running.remove(request)
        else:
            self.waiting.remove(request)
        self._free(request)
        request.status = ABORTED
        return True

    def step(self, now_s: float) -> StepPlan | None:
        """Plans the step that starts at now_s; None when there is nothing to compute. `complete` must follow."""
        plan = StepPlan(now_s, now_s, NO_COST, StepWork(), [], [])
        horizon_s = self._horizon_s(now_s)
        budget, preempted = self._schedule_running(plan, self.params.max_num_batched_tokens)
        if not preempted:
            self._schedule_waiting(plan, budget, horizon_s)
        if not plan.decodes and not plan.prefills:
            self._previous = None
            return None
        plan.cost = self.cost.step(plan.work)
        plan.end_s = now_s + plan.cost.total_s
        self._previous = plan
        return plan

    def complete(self, plan: StepPlan) -> list[tuple[Request, int]]:
        """Applies the step: (request, new tokens) for each that got some, in scheduling order. A request whose
        `emitted_tok` reached `reply_tok` is finished and has left."""
        counters = self.counters
        counters.steps += 1
        counters.busy_s += plan.cost.total_s
        emissions: list[tuple[Request, int]] = []
        emit = emissions.append
        draw, at_least, drafts = self._draw, self._at_least, self.params.num_speculative_tokens
        per_pos = counters.per_pos
        for request in plan.decodes:
            if request.status != RUNNING:
                continue
            new = 1
            if drafts:
                luck = draw()
                while new <= drafts and luck < at_least[new - 1]:
                    per_pos[new - 1] += 1
                    new += 1
                counters.drafts += 1
                counters.accepted += new - 1
            new = min(new, request.reply_tok - request.emitted_tok)
            request.computed_tok += new
            request.emitted_tok += new
            emit((request, new))
        counters.draft_tok = counters.drafts * drafts
        for request, n in plan.prefills:
            if request.status != RUNNING:
                continue
            request.computed_tok += n
            counters.computed_prompt_tok += n
            if request.computed_tok == request.prompt_tok + request.emitted_tok:
                if request.emitted_tok == 0:
                    counters.prompt_tok += request.prompt_tok
                request.emitted_tok += 1
                emit((request, 1))
        self._finish(emissions, plan.end_s)
        return emissions

    def _finish(self, emissions: list[tuple[Request, int]], now_s: float) -> None:
        ended = False
        for request, new in emissions:
            self.counters.generated_tok += new
            if request.emitted_tok == new:
                request.first_s = now_s
            else:
                request.gap_s = now_s - request.last_s
            request.last_s = now_s
            if request.emitted_tok == request.reply_tok:
                self._register(request, request.computed_tok)
                self._free(request)
                request.status = FINISHED
                ended = True
        if ended:
            self.running = [request for request in self.running if request.status == RUNNING]

    def _horizon_s(self, now_s: float) -> float:
        """Arrivals after this moment wait for another step: an asynchronous scheduler has planned this step while the
        previous one was starting."""
        if self.params.async_scheduling and self._previous is not None and self.running:
            return self._previous.start_s
        return now_s

    def _schedule_running(self, plan: StepPlan, budget: int) -> tuple[int, bool]:
        running, work, drafts = self.running, plan.work, self.params.num_speculative_tokens
        block_size = self.params.block_size
        n, preempted = 0, False
        while n < len(running) and budget > 0:
            request = running[n]
            todo = request.prompt_tok + request.emitted_tok - request.computed_tok
            decoding = todo == 1 and request.emitted_tok > 0
            todo = 1 + drafts if decoding else min(todo, budget)
            if todo > budget:
                break
            end_tok = request.computed_tok + todo
            if end_tok > len(request.blocks) * block_size:
                preempted |= self._make_room(request, end_tok)
                if request.status != RUNNING:
                    break
            if decoding:
                plan.decodes.append(request)
                work.decode_seqs += 1
                work.decode_context_tok += request.computed_tok + 1
                # a block whose last token has just been written becomes findable
                if request.computed_tok // block_size > request.n_registered:
                    self._register(request, request.computed_tok)
            else:
                self._add_prefill(plan, request, todo)
            budget -= todo
            n += 1
        return budget, preempted

    def _make_room(self, request: Request, end_tok: int) -> bool:
        """Blocks for tokens up to end_tok, preempting from the youngest on, the request itself at last."""
        preempted = False
        while not self._grow(request, end_tok):
            victim = self.running.pop()
            self._free(victim)
            victim.status = PREEMPTED
            victim.computed_tok = 0
            victim.preemptions += 1
            self.counters.preemptions += 1
            self.waiting.appendleft(victim)
            preempted = True
            if victim is request:
                break
        return preempted

    def _schedule_waiting(self, plan: StepPlan, budget: int, horizon_s: float) -> None:
        block_size = self.params.block_size
        while self.waiting and budget > 0 and len(self.running) < self.params.max_num_seqs:
            request = self.waiting[0]
            if request.arrival_s > horizon_s and request.status == WAITING:
                break
            known = request.known_tok
            # the last token is always computed: its logits are what sampling needs
            matched = self.pool.match(request.hashes, (known - 1) // block_size)
            hit = len(matched) * block_size
            n = min(known - hit, budget)
            fresh = self.pool.claim(matched, -(-(hit + n) // block_size) - len(matched))
            if fresh is None:
                break
            self.waiting.popleft()
            request.blocks = matched + fresh
            request.n_registered = len(matched)
            request.computed_tok = hit
            if request.cached_tok < 0:
                request.cached_tok = hit
                request.scheduled_s = plan.start_s
                if self.params.enable_prefix_caching:
                    self.counters.queried_tok += known
                    self.counters.hit_tok += hit
            request.status = RUNNING
            self.running.append(request)
            self._add_prefill(plan, request, n)
            budget -= n

    def _add_prefill(self, plan: StepPlan, request: Request, n: int) -> None:
        work, start, factor = plan.work, request.computed_tok, request.prefill_factor
        plan.prefills.append((request, n))
        work.prefill_seqs += 1
        work.prefill_tok += n * factor
        work.prefill_pairs += (n * start + n * (n + 1) / 2) * factor
        work.prefill_context_tok += start + n
        work.prefill_done += start + n == request.known_tok
        # findable from now on, as in vLLM: whoever hits these blocks runs in this step or later, after they are written
        self._register(request, start + n)

    def _grow(self, request: Request, end_tok: int) -> bool:
        missing = -(-end_tok // self.params.block_size) - len(request.blocks)
        if missing > 0:
            fresh = self.pool.claim((), missing)
            if fresh is None:
                return False
            request.blocks += fresh
        return True

    def _register(self, request: Request, upto_tok: int) -> None:
        """Makes the request's full blocks of tokens below upto_tok findable, hashing the reply's as needed."""
        if not self.pool.caching:
            return
        block_size, hashes = self.params.block_size, request.hashes
        full = upto_tok // block_size
        while len(hashes) < full:
            start = (len(hashes) - request.n_prompt_blocks) * block_size * ID_BYTES
            parent = hashes[-1] if hashes else b""
            hashes.append(block_hash(parent, request.rest[start : start + block_size * ID_BYTES]))
        for index in range(request.n_registered, full):
            self.pool.register(request.blocks[index], hashes[index])
        request.n_registered = max(request.n_registered, full)

    def _free(self, request: Request) -> None:
        self.pool.release(request.blocks)
        request.blocks = []
        request.n_registered = 0


def acceptance(drafts: int, length: float) -> list[float]:
    """P(at least i drafts accepted), i = 1..drafts, for a mean of `length` tokens a round: each draft is accepted with
    one and the same probability p, given that those before it were, so p + p^2 + ... + p^drafts = length - 1."""
    if drafts == 0 or length <= 1:
        return [0.0] * drafts
    grid = range(1 << 20)
    n = bisect_left(grid, length - 1, key=lambda i: sum((i / len(grid)) ** k for k in range(1, drafts + 1)))
    p = min(1.0, n / len(grid))
    return [p**k for k in range(1, drafts + 1)]
