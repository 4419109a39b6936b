"""Driving the scheduler on a virtual clock."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.prompts import Prompt
from simulator.engine.embedded.request import ID_BYTES, Request, StepPlan, block_hash
from simulator.engine.embedded.scheduler import Scheduler


def attention_only(params: EngineParams) -> EngineParams:
    """The same engine with a model that keeps no recurrent state."""
    hardware = params.hardware
    shape = hardware.model.model_copy(update={"layers": hardware.model.layers.replace("M", "")})
    return params.model_copy(update={"hardware": hardware.model_copy(update={"model": shape})})


def prompt_of(ids: list[int], block_size: int) -> Prompt:
    data, size = np.asarray(ids, np.int32).tobytes(), block_size * ID_BYTES
    hashes, parent = [], b""
    for start in range(0, len(data) // size * size, size):
        parent = block_hash(parent, data[start : start + size])
        hashes.append(parent)
    return Prompt(len(ids), hashes, data[len(hashes) * size :])


def request_of(key: str, ids: list[int], reply: list[int], block_size: int, arrival_s: float = 0.0) -> Request:
    prompt = prompt_of(ids, block_size)
    rest = prompt.tail + np.asarray(reply, np.int32).tobytes()
    return Request(key, len(ids), len(reply), prompt.hashes, rest, arrival_s)


def steps(scheduler: Scheduler, now_s: float = 0.0) -> Iterator[tuple[StepPlan, list[tuple[Request, int]]]]:
    """Steps laid end to end until there is no work left."""
    while scheduler.has_work:
        plan = scheduler.step(now_s)
        if plan is None:
            late_s = min(request.arrival_s for request in scheduler.waiting)
            assert late_s > now_s, "work, but nothing to plan"
            now_s = late_s
            continue
        now_s = plan.end_s
        yield plan, scheduler.complete(plan)


def output_tok_s(params: EngineParams, *, requests: int = 512, at_once: int = 256, tok: int = 512) -> float:
    """Closed loop of `at_once` distinct `tok`/`tok` requests: output tokens a second over the whole run."""
    scheduler = Scheduler(params)
    made = 0

    def add(now_s: float) -> None:
        nonlocal made
        ids = list(range(1000 + made * tok, 1000 + (made + 1) * tok))
        scheduler.add(request_of(str(made), ids, [7] * tok, params.block_size, now_s))
        made += 1

    for _ in range(at_once):
        add(0.0)
    end_s = 0.0
    for plan, emissions in steps(scheduler):
        end_s = plan.end_s
        for request, _new in emissions:
            if request.emitted_tok == request.reply_tok and made < requests:
                add(end_s)
    return scheduler.counters.generated_tok / end_s
