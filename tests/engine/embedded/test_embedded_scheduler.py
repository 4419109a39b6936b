from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual import attention_only, prompt_of, request_of, steps

from simulator.engine.embedded.config import EngineParams, load_params
from simulator.engine.embedded.drafts import acceptance
from simulator.engine.embedded.request import ABORTED, FINISHED, PREEMPTED, RUNNING, Request
from simulator.engine.embedded.scheduler import Scheduler
from simulator.errors import UsageError

BLOCK = 4


def params(**changes: object) -> EngineParams:
    """An engine whose model keeps no recurrent state."""
    return attention_only(hybrid(**changes))


def hybrid(**changes: object) -> EngineParams:
    small = {
        "block_size": BLOCK,
        "num_gpu_blocks": 24,
        "max_model_len": 60,
        "max_num_seqs": 4,
        "max_num_batched_tokens": 16,
        "num_speculative_tokens": 1,
    }
    return load_params().model_copy(update={**small, **changes})


def check(scheduler: Scheduler, ids_of: dict[Request, list[int]]) -> None:
    """What must hold between any two steps."""
    pool = scheduler.pool
    holders = scheduler.running + scheduler.leaving
    held = Counter(block for r in holders for block in (*r.blocks, *r.live, *r.saved))
    assert [held[block] for block in range(pool.n_blocks)] == pool.refs
    assert set(pool.free) == {block for block in range(pool.n_blocks) if pool.refs[block] == 0}
    assert not any(request.blocks or request.live or request.saved for request in scheduler.waiting)
    assert {pool.hash_of[block] for block in pool.by_hash.values()} == set(pool.by_hash)
    assert len(scheduler.running) <= scheduler.params.max_num_seqs
    for request in scheduler.running:
        assert len(set(request.blocks)) == len(request.blocks)
        assert len(request.blocks) * BLOCK >= request.computed_tok
        # a block that others can find holds exactly the tokens that its hash says, for each that refers to it
        truth = prompt_of(ids_of[request][: request.known_tok], BLOCK).hashes
        for block, expected in zip(request.blocks, truth, strict=False):
            assert pool.hash_of[block] in (None, expected)


def shared_blocks(ids: list[int], others: list[list[int]]) -> int:
    """Most full blocks that `ids` has in common with the beginning of any other, its last token left out."""
    mine = prompt_of(ids[:-1], BLOCK).hashes
    best = 0
    for other in others:
        common = 0
        for a, b in zip(mine, prompt_of(other, BLOCK).hashes, strict=False):
            if a != b:
                break
            common += 1
        best = max(best, common)
    return best


