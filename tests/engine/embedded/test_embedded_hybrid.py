"""Models with recurrent state: one pool for pages and states, coarse pages, hits that need a saved state."""

from __future__ import annotations

from collections import Counter

import pytest
from virtual import prompt_of, request_of, steps

from simulator.engine.embedded.config import PARAMS_DIR, EngineParams, load_params
from simulator.engine.embedded.cost import CostModel
from simulator.engine.embedded.memory import page_tok
from simulator.engine.embedded.request import Request
from simulator.engine.embedded.scheduler import Scheduler

BLOCK = 8
GROUPS = 4  # blocks of one state copy: 23 mamba layers in groups of 6 (7 with the draft's layer)


def params(**changes: object) -> EngineParams:
    small = {
        "block_size": BLOCK,
        "num_gpu_blocks": 400,
        "max_model_len": 200,
        "max_num_seqs": 8,
        "max_num_batched_tokens": 64,
        "num_speculative_tokens": 0,
        "acceptance_length": 1.0,
        "async_scheduling": False,
    }
    return load_params().model_copy(update={**small, **changes})


def play(scheduler: Scheduler, key: str, ids: list[int], reply: list[int]) -> Request:
    request = request_of(key, ids, reply, BLOCK)
    scheduler.add(request)
    for _plan, _emissions in steps(scheduler):
        pass
    return request


def test_pages_of_the_30b_shape_follow_from_its_state() -> None:
    shape = load_params().hardware.model
    assert page_tok(shape, "float32", "align") == 2096
    assert page_tok(shape, "float16", "all") == 1152
    assert page_tok(shape, "float16", "align") == 1072
    assert page_tok(shape, "float32", "all") == 2176
    assert load_params(PARAMS_DIR / "baseline.yaml").block_size == 2096
    assert load_params(PARAMS_DIR / "top.yaml").block_size == 1072


@pytest.mark.parametrize(
    ("dtype", "drafts", "caching", "gib"),
    [
        # GiB of state of 256 sequences as vLLM keeps it, 1 + k copies each, one more with prefix caching
        ("float32", 0, False, 12),
        ("float32", 0, True, 23),
        ("float32", 1, True, 35),
        ("float32", 3, False, 46),
        ("float16", 1, True, 17),
        ("float16", 3, True, 29),
    ],
)
def test_states_of_256_sequences_take_what_was_seen(dtype: str, drafts: int, caching: bool, gib: float) -> None:
    cost = CostModel(load_params().model_copy(
        update={"mamba_ssm_cache_dtype": dtype, "num_speculative_tokens": drafts, "enable_prefix_caching": caching}
    ))  # fmt: skip
    layout = cost.layout
    copies = (layout.most_blocks(1) - 1) / layout.state_groups
    assert copies == 1 + drafts + caching
    assert 256 * copies * cost.state_bytes_per_seq / 2**30 == pytest.approx(gib, abs=1.0)
    # in whole blocks it is more: layers that fill up the last group, and pages padded to the attention's
    assert layout.block_bytes * layout.state_groups >= cost.state_bytes_per_seq


