from __future__ import annotations

import pytest
from soak import ENGINES, Soak, engine
from virtual import request_of

from simulator.engine.embedded.scheduler import Scheduler


@pytest.mark.parametrize("name", ENGINES)
def test_nothing_breaks_in_thousands_of_random_steps(name: str) -> None:
    """The million is `python tests/engine/embedded/soak.py`."""
    counts = Soak(name, seed=11).play(4_000)
    assert counts["finished"] > 300 and counts["aborts"] > 10 and counts["preemptions"] > 0 and counts["resets"] > 0
    if "no cache" in name:
        assert counts["hit_tok"] == 0
    else:
        assert 0 < counts["hit_tok"] <= counts["best_tok"], "some hits, never more than there is to find"
    assert ("async" in name) == (counts["wasted"] > 0)


@pytest.mark.parametrize("name", ENGINES)
def test_steps_that_are_said_to_be_alike_are(name: str) -> None:
    changes = {"block_size": 48, "num_gpu_blocks": 300, "max_model_len": 700, "max_num_batched_tokens": 64}
    scheduler = Scheduler(engine(name).model_copy(update=changes), seed=3)
    for n in range(8):
        scheduler.add(request_of(str(n), [n] * (20 + 9 * n), [7] * (150 + 60 * n), 48))
    now_s, steady, looked = 0.0, 0, 0
    while scheduler.has_work:
        sure = scheduler.steady_steps()
        who, used = list(scheduler.running), scheduler.pool.used
        for _ in range(max(1, sure)):
            plan = scheduler.step(now_s)
            assert plan is not None
            if sure:
                assert plan.decodes == who and not plan.prefills and not plan.wasted and scheduler.pool.used == used
            now_s = plan.end_s
            scheduler.complete(plan)
        steady, looked = steady + sure, looked + (not sure)
    assert scheduler.counters.generated_tok == sum(150 + 60 * n for n in range(8))
    assert steady > 100 and looked > 0, "many steps need no look, some do"
