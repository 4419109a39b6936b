"""Steps a second of the scheduler alone, decoding: `python tests/engine/embedded/bench_scheduler.py`.

Virtual time plays millions of them. On two shared cores: top 35,000 at 32 sequences and 6,700 at 256, baseline 56,000
and 12,400; before steps were planned without looking at each request 15,800, 3,100, 24,000 and 3,600.
"""

from __future__ import annotations

import time

from virtual import request_of

from simulator.engine.embedded.config import PARAMS_DIR, load_params
from simulator.engine.embedded.scheduler import Scheduler


def steps_a_second(name: str, n: int, cpu_s: float = 0.7) -> float:
    params = load_params(PARAMS_DIR / f"{name}.yaml")
    scheduler = Scheduler(params)
    for number in range(n):
        ids = list(range(1000 + number * 200, 1200 + number * 200))
        scheduler.add(request_of(str(number), ids, [7] * 120_000, params.block_size))
    now_s, count, started_s = 0.0, 0, 0.0
    while not started_s or time.process_time() < started_s + cpu_s:
        plan = scheduler.step(now_s)
        assert plan is not None, "a reply ended: make replies longer"
        scheduler.complete(plan)
        now_s = plan.end_s
        if started_s:
            count += 1
        elif len(plan.decodes) == n:
            started_s = time.process_time()
    return count / (time.process_time() - started_s)


if __name__ == "__main__":
    for name in ("top", "baseline"):
        for n in (32, 256):
            best = max(steps_a_second(name, n) for _ in range(3))
            print(f"{name}, {n} sequences: {best:,.0f} steps/s, {1e6 / best:.0f} us a step")
