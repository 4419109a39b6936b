"""The estimate of memory against what is known: state sizes, and blocks that vLLM 0.25.1 had on one H200."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.engine.serving.config import MODELS, SHIPPED, load_config
from simulator.engine.serving.ladder_file import load_ladder
from simulator.engine.serving.memory import GIB, Estimate, estimate, parameters, shape_of

REPORTS = SHIPPED.parent / "reports/h200_random_weights"
H200_MIB = 143_771


def model(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((MODELS / name / "config.json").read_text())
    return found


def of(name: str, mib: int = H200_MIB, **flags: Any) -> Estimate:
    found = estimate(model(name), {key.replace("_", "-"): value for key, value in flags.items()}, [mib])
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "dtype", "drafts", "off_gib", "on_gib"),
    [
        ("nano-9b-v2", "float32", 0, 34, 68), ("nano-9b-v2", "float32", 3, 135, 169),
        ("nano-9b-v2", "float16", 1, 34, 51),
        ("nano-30b-a3b", "float32", 0, 12, 23), ("nano-30b-a3b", "float32", 1, 23, 35),
        ("nano-30b-a3b", "float32", 3, 46, 58), ("nano-30b-a3b", "float16", 1, 12, 17),
        ("super-120b-a12b", "float32", 0, 40, 80), ("super-120b-a12b", "float16", 3, 80, 100),
    ],
)  # fmt: skip
def test_state_of_256_sequences(name: str, dtype: str, drafts: int, off_gib: int, on_gib: int) -> None:
    for caching, expected in ((False, off_gib), (True, on_gib)):
        found = of(name, enable_prefix_caching=caching, mamba_ssm_cache_dtype=dtype,
                   speculative_config={"num_speculative_tokens": drafts})  # fmt: skip
        assert found.copies * found.state_bytes * 256 / GIB == pytest.approx(expected, rel=0.05, abs=1)


@pytest.mark.parametrize(("name", "billions", "kv_kib"), [
    ("nano-9b-v2", 8.9, 16), ("nano-30b-a3b", 31.6, 6), ("super-120b-a12b", 120.7, 8)
])  # fmt: skip
def test_parameters_and_kv(name: str, billions: float, kv_kib: int) -> None:
    shape = shape_of(model(name), {})
    assert shape is not None
    assert parameters(shape, model(name), 0) / 1e9 == pytest.approx(billions, rel=0.01)
    assert of(name).kv_tok_bytes == kv_kib * 1024


@pytest.mark.parametrize(
    ("run", "config"),
    [
        ("baseline", "baseline"), ("top", "top"), ("top_4_api", "one_factor:top-4-api"),
        ("top_4_api_all", "one_factor:top-cache-all"),
    ],
)  # fmt: skip
def test_blocks_are_those_that_were_measured(run: str, config: str) -> None:
    measured = json.loads((REPORTS / run / "manifest.json").read_text())["engine"]["cache_config"]
    found = estimate(model("lightning-30b-a3b"), load_config(config, {}).args, [H200_MIB])
    assert found is not None and found.block_tok == int(measured["block_size"])
    assert found.n_blocks == pytest.approx(int(measured["num_gpu_blocks"]), rel=0.01)
    assert found.seqs[-1] == (131_072, int(float(measured["kv_cache_max_concurrency"])))
    assert found.lacks() == found.short() == ""


def test_a_gpu_that_is_too_small_is_told() -> None:
    top = load_config("top", {}).args
    small, tight, narrow = (estimate(model("lightning-30b-a3b"), top, [mib]) for mib in (49_140, 72_000, 81_559))
    assert small is not None and tight is not None and narrow is not None
    assert "the weights take 61.3 GiB and the engine may use 44.1 GiB of the GPU" in small.lacks()
    assert "not one sequence of 131,072 tokens fits; lower max-model-len" in tight.lacks()
    assert narrow.lacks() == "" and "max-num-seqs is 256 and only about" in narrow.short()
    two = estimate(model("lightning-30b-a3b"), {**top, "tensor-parallel-size": 2}, [49_140, 49_140])
    assert two is not None and two.lacks() == ""


def test_the_ladder_s_last_rungs_make_room() -> None:
    room = {}
    for config in load_ladder(SHIPPED / "ladder.yaml", {}).rungs:
        found = estimate(model("lightning-30b-a3b"), config.args, [81_559])
        assert found is not None
        room[config.name] = found.seqs[0][1]
    assert room["baseline"] > room["mtp1"] > room["mtp3"] and room["top"] > room["mtp1"]


def test_fp8_weights_leave_the_state_and_fp8_keys_double_the_block() -> None:
    shape = model("lightning-30b-a3b")
    found = {r.name: estimate(shape, r.args, [H200_MIB]) for r in load_ladder(SHIPPED / "lossy.yaml", {}).rungs}
    top, weights, keys = (found[name] for name in ("top", "top-fp8-weights", "top-fp8-kv"))
    assert top is not None and weights is not None and keys is not None
    assert weights.weight_bytes * 2 == pytest.approx(top.weight_bytes, rel=0.001)
    assert (weights.state_bytes, weights.block_tok) == (top.state_bytes, top.block_tok)
    assert keys.block_tok == pytest.approx(2 * top.block_tok, rel=0.02), "a block is as large as a state"


LLAMA = {
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072,
}  # fmt: skip


def test_transformers_too() -> None:
    found = estimate(LLAMA, {}, [H200_MIB])
    assert found is not None and found.copies == found.state_bytes == 0 and found.block_tok == 16
    assert found.weight_bytes / 2e9 == pytest.approx(8.03, rel=0.01) and found.kv_tok_bytes == 131072
    halved = estimate(LLAMA, {"kv-cache-dtype": "fp8"}, [H200_MIB])
    assert halved is not None and halved.n_blocks == pytest.approx(2 * found.n_blocks, rel=0.001)
    experts = shape_of({**LLAMA, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 14336}, {})
    assert experts is not None and parameters(experts, LLAMA, 0) / 1e9 == pytest.approx(47, rel=0.02)
    for other in ({}, {"hidden_size": 8}, {**LLAMA, "kv_lora_rank": 512}, {**LLAMA, "num_hidden_layers": "x"},
                  {**LLAMA, "layer_types": ["full_attention", "linear_attention"]}):  # fmt: skip
        assert estimate(other, {}, [H200_MIB]) is None
