"""The model held against what real engines gave, and every shipped settings file at work."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from turns_of_runs import slots as sent_by_slot
from turns_of_runs import text
from virtual import request_of, steps

from simulator.engine.embedded.calibrate import FIGURES, Compared, compare, main, table
from simulator.engine.embedded.config import PARAMS_DIR, find_settings, load_hardware, load_params, read_extended
from simulator.engine.embedded.cost import CostModel
from simulator.engine.embedded.drafts import at_least
from simulator.engine.embedded.loop import Loop
from simulator.engine.embedded.scheduler import Scheduler
from simulator.engine.embedded.traffic import Turn, read_turns
from simulator.errors import UsageError

SETTINGS = sorted(path.name for path in PARAMS_DIR.glob("*.yaml") if "hardware" in read_extended(path))


@pytest.fixture(scope="module")
def compared() -> dict[str, Compared]:
    found = compare(load_hardware(PARAMS_DIR / "h200_30b_a3b.yaml"))
    assert len({each.traffic for each in found}) == len(found)
    return {each.traffic: each for each in found}


RUNS = Path(__file__).parents[3] / "reports" / "h200_ladder" / "runs"
#: rungs of reports/h200_ladder as the hardware file names them, and their runs
LADDER = {
    **{f"ladder's {name}": f"{name}-0" for name in ("baseline", "mtp3", "async", "flashinfer", "mtp1", "top")},
    "ladder's top, four API processes, states at every block": "top-4-api-all-0",
}
FITTED = [f"{name}, {traffic}" for name in ("baseline", "top") for traffic in ("agents 32", "512/512 at 256")]
FITTED_LADDER = [
    f"ladder's {name}, {traffic}"
    for name in ("baseline", "top", "flashinfer")
    for traffic in ("agents 32 ladder", "512/512 at 256")
]
HELD_OUT = [
    f"top, four API processes{mode}, {traffic}"
    for mode in ("", ", states at every block")
    for traffic in ("agents 32", "512/512 at 256")
] + [
    f"{name}, {traffic}" for name in LADDER for traffic in ("agents 32 ladder", "512/512 at 256")
    if f"{name}, {traffic}" not in FITTED_LADDER
]  # fmt: skip


@pytest.mark.parametrize("traffic", FITTED)
def test_figures_that_were_fitted_to_still_come_out(traffic: str, compared: dict[str, Compared]) -> None:
    each = compared[traffic]
    assert each.measured.fitted and abs(each.error) < 0.05
    latencies = [error for name, error in each.errors.items() if name in ("ttft_s", "tpot_s", "turn_s")]
    assert len(latencies) >= 2 and max(abs(error) for error in latencies) < 0.15


@pytest.mark.parametrize("traffic", FITTED_LADDER)
def test_rungs_of_the_ladder_that_were_fitted_to_still_come_out(traffic: str, compared: dict[str, Compared]) -> None:
    each = compared[traffic]
    assert each.measured.fitted and abs(each.error) < 0.08
    assert abs(each.errors.get("histories_s", 0.0)) < 0.10 and abs(each.errors["tpot_s"]) < 0.12


def test_nothing_else_was_fitted_to(compared: dict[str, Compared]) -> None:
    told = {traffic for traffic, each in compared.items() if each.measured.fitted}
    assert told == {*FITTED, *FITTED_LADDER} and len(HELD_OUT) == 12


def test_the_ladder_s_figures_are_its_records_and_its_traffic_is_theirs(compared: dict[str, Compared]) -> None:
    for name, run in LADDER.items():
        summary = json.loads((RUNS / run / "summary.json").read_text())
        for traffic, kind in (("agents 32 ladder", "agent"), ("512/512 at 256", "synthetic")):
            measured, real = compared[f"{name}, {traffic}"].measured, summary[kind]
            assert run in measured.source and measured.output_tok_s == pytest.approx(real["output_tok_s"], abs=0.5)
            assert measured.ttft_s == pytest.approx(real["ttft_s"]["p50"], abs=0.0005)
            assert measured.tpot_s == pytest.approx(real["tpot_s"]["p50"], abs=0.00005)
            if measured.agents:
                assert measured.turn_s == pytest.approx(real["turn_latency_s"]["p50"], abs=0.005)
                assert measured.later_cached_share == pytest.approx(real["cached_share"]["later_turns"], abs=0.00005)
                begun_s = min(turns[0]["t_sent_s"] for turns in sent_by_slot(RUNS / run).values())
                assert measured.histories_s == pytest.approx(real["window"]["start_s"] - begun_s, abs=0.05)
    shipped = (PARAMS_DIR / "agents_32_ladder.txt").read_text()
    assert shipped == text([RUNS / run for run in LADDER.values()])


def test_agents_choose_among_the_ladder_s_rungs_as_they_did(compared: dict[str, Compared]) -> None:
    """Gaps above a tenth, which the model's errors do not turn round."""
    agents = {name: compared[f"{name}, agents 32 ladder"] for name in LADDER}
    modelled = {name: each.modelled_tok_s for name, each in agents.items()}
    for slow, one in agents.items():
        for fast, other in agents.items():
            if other.measured.output_tok_s > 1.1 * one.measured.output_tok_s:
                assert modelled[fast] > modelled[slow], f"{fast} beat {slow}"
    loads = {name: compared[f"{name}, 512/512 at 256"].modelled_tok_s for name in LADDER}
    assert loads["ladder's mtp1"] > 1.4 * loads["ladder's flashinfer"], "three drafts lose there what agents gain"


