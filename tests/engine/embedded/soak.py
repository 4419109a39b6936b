"""The scheduler under random traffic for as long as one likes: `python tests/engine/embedded/soak.py [steps] [seed]`.

Every step is checked against what must always hold; what a prompt may find in the cache against a trie over token ids.
Last whole run: 1,000,000 steps, seed 1, 111 s of CPU, nothing broken. Before that it had found an engine that stood
still, its last sequence waiting for one that had ended.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from virtual import attention_only, request_of

from simulator.engine.embedded.config import EngineParams, load_params
from simulator.engine.embedded.request import ABORTED, FINISHED, RUNNING, WAITING, Request, StepPlan
from simulator.engine.embedded.scheduler import Scheduler

BLOCK = 4
MAX_TOK = 72
#: name -> (keeps states, changes)
ENGINES: dict[str, tuple[bool, dict[str, object]]] = {
    "attention": (False, {"num_gpu_blocks": 40}),
    "attention, drafts, async": (False, {"num_gpu_blocks": 40, "num_speculative_tokens": 3, "async_scheduling": True}),
    "no cache, drafts": (True, {"num_gpu_blocks": 60, "num_speculative_tokens": 1, "enable_prefix_caching": False}),
    "align": (True, {"num_gpu_blocks": 64}),
    "align, drafts, async": (True, {"num_gpu_blocks": 80, "num_speculative_tokens": 2, "async_scheduling": True}),
    "all": (True, {"num_gpu_blocks": 130, "mamba_cache_mode": "all"}),
    "all, drafts, async": (
        True,
        {"num_gpu_blocks": 150, "mamba_cache_mode": "all", "num_speculative_tokens": 1, "async_scheduling": True},
    ),
}


def engine(name: str) -> EngineParams:
    states, changes = ENGINES[name]
    drafts = changes.get("num_speculative_tokens", 0)
    small = {
        "block_size": BLOCK,
        "max_model_len": MAX_TOK,
        "max_num_seqs": 5,
        "max_num_batched_tokens": 20,
        "num_speculative_tokens": 0,
        "acceptance_length": 1 + 0.6 * float(str(drafts)),
        "async_scheduling": False,
    }
    params = load_params().model_copy(update={**small, **changes})
    return params if states else attention_only(params)


class Trie:
    """Every token sequence that the engine has ever known, one node a token."""

    def __init__(self) -> None:
        self.root: dict[int, dict] = {}

    def add(self, ids: list[int]) -> None:
        node = self.root
        for each in ids:
            node = node.setdefault(each, {})

    def common(self, ids: list[int]) -> int:
        """Tokens at the beginning of `ids` that some sequence has."""
        node = self.root
        for n, each in enumerate(ids):
            if each not in node:
                return n
            node = node[each]
        return len(ids)


@dataclass
class Soak:
    """One engine and its random clients."""

    name: str
    seed: int
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(engine(self.name), seed=self.seed)
        self.random = random.Random(f"{self.name} {self.seed}")
        self.trie = Trie()
        self.ids: dict[Request, list[int]] = {}
        self.got: Counter[Request] = Counter()
        self.histories = [[self.random.randrange(9) for _ in range(6)] for _ in range(4)]
        self.now_s = 0.0
        self.last_admitted = -1
        self.number: dict[Request, int] = {}
        self.waited: Counter[Request] = Counter()

    def play(self, n_steps: int) -> Counter[str]:
        for n in range(n_steps):
            self.arrivals()
            plan = self.scheduler.step(self.now_s)
            self.admissions()
            if plan is not None:
                self.conserves_work(plan)
            if self.random.random() < 0.01:
                self.abort()
            if plan is None:
                self.now_s += 1e-3
                self.counts["idle"] += 1
                head = next(iter(self.scheduler.waiting), None)
                assert self.scheduler.running or head is None or head.arrival_s > self.now_s - 2e-3, "idle with work"
            else:
                assert plan.end_s > plan.start_s == self.now_s
                self.now_s = plan.end_s
                self.emissions(self.scheduler.complete(plan))
            self.holdings(thorough=n % 7 == 0)
        self.counts["preemptions"] = self.scheduler.counters.preemptions
        self.counts["hit_tok"] = self.scheduler.counters.hit_tok
        self.counts["wasted"] = self.scheduler.counters.wasted
        return self.counts

    def arrivals(self) -> None:
        rng, drafts = self.random, self.scheduler.params.num_speculative_tokens
        quiet = len(self.number) % 400 > 380  # now and then nobody comes, so that everything ends
        if quiet and not self.scheduler.has_work:
            assert self.scheduler.pool.used == 0, "blocks leaked"
            assert self.scheduler.pool.reset()
            self.trie, self.ids, self.got, self.waited = Trie(), {}, Counter(), Counter()
            self.counts["resets"] += 1
            self.send([rng.randrange(9) for _ in range(3)], [7], 0.0)
        chance = 0.0 if quiet and self.scheduler.has_work else 0.25
        while rng.random() < chance and len(self.scheduler.waiting) < 12:
            which = rng.randrange(len(self.histories))
            history = self.histories[which]
            reply = [rng.randrange(9) for _ in range(rng.randint(1, 14))]
            grown = history + [rng.randrange(9) for _ in range(rng.randint(1, 9))]
            if len(grown) + len(reply) + drafts > MAX_TOK:
                grown = grown[: rng.randint(2, 9)]  # the history is cut, as an agent's is
            # the recorded reply stands in the history, sometimes as it was generated
            said = reply if rng.random() < 0.5 else [rng.randrange(9) for _ in reply]
            self.histories[which] = (grown + said)[: MAX_TOK - 20]
            self.send(grown, reply, rng.choice((0.0, 0.0, 0.02)))

    def send(self, prompt: list[int], reply: list[int], late_s: float) -> None:
        last_s = self.scheduler.waiting[-1].arrival_s if self.scheduler.waiting else 0.0
        request = request_of("", prompt, reply, BLOCK, max(last_s, self.now_s + late_s))
        self.ids[request] = prompt + reply
        self.number[request] = len(self.number)
        self.scheduler.add(request)
        self.counts["requests"] += 1

    def abort(self) -> None:
        alive = [*self.scheduler.running, *self.scheduler.waiting]
        if alive:
            request = self.random.choice(alive)
            assert self.scheduler.abort(request) and not self.scheduler.abort(request)
            assert not (request.blocks or request.live or request.saved)
            self.counts["aborts"] += 1

    def admissions(self) -> None:
        """First come, first served; what was found in the cache was known, and its last token is computed."""
        for request in self.scheduler.running:
            if self.number[request] > self.last_admitted and request.preemptions == 0:
                assert request.cached_tok >= 0
                ahead = [r for r in self.scheduler.waiting if r.status == WAITING]
                assert not ahead or min(map(self.number.__getitem__, ahead)) > self.number[request], "overtaken"
                self.last_admitted = self.number[request]
                known = self.ids[request][: request.prompt_tok]
                limit = self.trie.common(known[:-1]) // BLOCK * BLOCK
                limit = limit if self.scheduler.params.enable_prefix_caching else 0
                assert request.cached_tok <= limit, (request.cached_tok, limit)
                self.counts["best_tok"] += limit
            # who is admitted in the same step may already use what this one is about to write
            self.trie.add(self.ids[request][: request.known_tok])
        for request in self.scheduler.waiting:
            self.waited[request] += 1
            assert self.waited[request] < 3000, "starved"

    def conserves_work(self, plan: StepPlan) -> None:
        """Whoever could certainly have been admitted was: a place, tokens and blocks left for all that it knows."""
        s, drafts = self.scheduler, self.scheduler.params.num_speculative_tokens
        spent = sum(n for _request, n in plan.prefills) + (len(plan.decodes) + plan.wasted) * (1 + drafts)
        left = s.params.max_num_batched_tokens - spent
        assert spent > 0 and left >= 0
        if not s.waiting or s.waiting[0].status != WAITING:
            return
        head = s.waiting[0]
        horizon_s = -1.0 if s.params.async_scheduling else plan.start_s
        places = s.params.max_num_seqs - len(s.running) - len(s.leaving)
        room = len(s.pool.free) >= s.cost.layout.most_blocks(head.known_tok)
        fits = head.arrival_s <= horizon_s and places > 0 and left >= max(head.known_tok, BLOCK) and room
        assert not fits, "work waits beside room for it"

    def emissions(self, emissions: list[tuple[Request, int]]) -> None:
        for request, new in emissions:
            assert 1 <= new <= 1 + self.scheduler.params.num_speculative_tokens and request.status != ABORTED
            self.got[request] += new
            assert self.got[request] == request.emitted_tok <= request.reply_tok
            assert (request.status == FINISHED) == (request.emitted_tok == request.reply_tok)
            if request.status == FINISHED:
                self.trie.add(self.ids[request][: request.known_tok])
                self.counts["finished"] += 1
                self.counts["tokens"] += self.got[request]

    def holdings(self, *, thorough: bool) -> None:
        """No block lost, none held by two that must not share it, none findable under another's name."""
        s, pool = self.scheduler, self.scheduler.pool
        holders = [*s.running, *s.leaving]
        assert len(holders) <= s.params.max_num_seqs + len(s.leaving)
        assert not any(r.blocks or r.live or r.saved for r in s.waiting)
        held = Counter(block for r in holders for block in (*r.blocks, *r.live, *r.saved))
        assert sum(held.values()) == sum(pool.refs) and pool.used == len(held)
        if not thorough:
            return
        assert all(pool.refs[block] == n for block, n in held.items())
        assert set(pool.free) == {block for block in range(pool.n_blocks) if block not in held}
        assert {pool.hash_of[block] for block in pool.by_hash.values()} == set(pool.by_hash)
        for request in s.running:
            assert request.status == RUNNING and len(request.blocks) * BLOCK == request.room_tok
            assert request.room_tok >= request.computed_tok
            truth = request_of("", self.ids[request][: request.known_tok], [], BLOCK).hashes
            for block, expected in zip(request.blocks, truth, strict=False):
                assert pool.hash_of[block] in (None, expected)
            for block in request.live:
                assert pool.refs[block] == 1 or pool.hash_of[block] is not None, "a running state is nobody else's"
            for block in (*request.live, *request.saved):
                name = pool.hash_of[block]
                assert name is None or (isinstance(name, tuple) and name[1] in truth), "a state under another's name"


def soak(n_steps: int, seed: int = 1) -> dict[str, Counter[str]]:
    """So many steps, shared out among the engines."""
    return {name: Soak(name, seed).play(n_steps // len(ENGINES)) for name in ENGINES}


if __name__ == "__main__":
    steps, seed = (int(sys.argv[n]) if len(sys.argv) > n else default for n, default in ((1, 1_000_000), (2, 1)))
    started_s = time.process_time()
    for name, counts in soak(steps, seed).items():
        print(f"{name}: " + ", ".join(f"{what} {n:,}" for what, n in counts.items()))
    print(f"{steps:,} steps, seed {seed}, {time.process_time() - started_s:.0f} s of CPU, nothing broken")
