"""Engine steps as vLLM counts them, in virtual time and in the embedded engine's /metrics, and what is made of them."""

from __future__ import annotations

import pytest
from prometheus_client import generate_latest
from prometheus_client.registry import CollectorRegistry

from simulator.core.run import RunData
from simulator.core.scenario import Synthetic
from simulator.core.why.measured import Measured, measured
from simulator.core.why.split import STEPS, split
from simulator.core.window import traffic
from simulator.engine.embedded.config import find_settings, load_params
from simulator.engine.embedded.request import Request
from simulator.engine.embedded.scheduler import Scheduler
from simulator.engine.embedded.stats import Stats
from simulator.engine.scrape import flatten
from simulator.virtual.fold import run_data
from simulator.virtual.replica import Replica
from simulator.virtual.sampling import sample
from simulator.virtual.simulate import simulate
from tests.virtual.plays import plan, scenario, scripts

BLOCK = Synthetic(input_tok=512, output_tok=256, concurrency=16, requests=64)


def played(engine: str, replicas: int = 1) -> RunData:
    params = load_params(find_settings(engine, ""))
    asked = scenario(6, synthetic=BLOCK, time_limit_s=600)
    plans = [plan(f"s{n}", turns=40, output_tok=60) for n in range(6)]
    return run_data(simulate(asked, params, scripts(plans, params), replicas=replicas), {})


def of(run: RunData, kind: str) -> Measured:
    found = traffic(run, kind)
    assert found is not None
    return measured(found)


@pytest.fixture(scope="module")
def runs() -> tuple[RunData, RunData]:
    return played("baseline"), played("top")


@pytest.mark.parametrize("kind", ["agent", "synthetic"])
def test_a_virtual_runs_ratio_is_explained(runs: tuple[RunData, RunData], kind: str) -> None:
    a, b = (of(run, kind) for run in runs)
    found = split(kind, a, b)
    assert found is not None and found.basis == STEPS and found.holds
    in_step, tok_a_step, steps_s = (each.ratio or 0 for each in found.factors)
    assert 1.7 < tok_a_step < 1.9 and steps_s < 1.1
    assert b.acceptance_length == pytest.approx(1.8, abs=0.05) and a.acceptance_length is None
    if kind == "synthetic":
        assert in_step == pytest.approx(1, abs=0.1) and 12 < (found.factors[0].a or 0) <= 16
        assert a.computed_prompt_tok == pytest.approx(BLOCK.requests * BLOCK.input_tok, rel=0.02)


def test_two_engines_steps_are_not_taken_for_ones() -> None:
    """Their counts add up, so a step as a request sees it is the one to go by."""
    one, two = of(played("top"), "synthetic"), of(played("top", replicas=2), "synthetic")
    found = split("synthetic", one, two)
    assert found is not None and found.holds and "B counted each step" in found.notes[0]


def test_the_embedded_engines_metrics_agree_with_virtual_time() -> None:
    """One scheduler, counted by both: steps without a token are none, a prompt counts when it is whole."""
    scheduler = Scheduler(load_params(find_settings("top", "")), seed=3)
    stats, now_s, quiet = Stats(scheduler, model="m", params_name="top"), 0.0, 0
    for n in range(5):
        scheduler.add(Request(f"r{n}", 20_000, 30, [], bytes(4 * 20_030), 0.0))
    while (planned := scheduler.step(now_s)) is not None:
        now_s = planned.end_s
        emissions = scheduler.complete(planned)
        quiet += not emissions
        stats.step(emissions)
    registry = CollectorRegistry()
    registry.register(stats)
    told = flatten(generate_latest(registry).decode())
    replica = Replica.__new__(Replica)
    replica.scheduler, replica.finished, replica.aborted, replica.answered, replica.ttft_s = scheduler, 5, 0, 5, 0.0
    replica.front_end = type("", (), {"backlog_s": lambda _self, _now_s: 0.0})()
    counted = sample(now_s, [replica]).values
    assert quiet > 0 and told["vllm:iteration_tokens_total_count"] == scheduler.counters.steps - quiet
    for name in ("iteration_tokens_total", "inter_token_latency_seconds"):
        for part in ("count", "sum"):
            assert told[f"vllm:{name}_{part}"] == pytest.approx(counted[f"vllm:{name}_{part}"])
    assert told["vllm:iteration_tokens_total_sum"] == 5 * 20_030