@pytest.mark.parametrize("traffic", HELD_OUT)
def test_engines_that_were_not_fitted_to_come_near(traffic: str, compared: dict[str, Compared]) -> None:
    each = compared[traffic]
    assert abs(each.error) < (0.08 if each.measured.agents else 0.15)


def test_experts_that_are_all_used_cost_what_they_cost() -> None:
    agents, load = compare(load_hardware(PARAMS_DIR / "h200_30b_a3b_even.yaml"))
    for each, kind in ((agents, "agent"), (load, "synthetic")):
        summary = json.loads((RUNS / "top-routed-0" / "summary.json").read_text())
        assert each.measured.output_tok_s == pytest.approx(summary[kind]["output_tok_s"], abs=0.5)
        assert not each.measured.fitted
    assert abs(agents.error) < 0.08 and abs(agents.errors["tpot_s"]) < 0.10 and abs(load.error) < 0.18


def test_what_later_turns_find_is_what_they_found(compared: dict[str, Compared]) -> None:
    errors = [each.errors["later_cached_share"] for each in compared.values() if each.measured.agents]
    assert len(errors) == 11 and max(abs(error) for error in errors) < 0.01


def test_the_pool_has_the_blocks_that_it_had() -> None:
    """vLLM 0.25.1 on an H200, 0.92 of the memory: (blocks, what it calls the KV cache's size in tokens)."""
    seen = {}
    for name, changes in (("baseline", {}), ("top", {}), ("top", {"mamba_cache_mode": "all", "block_size": 1152})):
        params = load_params(PARAMS_DIR / f"{name}.yaml").model_copy(update=changes)
        layout = CostModel(params).layout
        seen[layout.block_tok] = layout
    for block_tok, n_blocks, kv_cache_tok in ((2096, 5656, 10441453), (1072, 9047, 8783765), (1152, 8419, 1922465)):
        layout = seen[block_tok]
        assert layout.n_blocks == pytest.approx(n_blocks, rel=0.01)
        assert replace(layout, n_blocks=n_blocks).kv_cache_tok(131072) == pytest.approx(kv_cache_tok, abs=2)


