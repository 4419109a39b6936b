"""The model held against what real engines gave, and every shipped settings file at work."""

from __future__ import annotations

from pathlib import Path

import pytest
from virtual import request_of, steps

from simulator.engine.embedded.calibrate import compare, main, shipped
from simulator.engine.embedded.config import PARAMS_DIR, load_hardware, load_params, read_extended
from simulator.engine.embedded.cost import CostModel
from simulator.engine.embedded.drafts import at_least
from simulator.engine.embedded.scheduler import Scheduler

SETTINGS = sorted(path.name for path in PARAMS_DIR.glob("*.yaml") if "hardware" in read_extended(path))


def test_figures_that_were_fitted_to_still_come_out() -> None:
    fitted = [each for each in compare(load_hardware(PARAMS_DIR / "h200_30b_a3b.yaml")) if each.measured.fitted]
    assert [each.measured.output_tok_s for each in fitted] == [7_700, 13_500]
    for each in fitted:
        assert abs(each.error) < 0.03, each


def test_the_command_shows_every_figure_with_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.count("EMULATED") == len(shipped()) == 3
    assert out.count("fitted to") == 2 and out.count("not fitted") == 6 and "nothing of this file" in out
    assert out.count("%") >= 4


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