works = st.lists(
    st.tuples(
        st.integers(0, 2),  # which common beginning
        st.integers(0, 24),  # how much of it
        st.integers(1, 12),  # own prompt tokens
        st.integers(1, 20),  # reply
        st.integers(0, 12),  # step before which it arrives
        st.one_of(st.none(), st.integers(0, 30)),  # step after whose planning it is aborted
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=80, deadline=None)
@given(works, st.booleans(), st.integers(0, 3), st.booleans(), st.sampled_from(["", "align", "all"]))
def test_any_workload_conserves_tokens_and_blocks(work, caching, drafts, overlapped, mode) -> None:
    states = {"num_gpu_blocks": 100, "mamba_cache_mode": mode} if mode else {}
    scheduler = Scheduler(
        (hybrid if mode else params)(
            **states,
            enable_prefix_caching=caching,
            num_speculative_tokens=drafts,
            acceptance_length=1 + 0.6 * drafts,
            async_scheduling=overlapped,
        ),
        seed=3,
    )
    ids_of: dict[Request, list[int]] = {}
    pending = sorted(enumerate(work), key=lambda item: (item[1][4], item[0]))
    aborts: dict[int, list[Request]] = {}
    got: Counter[Request] = Counter()
    now_s, n = 0.0, 0
    while pending or scheduler.has_work:
        while pending and pending[0][1][4] <= n:
            index, (stem, common, own, reply_tok, _step, abort_at) = pending.pop(0)
            ids = [100 * stem + i for i in range(common)] + [1000 + 50 * index + i for i in range(own)]
            reply = [5000 + 50 * index + i for i in range(reply_tok)]
            request = request_of(str(index), ids, reply, BLOCK, now_s)
            ids_of[request] = ids + reply
            scheduler.add(request)
            if abort_at is not None:
                aborts.setdefault(max(abort_at, n), []).append(request)
        plan = scheduler.step(now_s)
        for request in aborts.pop(n, []):
            ended = request.status == FINISHED
            assert scheduler.abort(request) is not ended
        n += 1
        if plan is None:
            now_s += 1e-3
            check(scheduler, ids_of)
            continue
        tokens = sum(k for _request, k in plan.prefills) + (len(plan.decodes) + plan.wasted) * (1 + drafts)
        assert 0 < tokens <= scheduler.params.max_num_batched_tokens
        assert plan.end_s > plan.start_s == now_s
        now_s = plan.end_s
        for request, new in scheduler.complete(plan):
            assert 1 <= new <= 1 + drafts and request.status != ABORTED
            got[request] += new
        check(scheduler, ids_of)
        assert n < 3000, "no progress"
    requests = list(ids_of)
    for request in requests:
        assert request.status in (FINISHED, ABORTED)
        assert got[request] == request.emitted_tok <= request.reply_tok
        assert request.status == ABORTED or got[request] == request.reply_tok
    assert scheduler.pool.used == 0
    assert scheduler.counters.generated_tok == sum(got.values())
    admitted = [request for request in requests if request.cached_tok >= 0]
    assert [r.scheduled_s for r in admitted] == sorted(r.scheduled_s for r in admitted), "first come, first served"
    for index, request in enumerate(requests):
        limit = shared_blocks(ids_of[request][: request.prompt_tok], [ids_of[r] for r in requests[:index]]) * BLOCK
        assert request.cached_tok <= (limit if caching else 0)


def test_a_second_turn_hits_its_history_but_never_the_whole_prompt() -> None:
    scheduler = Scheduler(params(num_gpu_blocks=64, num_speculative_tokens=0, acceptance_length=1))
    history, reply = list(range(16)), list(range(100, 108))
    scheduler.add(request_of("first", history, reply, BLOCK))
    for _ in steps(scheduler):
        pass
    again = request_of("again", history, [1], BLOCK)
    grown = request_of("grown", history + reply + [1, 2, 3], [1], BLOCK)
    for request in (again, grown):
        scheduler.add(request)
        for _ in steps(scheduler, 10.0):
            pass
    assert again.cached_tok == 12, "16 are known, but the last token must be computed"
    # the reply's own blocks hit as well, except its last token: nobody has computed the KV of that
    assert grown.cached_tok == 20


def test_the_least_recently_freed_cache_goes_first() -> None:
    scheduler = Scheduler(params(num_gpu_blocks=16, max_model_len=40, num_speculative_tokens=0, acceptance_length=1))
    old, young = list(range(20)), list(range(100, 120))
    for ids in (old, young, list(range(200, 240))[:30]):
        scheduler.add(request_of("", ids, [1], BLOCK))
        for _ in steps(scheduler):
            pass
    assert len(scheduler.pool.match(prompt_of(young, BLOCK).hashes, 99)) == 5
    assert len(scheduler.pool.match(prompt_of(old, BLOCK).hashes, 99)) < 5


def test_the_end_of_a_sequence_is_evicted_before_its_beginning() -> None:
    scheduler = Scheduler(params(num_gpu_blocks=16, max_model_len=40, num_speculative_tokens=0, acceptance_length=1))
    old = list(range(36))
    for ids in (old, list(range(100, 136))):
        scheduler.add(request_of("", ids, [1], BLOCK))
        for _ in steps(scheduler):
            pass
    kept = scheduler.pool.match(prompt_of(old, BLOCK).hashes, 99)
    assert 0 < len(kept) < 9, "a beginning is still of use, an end without it is not"


def test_long_prompts_go_in_chunks_and_others_keep_decoding() -> None:
    scheduler = Scheduler(params(num_speculative_tokens=0, acceptance_length=1, async_scheduling=False))
    short = request_of("short", [1, 2], [9] * 12, BLOCK)
    scheduler.add(short)
    scheduler.complete(scheduler.step(0.0))
    scheduler.add(request_of("long", list(range(10, 50)), [9], BLOCK, 1.0))
    chunks = []
    for plan, _emissions in steps(scheduler, 2.0):
        chunks += [n for _request, n in plan.prefills]
        assert plan.decodes == [short] or short.status == FINISHED
    assert chunks == [15, 15, 10]


def test_the_youngest_is_preempted_and_starts_again_from_its_cache() -> None:
    scheduler = Scheduler(params(num_gpu_blocks=15, max_model_len=50))
    first = request_of("first", list(range(8)), [9] * 40, BLOCK)
    second = request_of("second", list(range(100, 108)), [8] * 40, BLOCK)
    third = request_of("third", list(range(200, 216)), [7] * 34, BLOCK)
    for request in (first, second):
        scheduler.add(request)
    for plan, _emissions in steps(scheduler):
        assert first.preemptions == 0
        assert not (second.status == PREEMPTED and third.status == RUNNING), "it keeps its place in the queue"
        if scheduler.pool.used > 12 and not third.arrival_s:  # too late to find room beside the two
            third.arrival_s = plan.end_s
            scheduler.add(third)
    assert second.preemptions >= 1 and second.emitted_tok == 40
    assert scheduler.counters.preemptions == second.preemptions + third.preemptions
    assert first.last_s < second.last_s < third.last_s


def test_asynchronous_scheduling_sees_an_arrival_one_step_later() -> None:
    seen = {}
    for overlapped in (False, True):
        scheduler = Scheduler(params(async_scheduling=overlapped))
        scheduler.add(request_of("first", [1, 2], [9] * 30, BLOCK))
        scheduler.complete(scheduler.step(0.0))
        plan = scheduler.step(1.0)
        late = request_of("late", [3, 4], [9], BLOCK, (plan.start_s + plan.end_s) / 2)
        scheduler.add(late)
        scheduler.complete(plan)
        later = (n for n, _ in enumerate(steps(scheduler, plan.end_s), start=1) if late.cached_tok >= 0)
        seen[overlapped] = next(later)
    assert seen == {False: 1, True: 2}


@pytest.mark.parametrize(("drafts", "length"), [(1, 1.8), (3, 2.874), (5, 3.421), (7, 3.687), (2, 1.0), (2, 3.0)])
def test_acceptance_has_the_asked_mean_and_falls_by_position(drafts: int, length: float) -> None:
    at_least = acceptance(drafts, length)
    assert 1 + sum(at_least) == pytest.approx(length, abs=1e-4)
    assert at_least == sorted(at_least, reverse=True)


def test_accepted_drafts_come_out_as_asked() -> None:
    scheduler = Scheduler(
        params(num_speculative_tokens=3, acceptance_length=2.874, max_model_len=9000, num_gpu_blocks=2500)
    )
    scheduler.add(request_of("long", [1], [2] * 8000, BLOCK))
    for _ in steps(scheduler):
        pass
    counters = scheduler.counters
    assert 1 + counters.accepted / counters.drafts == pytest.approx(2.874, rel=0.03)
    assert sum(counters.per_pos) == counters.accepted
    assert counters.draft_tok == 3 * counters.drafts


def test_a_pool_too_small_for_one_request_is_refused_in_words() -> None:
    with pytest.raises(UsageError, match=r"cannot hold one request of max_model_len 60.*lower max_model_len"):
        Scheduler(params(num_gpu_blocks=14))


def test_a_request_that_does_not_fit_is_the_caller_s_mistake() -> None:
    with pytest.raises(ValueError, match="max_model_len"):
        Scheduler(params()).add(request_of("", [1] * 60, [1], BLOCK))


def test_an_asynchronous_scheduler_decodes_once_more_in_vain_what_it_could_not_foresee() -> None:
    wasted = {}
    for overlapped in (False, True):
        for stops in (False, True):
            scheduler = Scheduler(params(num_speculative_tokens=0, acceptance_length=1, async_scheduling=overlapped))
            long = request_of("long", [1, 2], [9] * 30, BLOCK)
            short = request_of("short", [3, 4], [9] * 5, BLOCK)
            short.stops = stops
            for request in (long, short):
                scheduler.add(request)
            seqs = [(plan.work.decode_seqs, len(plan.decodes)) for plan, _emissions in steps(scheduler)]
            wasted[overlapped, stops] = scheduler.counters.wasted, sum(a - b for a, b in seqs)
    assert wasted == {(False, False): (0, 0), (False, True): (0, 0), (True, False): (0, 0), (True, True): (1, 1)}


def test_drafts_that_end_a_reply_early_are_not_foreseen_either() -> None:
    scheduler = Scheduler(params(num_speculative_tokens=3, acceptance_length=4.0, async_scheduling=True))
    for key, n in (("long", 40), ("short", 9)):
        scheduler.add(request_of(key, [n, 2], [9] * n, BLOCK))
    for _plan, _emissions in steps(scheduler):
        pass
    assert scheduler.counters.wasted == 1, "the last one runs alone: nothing was planned after it"


def test_what_has_ended_gives_its_place_back_a_step_later_when_planning_runs_ahead() -> None:
    waits = {}
    for overlapped in (False, True):
        scheduler = Scheduler(
            params(num_speculative_tokens=0, acceptance_length=1, async_scheduling=overlapped, max_num_seqs=2)
        )
        for key, n in (("a", 20), ("b", 4), ("c", 4)):
            scheduler.add(request_of(key, [n, ord(key)], [9] * n, BLOCK))
        ended = admitted = -1
        for n, (plan, emissions) in enumerate(steps(scheduler)):
            if any(request.key == "b" and request.status == FINISHED for request, _new in emissions):
                ended = n
            if any(request.key == "c" for request, _n in plan.prefills):
                admitted = n
        waits[overlapped] = admitted - ended
    assert waits == {False: 1, True: 2}