def test_the_command_shows_every_figure_with_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    path = PARAMS_DIR / "b200_30b_a3b.yaml"
    assert main([str(path), str(PARAMS_DIR / "h100_8b.yaml")]) == 0
    out = capsys.readouterr().out
    assert out.count("EMULATED") == 2 and "nothing of this file" in out
    assert out.count("not fitted") == 1 and "output tok/s | 1,830 |" in out
    hardware = load_hardware(PARAMS_DIR / "h200_30b_a3b.yaml")
    short = hardware.model_copy(update={"calibration": hardware.calibration[:1]})
    rows = table(short, PARAMS_DIR / "h200_30b_a3b.yaml")
    assert [row.split("|")[3].strip() for row in rows[4:]] == [
        "output tok/s",
        *(heading for name, heading, *_r in FIGURES if name != "histories_s"),
    ]
    assert "points" in rows[-1] and "fitted to" in rows[4]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no rows"),
        ("0 1.0 100 5", ":1: a row is five numbers"),
        ("# slots\n0 1.0 100 5 0\n0 0.5 90 5 95", ":3: no turn can be"),
        ("0 1.0 100 5 7", ":1: no turn can be"),
        ("0 -1.0 100 5 0", ":1: no turn can be"),
    ],
)
def test_a_traffic_file_that_is_none_is_told(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "turns.txt"
    with pytest.raises(UsageError, match="cannot be read"):
        read_turns(path)
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        read_turns(path)


def test_a_loop_plays_turns_in_order_and_tells_what_a_client_saw() -> None:
    params = load_params(PARAMS_DIR / "top.yaml").model_copy(update={"mamba_cache_mode": "all", "block_size": 1152})
    slots = [[Turn(0.0, 5000, 30), Turn(2.0, 6000, 20, 5000), Turn(0.0, 3000, 1)], [Turn(1.0, 800, 10)]]
    heard = Loop(params).play(slots)
    assert sum(n for _at_s, n in heard.out) == 30 + 20 + 1 + 10
    first, second, third = [each for each in heard.done if each.slot == 0]
    assert second.sent_s == pytest.approx(first.end_s + 2.0) and third.sent_s == second.end_s
    assert [each.later for each in (first, second, third)] == [False, True, False]
    assert [each.cached_tok for each in (first, second, third)] == [0, 5000 // 1152 * 1152, 0]
    alone = next(each for each in heard.done if each.slot == 1)
    assert heard.from_s == max(first.end_s, alone.end_s)
    from_tokens = Loop(params).play(slots, window_s=60.0, from_first_token=True)
    assert from_tokens.from_s == max(first.out_s, alone.out_s) < heard.from_s
    for each in heard.done:
        assert 0 < each.front_end_s < each.ttft_s <= each.turn_s
        assert (each.tpot_s is None) == (each.reply_tok == 1)
    assert len(Loop(params).play(slots, window_s=0.1).done) == 3, "what the window does not reach is not sent"


def test_a_shipped_engine_s_name_does_where_a_file_is_asked_for() -> None:
    assert find_settings("top", "--engine-params") == PARAMS_DIR / "top.yaml"
    assert find_settings("mine.yaml", "--engine-params") == Path("mine.yaml")
    with pytest.raises(UsageError, match=r"--engine-params tpo: no such engine.*baseline.*top"):
        find_settings("tpo", "--engine-params")


def test_traffic_is_of_one_kind(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    both = "{name: n, engine: top.yaml, agents: a.txt, prompt_tok: 5, output_tok_s: 1, fitted: false, source: s}"
    path.write_text(f"extends: h200_30b_a3b.yaml\ncalibration: [{both}]\n")
    with pytest.raises(UsageError, match="either prompt_tok, output_tok and at_once, or agents and window_s"):
        load_hardware(path)


def test_a_hardware_file_that_is_none_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: h200_30b_a3b.yaml\nmodel: {layers: EEEE}\n")
    assert main([str(path)]) == 2
    assert "without an attention layer" in capsys.readouterr().err
    path.write_text("extends: h200_30b_a3b.yaml\nmodel: {mamba_heads: 0}\n")
    assert main([str(path)]) == 2
    assert "layers of kind 'M' need mamba_heads" in capsys.readouterr().err


@pytest.mark.parametrize("name", SETTINGS)
def test_every_shipped_engine_serves(name: str) -> None:
    params = load_params(PARAMS_DIR / name)
    scheduler = Scheduler(params)
    requests = [request_of(str(n), list(range(n, n + 3000)), [5] * 40, params.block_size) for n in range(12)]
    for request in requests:
        scheduler.add(request)
    for plan, _emissions in steps(scheduler):
        parts = plan.cost.dense_s, plan.cost.attention_s, plan.cost.launch_s
        assert all(part > 0 for part in parts) and plan.cost.total_s < 10
    assert scheduler.counters.generated_tok == 12 * 40 and scheduler.pool.used == 0
    layout = scheduler.cost.layout
    memory = layout.weight_bytes + layout.n_blocks * layout.block_bytes + params.hardware.gpu.reserve_bytes
    assert memory <= params.gpu_memory_utilization * params.hardware.gpu.memory_bytes


def test_a_dense_model_has_its_name_s_weights_and_no_state() -> None:
    params = load_params(PARAMS_DIR / "dense.yaml")
    cost = CostModel(params)
    assert cost.weights.total == pytest.approx(8.03e9, rel=0.01)
    assert (params.block_size, cost.layout.state_groups, cost.state_bytes_per_seq) == (16, 0, 0)
    assert cost.kv_bytes_per_tok == 128 * 1024
    assert cost.layout.most_blocks(160) == 10


def test_acceptance_by_position_is_what_comes_out() -> None:
    rates = (0.8, 0.5, 0.1)
    changes = {"num_speculative_tokens": 3, "acceptance_length": 1.0, "acceptance_rates": rates}
    params = load_params().model_copy(update=changes)
    assert at_least(params) == list(rates)
    scheduler = Scheduler(params, seed=4)
    for n in range(64):
        scheduler.add(request_of(str(n), [n] * 8, [7] * 600, params.block_size))
    for _plan, _emissions in steps(scheduler):
        pass
    counters = scheduler.counters
    seen = [accepted / counters.drafts for accepted in counters.per_pos]
    assert seen == pytest.approx(rates, abs=0.02)
    assert sum(counters.per_pos) == counters.accepted
