"""What cannot work together, or would measure nothing, said before a start that takes minutes. Pure.

Read in the source of vLLM 0.25.1, 0.32.0 and 0.33.0, or measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from simulator.engine.serving.bounds import drafts, whole
from simulator.engine.serving.settings import Value

HOPPER, BLACKWELL = 9, 10


@dataclass(frozen=True, slots=True)
class Case:
    """What is about to be started. version: None when it is not known; shape: the model's config.json, empty when it
    is not at hand; capability: of the GPU, None without one; n_gpus: that it may use, None when that is not known."""

    args: Mapping[str, Value]
    env: Mapping[str, str]
    version: Version | None
    cpu: bool
    shape: Mapping[str, Any]
    capability: tuple[int, int] | None
    n_gpus: int | None

    def on(self, name: str) -> bool:
        return bool(self.args.get(name))

    @property
    def flashinfer(self) -> bool:
        return self.args.get("mamba-backend") == "flashinfer"

    @property
    def drafting(self) -> Mapping[str, Any]:
        found = self.args.get("speculative-config")
        return found if isinstance(found, dict) else {}

    @property
    def drafts(self) -> int:
        return drafts(self.args)

    def number(self, name: str) -> int | None:
        return whole(self.args.get(name))


def refusals(case: Case) -> list[str]:
    """A sentence for each reason not to start."""
    return [text for rule in RULES for text in rule(case)]


def version_of(text: str | None) -> Version | None:
    try:
        return Version(text or "")
    except InvalidVersion:
        return None


def outside(version: Version | None, wanted: str) -> str:
    """A sentence when a version is not one that a configuration is meant for, else ""."""
    if version is None or not wanted or SpecifierSet(wanted).contains(version, prereleases=True):
        return ""
    return f"it is meant for vLLM {wanted} and this is {version}; state another range in `vllm`, or install one of it"


def _rounding(case: Case) -> Iterator[str]:
    if not case.on("enable-mamba-cache-stochastic-rounding"):
        return
    dtype = case.args.get("mamba-ssm-cache-dtype")
    if dtype != "float16":
        yield (
            f"stochastic rounding is of a float16 state, and mamba-ssm-cache-dtype is {dtype or 'not stated'}; say "
            "float16, or leave enable-mamba-cache-stochastic-rounding out"
        )
    if case.capability is not None and case.capability[0] < BLACKWELL and not case.flashinfer:
        yield (
            "stochastic rounding with the triton backend needs compute capability 10 and this GPU has "
            f"{case.capability[0]}.{case.capability[1]}; say `mamba-backend: flashinfer`"
        )


def _replay(case: Case) -> Iterator[str]:
    if not case.on("use-replayssm"):
        return
    caching = case.args.get("enable-prefix-caching") is not False
    if case.drafts and not case.flashinfer:
        yield "use-replayssm with drafts needs `mamba-backend: flashinfer`; say so, or leave one of the two out"
    if caching and (case.flashinfer or case.drafts):
        what = "drafts" if case.drafts else "flashinfer"
        yield f"use-replayssm with {what} needs prefix caching off; say `enable-prefix-caching: false`"


def _cache_mode(case: Case) -> Iterator[str]:
    mode = case.args.get("mamba-cache-mode")
    if case.version is not None and case.version >= Version("0.33.dev0") and mode not in (None, "align"):
        yield f"mamba-cache-mode {mode} is ignored since vLLM 0.33, so it would measure align; use 0.25 for `all`"
    if case.args.get("enable-prefix-caching") is False:
        if mode not in (None, "none"):
            yield f"without prefix caching no state is kept, and mamba-cache-mode {mode} is ignored; set it to null"
        if case.args.get("mamba-block-size") is not None:
            yield "mamba-block-size needs prefix caching; set one of the two to null"


def _algorithm(case: Case) -> Iterator[str]:
    if case.args.get("mamba-ssu-algorithm") is not None and not case.flashinfer:
        yield "mamba-ssu-algorithm is of the flashinfer backend; say `mamba-backend: flashinfer`, or leave it out"


def _drafts(case: Case) -> Iterator[str]:
    if not case.drafts:
        return
    layers = case.shape.get("num_nextn_predict_layers")
    if case.drafting.get("method") == "mtp" and case.shape and not layers:
        yield "MTP needs `num_nextn_predict_layers` in the model's config.json, and it has none; serve without drafts"
    synthetic = case.drafting.get("rejection_sample_method") == "synthetic"
    if synthetic and case.args.get("load-format") != "dummy":
        yield (
            "a synthetic acceptance is for random weights; with real ones set `rejection_sample_method` and "
            "`synthetic_acceptance_length` to null"
        )
    length = case.drafting.get("synthetic_acceptance_length")
    if isinstance(length, int | float) and not 1 <= length <= case.drafts + 1:
        yield f"synthetic_acceptance_length {length:g} lies outside 1 to {case.drafts + 1}, for {case.drafts} drafts"
    if case.on("enable-trace-replay"):
        yield "enable-trace-replay refuses speculative decoding; set speculative-config to null"


def _sizes(case: Case) -> Iterator[str]:
    window, most = case.number("max-model-len"), case.shape.get("max_position_embeddings")
    if window and isinstance(most, int) and window > most and case.env.get("VLLM_ALLOW_LONG_MAX_MODEL_LEN") != "1":
        yield f"max-model-len {window:,} is more than the model's {most:,}; lower it"
    batch, seqs = case.number("max-num-batched-tokens"), case.number("max-num-seqs")
    if batch and seqs and batch < seqs * (1 + case.drafts):
        yield (
            f"max-num-batched-tokens {batch:,} is less than a step of max-num-seqs {seqs:,} with {case.drafts} drafts; "
            "raise it or lower max-num-seqs"
        )
    world = 1
    for kind in ("tensor", "pipeline", "data"):
        world *= case.number(f"{kind}-parallel-size") or 1
    if case.n_gpus and world > case.n_gpus:
        yield f"it wants {world} GPUs and may use {case.n_gpus}; see CUDA_VISIBLE_DEVICES and tensor-parallel-size"
    if case.on("enable-auto-tool-choice") and not case.args.get("tool-call-parser"):
        yield "enable-auto-tool-choice needs a tool-call-parser; name the model's, for example hermes"


def _on_cpu(case: Case) -> Iterator[str]:
    if not case.cpu:
        return
    wanted = {
        "FlashInfer": case.flashinfer,
        "asynchronous scheduling (it is switched off)": case.on("async-scheduling"),
        "ReplaySSM": case.on("use-replayssm"),
        "stochastic rounding": case.on("enable-mamba-cache-stochastic-rounding"),
        "expert layers": "E" in str(case.shape.get("hybrid_override_pattern", "")),
        "MTP with prefix caching": bool(case.drafts) and case.args.get("enable-prefix-caching") is not False,
    }
    missing = [name for name, asked in wanted.items() if asked]
    if missing:
        yield f"the CPU build of vLLM has no {', '.join(missing)}; leave that out, or use a GPU"


RULES: tuple[Callable[[Case], Iterator[str]], ...] = (
    _rounding, _replay, _cache_mode, _algorithm, _drafts, _sizes, _on_cpu,
)  # fmt: skip


def doubts(case: Case) -> list[str]:
    """What works and may mislead."""
    out = []
    random = case.args.get("load-format") == "dummy"
    if random and case.drafts and case.drafting.get("rejection_sample_method") != "synthetic":
        out.append(
            "random weights accept no draft: state `rejection_sample_method: synthetic` and an acceptance length"
        )
    if "enable-prefix-caching" not in case.args:
        out.append(
            "enable-prefix-caching is not stated; its default differs between versions and decides agent traffic"
        )
    if "async-scheduling" not in case.args and not case.cpu:
        out.append("async-scheduling is not stated; it is on by default since vLLM 0.32 and off before")
    if "OMP_NUM_THREADS" not in case.env:
        out.append("OMP_NUM_THREADS is not stated; vLLM 0.32 and later take one thread, earlier ones all cores")
    return out
