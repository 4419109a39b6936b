"""Which flags a vLLM has, from its own help, and what is refused before a start."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from fake_vllm import HELP
from hypothesis import given
from hypothesis import strategies as st
from serving_cases import config_file

from simulator.engine.serving.bounds import COUNTS, SHARE, out_of_bounds, whole
from simulator.engine.serving.config import MODELS, SHIPPED, load_config
from simulator.engine.serving.flags import installation, parse_help, unknown
from simulator.engine.serving.impossible import Case, doubts, outside, refusals, version_of
from simulator.engine.serving.ladder_file import load_ladder
from simulator.engine.serving.life import started
from simulator.engine.serving.memory import estimate
from simulator.engine.serving.prepare import prepare
from simulator.engine.serving.settings import Value
from simulator.errors import UsageError


def test_a_help_page_is_read() -> None:
    found = parse_help(HELP)
    assert found["async-scheduling"] is None and "no-async-scheduling" not in found
    assert found["mamba-cache-mode"] == ["align", "none"] and found["served-model-name"] is None
    assert found["tool-call-parser"] is None  # others may be registered
    assert "mamba-cache-all" not in found and "api-server-count" in found  # a word of an explanation is no flag
    assert parse_help("Traceback: no help") == {}


async def test_flags_are_asked_of_the_installation_once(tmp_path: Path) -> None:
    config = load_config(
        config_file(tmp_path, "args: {max-num-seq: 4, mamba-cache-mode: all, gpu-memory-utilisation: 1}")
    )
    there = await installation(config, os.environ, tmp_path / "cache")
    assert there.version == ""  # no vLLM in this Python, and none is guessed
    told = unknown(config.args, there)
    assert told[0] == "this vLLM has no flag --max-num-seq; did you mean max-num-seqs?"
    assert (
        told[1] == "--mamba-cache-mode all: this vLLM takes align, none"
        and "did you mean gpu-memory-utilization" in told[2]
    )
    [kept] = (tmp_path / "cache/vllm-flags").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"max-num-seqs", b"max-num-sets"))
    again = await installation(config, os.environ, tmp_path / "cache")
    assert "max-num-sets" in again.flags
    kept.write_text("torn")
    assert (await installation(config, os.environ, tmp_path / "cache")).flags == there.flags


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("max-num-seqs: -3", "max-num-seqs is `-3`; it is a whole number from 1 on, such as 256"),
        ("max-model-len: 1.5", "max-model-len is `1.5`; it is a whole number"),
        ("max-model-len: banana", "max-model-len is `banana`"),
        ("max-num-batched-tokens: true", "max-num-batched-tokens is `True`"),
        ("tensor-parallel-size: 0", "tensor-parallel-size is `0`"),
        ("gpu-memory-utilization: 9", "gpu-memory-utilization is `9`; it is a share of the GPU's memory above 0"),
        ("gpu-memory-utilization: lots", "gpu-memory-utilization is `lots`"),
        ("gpu-memory-utilization: 0", "gpu-memory-utilization is `0`"),
        ("speculative-config: {num_speculative_tokens: few}", "num_speculative_tokens is `few`"),
        # only vLLM's own parser knows; this one takes no suffix
        ("max-model-len: 4k", "--max-model-len is refused: invalid human_readable_int value: '4k'; correct it in"),
        ("max-model-len: 4096", None),
        ("gpu-memory-utilization: '0.9'", None),
    ],
)
async def test_values_are_checked_before_a_start(tmp_path: Path, args: str, words: str | None) -> None:
    config = load_config(config_file(tmp_path, f"args: {{{args}}}"))
    for mib in (None, [80_000]):
        before = await prepare(config, {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, [], mib, parse=True)
        assert [words in each for each in before.refused] == ([True] if words else []), before.refused
        assert before.memory is None or words is None


@given(st.integers() | st.floats() | st.text(max_size=6) | st.booleans() | st.none() | st.lists(st.integers()))
def test_what_is_within_bounds_can_be_estimated(value: Any) -> None:
    shape = json.loads((MODELS / "nano-9b-v2/config.json").read_text())
    for name in (*COUNTS, SHARE):
        if not out_of_bounds({name: value}):
            assert estimate(shape, {name: value}, [80_000]) is not None
    drafting: dict[str, Value] = {"speculative-config": {"num_speculative_tokens": value}}
    refusals(case(drafting))


@pytest.mark.parametrize(
    ("text", "number"),
    [("32k", 32_000), ("32K", 32_768), ("25.6k", 25_600), ("1.5K", None), ("1M", 1 << 20), ("7", 7), ("auto", None)],
)
def test_whole_numbers_are_read_as_vllm_reads_them(text: str, number: int | None) -> None:
    assert whole(text) == number


async def test_a_refused_configuration_is_never_started(tmp_path: Path) -> None:
    config, log = load_config(config_file(tmp_path, "args: {max-num-seq: 4, max-model-len: 100000}")), tmp_path / "log"
    with pytest.raises(
        UsageError, match=r"(?s)has no flag --max-num-seq;.*max-model-len 100,000 is more than the model's"
    ):
        async with started(config, log=log):
            pass
    assert not log.exists()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda model: (model / "tokenizer.json").unlink(), "has no tokenizer; put tokenizer.json there, or say"),
        (lambda model: (model / "config.json").unlink(), "has no config.json, so it is no model"),
        (lambda model: (model / "config.json").write_text("{"), "config.json cannot be read as JSON"),
        (lambda model: model.rename(model.with_name("moved")), "model.path .* is not there; correct the path"),
    ],
)
async def test_a_model_that_cannot_be_served_is_told(tmp_path: Path, spoil: Any, words: str) -> None:
    config = load_config(config_file(tmp_path))
    spoil(tmp_path / "model")
    with pytest.raises(UsageError, match=words):
        await prepare(config, os.environ, [])


HYBRID = {"hybrid_override_pattern": "M*-", "max_position_embeddings": 131_072, "num_nextn_predict_layers": 1}
DRAFTS = {"method": "mtp", "num_speculative_tokens": 3}
SYNTHETIC = DRAFTS | {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": 2.8}
ROUNDING = {"enable-mamba-cache-stochastic-rounding": True, "mamba-ssm-cache-dtype": "float16"}


def case(args: dict[str, Value], **changes: Any) -> Case:
    usual = {"env": {}, "version": None, "cpu": False, "shape": HYBRID, "capability": (9, 0), "n_gpus": 1}
    return Case(args, **(usual | changes))


@pytest.mark.parametrize(
    ("args", "changes", "words"),
    [
        (ROUNDING, {}, "needs compute capability 10 and this GPU has 9.0; say `mamba-backend: flashinfer`"),
        (ROUNDING, {"capability": (10, 0)}, None),
        (ROUNDING, {"capability": None}, None),
        (ROUNDING | {"mamba-backend": "flashinfer"}, {}, None),
        (ROUNDING | {"mamba-backend": "flashinfer", "mamba-ssm-cache-dtype": "float32"}, {}, "of a float16 state"),
        ({"use-replayssm": True, "mamba-backend": "flashinfer"}, {}, "with flashinfer needs prefix caching off"),
        (
            {"use-replayssm": True, "speculative-config": DRAFTS, "enable-prefix-caching": False}, {},
            "with drafts needs `mamba-backend: flashinfer`",
        ),
        ({"use-replayssm": True, "mamba-backend": "flashinfer", "enable-prefix-caching": False}, {}, None),
        ({"use-replayssm": True}, {}, None),
        ({"mamba-cache-mode": "all"}, {"version": version_of("0.33.0")}, "is ignored since vLLM 0.33"),
        ({"mamba-cache-mode": "all"}, {"version": version_of("0.25.1")}, None),
        ({"mamba-cache-mode": "align"}, {"version": version_of("0.33.0")}, None),
        ({"mamba-cache-mode": "align", "enable-prefix-caching": False}, {}, "without prefix caching no state is kept"),
        ({"mamba-block-size": 64, "enable-prefix-caching": False}, {}, "mamba-block-size needs prefix caching"),
        ({"mamba-ssu-algorithm": "simple"}, {}, "is of the flashinfer backend"),
        ({"speculative-config": DRAFTS}, {"shape": {"hidden_size": 1}}, "MTP needs `num_nextn_predict_layers`"),
        ({"speculative-config": DRAFTS}, {"shape": {}}, None),
        ({"speculative-config": SYNTHETIC}, {}, "a synthetic acceptance is for random weights"),
        ({"speculative-config": SYNTHETIC, "load-format": "dummy"}, {}, None),
        (
            {"speculative-config": SYNTHETIC | {"num_speculative_tokens": 1}, "load-format": "dummy"}, {},
            "2.8 lies outside 1 to 2, for 1 drafts",
        ),
        ({"speculative-config": DRAFTS, "enable-trace-replay": True}, {}, "refuses speculative decoding"),
        ({"max-model-len": 131_073}, {}, "131,073 is more than the model's 131,072"),
        ({"max-model-len": 131_073}, {"env": {"VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1"}}, None),
        (
            {"max-num-batched-tokens": 256, "max-num-seqs": 128, "speculative-config": DRAFTS}, {},
            "is less than a step of",
        ),
        ({"tensor-parallel-size": 2}, {}, "it wants 2 GPUs and may use 1"),
        ({"tensor-parallel-size": 2}, {"n_gpus": None}, None),
        ({"enable-auto-tool-choice": True}, {}, "needs a tool-call-parser"),
        (
            {"mamba-backend": "flashinfer", "async-scheduling": True}, {"cpu": True},
            "has no FlashInfer, asynchronous sch",
        ),
        ({"async-scheduling": False, "enable-prefix-caching": True}, {"cpu": True}, None),
    ],
)  # fmt: skip
def test_what_is_impossible(args: dict[str, Value], changes: dict[str, Any], words: str | None) -> None:
    told = refusals(case(args, **changes))
    assert [words in each for each in told] == ([True] if words else []), told


@pytest.mark.parametrize(
    ("version", "wanted", "fits"),
    [
        ("0.25.1", ">=0.25,<0.34", True), ("0.32.0rc1.dev190+g1", ">=0.25,<0.34", True),
        ("0.34.0", ">=0.25,<0.34", False),
        ("0.32.0+cpu", ">=0.25,<0.30", False), ("", ">=9", True), ("nightly", ">=9", True), ("0.1", "", True),
    ],
)  # fmt: skip
def test_versions(version: str, wanted: str, fits: bool) -> None:
    assert (outside(version_of(version), wanted) == "") is fits


@pytest.mark.parametrize("ladder", ["ladder", "one_factor", "lossy"])
def test_what_is_shipped_is_possible_on_a_hopper_gpu(ladder: str) -> None:
    shape = load_config("top", {}).model.shape
    assert shape is not None
    for config in load_ladder(SHIPPED / f"{ladder}.yaml", {}).rungs:
        found = case(dict(config.args), env=config.env, version=version_of("0.25.1"), shape={**HYBRID, "x": shape})
        assert refusals(found) == doubts(found) == [], config.name


def test_what_may_mislead_is_said() -> None:
    told = doubts(case({"load-format": "dummy", "speculative-config": DRAFTS}))
    assert [each.split()[0] for each in told] == [
        "random",
        "enable-prefix-caching",
        "async-scheduling",
        "OMP_NUM_THREADS",
    ]
