"""Continuous batching, one step at a time, on a clock that the caller owns: vLLM v1's scheduling policy.

`step(now_s)` decides what the next step computes and how long that takes; `complete(plan)` applies it at its end.
The server calls them in real time, tests and capacity questions in virtual time:

    running requests first, in order of admission, then the waiting queue, first come first served; prompts in chunks
    under max_num_batched_tokens; a request that finds no block preempts the youngest running one, which later starts
    again from its cached blocks (recompute).

With asynchronous scheduling a step is planned while the one before it runs, so what that one brings is not known yet:
who arrives during it waits for the step after next, and a reply that ends unforeseen (a stop token, an accepted draft)
is decoded once more in vain. Its blocks and its place in the batch come free a step later in any case.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

from simulator.engine.embedded.batch import Batch
from simulator.engine.embedded.cache import Cache
from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.cost import NO_COST, CostModel, StepWork
from simulator.engine.embedded.drafts import at_least
from simulator.engine.embedded.request import (
    ABORTED,
    FINISHED,
    PREEMPTED,
    RUNNING,
    WAITING,
    Counters,
    Request,
    StepPlan,
)
from simulator.errors import UsageError


class Scheduler:
    """All state is open to reading: waiting, running, leaving (ended, blocks not yet back), pool, counters. Raises
    UsageError when the pool cannot hold one request of max_model_len."""

    def __init__(self, params: EngineParams, *, seed: int = 0) -> None:
        self.params = params
        self.cost = CostModel(params)
        layout, drafts = self.cost.layout, params.num_speculative_tokens
        needed = layout.most_blocks(params.max_model_len + drafts)
        if layout.n_blocks < needed:
            raise UsageError(
                f"KV cache of {layout.n_blocks} blocks of {layout.block_tok} tokens cannot hold one request of "
                f"max_model_len {params.max_model_len}, which needs {needed} with its recurrent states; lower "
                "max_model_len, or raise gpu_memory_utilization"
            )
        caching, most_tok = params.enable_prefix_caching, params.max_num_batched_tokens
        self.cache = Cache(layout, caching=caching, drafts=drafts, most_tok=most_tok)
        self.pool = self.cache.pool
        self.waiting: deque[Request] = deque()
        self.batch = Batch(self.cache, most_new=1 + drafts, overlapped=params.async_scheduling)
        self.counters = Counters(per_pos=[0] * drafts)
        self.at_least = at_least(params)
        self._round = 1 + drafts
        self._draw: Callable[[], float] = random.Random(seed).random
        self._previous: StepPlan | None = None

    @property
    def running(self) -> list[Request]:
        return self.batch.running

    @property
    def leaving(self) -> list[Request]:
        return self.batch.leaving

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
            self.batch.remove(request)
        else:
            self.waiting.remove(request)
        self.cache.free(request)
        request.status = ABORTED
        return True

    def step(self, now_s: float) -> StepPlan | None:
        """Plans the step that starts at now_s; None when there is nothing to compute. `complete` must follow."""
        plan = StepPlan(now_s, now_s, NO_COST, StepWork(), [], [])
        horizon_s = self._horizon_s(now_s)
        self.batch.next_step()
        budget = self.params.max_num_batched_tokens - self.batch.plan_in_vain(plan)
        preempted = False
        if not self.batch.plan_decodes(plan, budget):
            budget, preempted = self._schedule_running(plan, budget)
        else:
            budget -= len(plan.decodes) * self._round
        if self.waiting and not preempted:
            self._schedule_waiting(plan, budget, horizon_s)
        if not plan.decodes and not plan.prefills:
            self._previous = None
            if self.leaving:  # they kept the last one from growing: their step is over, and it is planned again
                self.batch.let_go()
                return self.step(now_s)
            return None
        plan.cost = self.cost.step(plan.work)
        plan.end_s = now_s + plan.cost.total_s
        self._previous = plan
        return plan

    def complete(self, plan: StepPlan) -> list[tuple[Request, int]]:
        """Applies the step: (request, new tokens) for each that got some, in scheduling order. A request whose
        `emitted_tok` reached `reply_tok` is finished and has left."""
        counters, end_s = self.counters, plan.end_s
        counters.steps += 1
        counters.busy_s += plan.cost.total_s
        counters.wasted += plan.wasted
        self.batch.let_go()
        emissions, ended = self._complete_decodes(plan.decodes, end_s)
        for request, n in plan.prefills:
            if request.status != RUNNING:
                continue
            request.computed_tok += n
            counters.computed_prompt_tok += n
            self.cache.save_states(request, exact=False)
            if request.computed_tok == request.prompt_tok + request.emitted_tok:
                self._first_token(request, end_s)
                emissions.append((request, 1))
                if request.emitted_tok == request.reply_tok:
                    ended.append((request, 1))
        if ended:
            self.batch.finish(ended)
        counters.telling_steps += bool(emissions)
        return emissions

    def _complete_decodes(
        self, decodes: list[Request], end_s: float
    ) -> tuple[list[tuple[Request, int]], list[tuple[Request, int]]]:
        counters, draw, chances = self.counters, self._draw, self.at_least
        emissions, ended = [], []
        drafts, per_pos, total, gaps_s = self._round - 1, counters.per_pos, 0, 0.0
        for request in decodes:
            if request.status != RUNNING:
                continue
            new = 1
            if drafts:
                luck = draw()
                while new <= drafts and luck < chances[new - 1]:
                    per_pos[new - 1] += 1
                    new += 1
                counters.drafts += 1
                counters.accepted += new - 1
            left = request.reply_tok - request.emitted_tok
            if new >= left:
                new = left
                ended.append((request, new))
            request.computed_tok += new
            request.emitted_tok += new
            request.gap_s = end_s - request.last_s
            request.last_s = end_s
            gaps_s += request.gap_s
            total += new
            emissions.append((request, new))
        counters.draft_tok = counters.drafts * drafts
        counters.generated_tok += total
        counters.gaps += len(emissions)
        counters.gaps_s += gaps_s
        self.batch.advanced(total)
        return emissions, ended

    def _first_token(self, request: Request, end_s: float) -> None:
        if request.emitted_tok == 0:
            self.counters.prompt_tok += request.prompt_tok
            self.counters.prefilled_tok += request.prompt_tok - max(0, request.cached_tok)
            request.first_s = end_s
        else:
            request.gap_s = end_s - request.last_s
            self.counters.gaps += 1
            self.counters.gaps_s += request.gap_s
        request.emitted_tok += 1
        request.last_s = end_s
        self.counters.generated_tok += 1
        self.batch.begin(request)

    def _horizon_s(self, now_s: float) -> float:
        """Arrivals after this moment wait for another step: an asynchronous scheduler has planned this step while the
        previous one was starting."""
        if self.params.async_scheduling and self._previous is not None and self.running:
            return self._previous.start_s
        return now_s

    def _schedule_running(self, plan: StepPlan, budget: int) -> tuple[int, bool]:
        running, work = self.running, plan.work
        n, preempted = 0, False
        while n < len(running) and budget > 0:
            request = running[n]
            n += 1
            if request.decoding:
                todo = self._round
                if todo > budget:
                    break
                while not self.batch.attend(request):
                    preempted = True
                    if self._preempt_youngest() is request:
                        break
                if request.status != RUNNING:
                    break
                plan.decodes.append(request)
                work.decode_seqs += 1
                work.decode_context_tok += request.computed_tok + 1
            else:
                start = request.computed_tok
                todo = self.cache.cut(request, start, min(request.known_tok - start, budget))
                if todo == 0:
                    continue
                while not self.cache.grow(request, start + todo):
                    preempted = True
                    if self._preempt_youngest() is request:
                        break
                if request.status != RUNNING:
                    break
                self._add_prefill(plan, request, todo)
            budget -= todo
        return budget, preempted

    def _preempt_youngest(self) -> Request:
        victim = self.batch.pop_youngest()
        self.cache.free(victim)
        victim.status = PREEMPTED
        victim.computed_tok = 0
        victim.preemptions += 1
        self.counters.preemptions += 1
        self.waiting.appendleft(victim)
        return victim

    def _schedule_waiting(self, plan: StepPlan, budget: int, horizon_s: float) -> None:
        places = self.params.max_num_seqs - len(self.leaving)
        while self.waiting and budget > 0 and len(self.running) < places:
            request = self.waiting[0]
            if request.arrival_s > horizon_s and request.status == WAITING:
                break
            hit = self.cache.find(request)
            known, hit_tok = request.known_tok, len(hit.blocks) * self.cache.layout.block_tok
            n = self.cache.cut(request, hit_tok, min(known - hit_tok, budget))
            if n == 0 or not self.cache.admit(request, hit, hit_tok + n):
                break
            self.waiting.popleft()
            if request.cached_tok < 0:
                request.cached_tok = hit_tok
                request.scheduled_s = plan.start_s
                if self.params.enable_prefix_caching:
                    self.counters.queried_tok += known
                    self.counters.hit_tok += hit_tok
            self.batch.admit(request)
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
        self.cache.register(request, start + n)