@pytest.mark.parametrize("drafts", [0, 1, 3])
@pytest.mark.parametrize(("mode", "caching"), [("align", False), ("align", True), ("all", True)])
def test_a_running_sequence_holds_pages_and_states_of_one_pool(mode: str, caching: bool, drafts: int) -> None:
    changes = {"mamba_cache_mode": mode, "enable_prefix_caching": caching, "num_speculative_tokens": drafts}
    scheduler = Scheduler(params(**changes))
    request = request_of("a", list(range(40)), [7] * 60, BLOCK)
    scheduler.add(request)
    seen = Counter()
    for _plan, _emissions in steps(scheduler):
        if scheduler.running:
            pages = len(request.blocks)
            assert pages == -(-request.room_tok // BLOCK)
            states = (scheduler.pool.used - pages) / GROUPS
            seen[states if mode == "align" else states - pages] += 1
            assert scheduler.pool.used <= scheduler.cost.layout.most_blocks(200)
    if mode == "all":
        assert set(seen) == {drafts}, "a state at each boundary, the running one among them"
    elif caching:
        assert set(seen) == {1 + drafts, 2 + drafts}, "and the last one saved, once there is one"
    else:
        assert set(seen) == {1 + drafts}
    assert scheduler.pool.used == 0


def test_pages_and_states_push_each_other_out() -> None:
    """Sixteen sequences' states fill a pool that would hold the pages of forty."""
    free = Scheduler(params(num_gpu_blocks=60, max_num_seqs=64, enable_prefix_caching=False, max_model_len=60))
    for n in range(16):
        free.add(request_of(str(n), [n] * 4, [7] * 20, BLOCK))
    for _plan, _emissions in steps(free):
        assert len(free.running) <= 60 // (GROUPS + 1)
        assert sum(len(r.blocks) + len(r.live) + len(r.saved) for r in free.running) == free.pool.used <= 60
    assert free.pool.used == 0 and free.counters.generated_tok == 16 * 20
    assert free.counters.preemptions > 0, "four sequences fill it before their pages grow"


def test_a_turn_starts_again_from_the_last_boundary_that_the_turn_before_prefilled() -> None:
    scheduler = Scheduler(params())
    history = list(range(1000, 1030))  # 3 blocks and 6 tokens
    reply = list(range(5000, 5005))
    assert play(scheduler, "1", history, reply).cached_tok == 0
    grown = history + [9] * 5 + list(range(2000, 2010))  # the reply in the history is not what was generated
    assert play(scheduler, "2", grown, reply).cached_tok == 24
    again = [*grown, 1, 2, 3]  # 48 tokens: 5 blocks and 8
    assert play(scheduler, "3", again, reply).cached_tok == 40
    # a prompt of whole blocks: its last token is computed, so its last block cannot be a hit
    assert play(scheduler, "4", again, reply).cached_tok == 40


def test_a_hit_needs_a_state_where_it_ends() -> None:
    """Two prompts share two blocks, but no step ended there: with `align` there is no state, with `all` there is."""
    shared = list(range(1000, 1016))
    cached = {}
    for mode in ("align", "all"):
        scheduler = Scheduler(params(mamba_cache_mode=mode))
        play(scheduler, "a", shared + list(range(2000, 2030)), [7])
        cached[mode] = play(scheduler, "b", shared + list(range(3000, 3030)), [7]).cached_tok
        assert len(scheduler.pool.match(prompt_of(shared, BLOCK).hashes, 9)) == 2, "the pages are there either way"
    assert cached == {"align": 0, "all": 16}


def test_drafts_cost_a_block_of_every_hit_where_states_are_saved_at_one_place() -> None:
    cached = {}
    for drafts in (0, 1):
        for mode in ("align", "all"):
            scheduler = Scheduler(params(num_speculative_tokens=drafts, mamba_cache_mode=mode))
            history = list(range(1000, 1044))
            play(scheduler, "a", history, [7])
            cached[drafts, mode] = play(scheduler, "b", [*history, *range(20)], [7]).cached_tok
    assert cached == {(0, "align"): 40, (0, "all"): 40, (1, "align"): 32, (1, "all"): 40}


def test_prefill_chunks_end_where_a_state_is_to_be_saved() -> None:
    scheduler = Scheduler(params(max_num_batched_tokens=20, max_num_seqs=2))
    request = request_of("a", list(range(1000, 1053)), [7], BLOCK)
    scheduler.add(request)
    ends, at = [], 0
    for plan, _emissions in steps(scheduler):
        at += sum(n for _request, n in plan.prefills)
        ends.append(at)
    assert ends == [16, 32, 48, 53]
    whole = Scheduler(params(mamba_cache_mode="all", max_num_batched_tokens=20, max_num_seqs=2))
    whole.add(request_of("a", list(range(1000, 1053)), [7], BLOCK))
    assert [sum(n for _r, n in plan.prefills) for plan, _e in steps(whole)] == [20, 20, 13]


def test_a_block_that_no_step_can_hold_is_filled_in_several() -> None:
    scheduler = Scheduler(params(block_size=32, max_num_batched_tokens=20, max_num_seqs=2))
    request = request_of("a", list(range(1000, 1071)), [7], 32)
    scheduler.add(request)
    ends, at = [], 0
    for plan, _emissions in steps(scheduler):
        at += sum(n for _request, n in plan.prefills)
        ends.append(at)
    assert 32 in ends and 64 in ends and ends[-1] == 71


def test_a_reply_s_own_boundaries_are_saved_as_it_passes_them() -> None:
    for drafts in (0, 2):
        scheduler = Scheduler(params(num_speculative_tokens=drafts, acceptance_length=1 + 0.7 * drafts))
        prompt, reply = list(range(1000, 1010)), list(range(5000, 5040))
        play(scheduler, "a", prompt, reply)
        next_turn = play(scheduler, "b", prompt + reply + [1, 2, 3], [7])
        # 50 tokens were known, 49 computed: 6 blocks
        assert next_turn.cached_tok == 48


def test_fp32_states_of_three_drafts_hold_back_the_batch_and_fp16_does_not() -> None:
    """256 sequences past their first block: capacity is a part of what FP16 state brings."""
    running = {}
    for name in ("flashinfer", "top"):
        engine = load_params(PARAMS_DIR / f"{name}.yaml")
        scheduler = Scheduler(engine)
        for n in range(256):
            scheduler.add(request_of(str(n), [n] * 4500, [7] * 2000, engine.block_size))
        most = 0
        for plan, _emissions in steps(scheduler):
            most = max(most, len(plan.decodes))
            if scheduler.counters.steps > 250:
                break
        running[name] = most
        held = scheduler.pool.used * scheduler.cost.layout.block_bytes
        assert held + scheduler.cost.layout.weight_bytes <= engine.hardware.gpu.memory_bytes
    assert running["flashinfer"] < 0.9 * running["top"]
