"""What a configuration needs of a GPU's memory, estimated from the model's config.json before anything is started: the
weights, each sequence's state and KV, the blocks that are left, and how many sequences fit. Pure.

The layout is the embedded engine's (embedded/memory.py). Not known before a start: what activations and CUDA graphs
take, so RESERVE is one figure for all; docs/serving.md has the errors against measured starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.engine.embedded.config import BLOCK_TOK
from simulator.engine.embedded.cost import Weights
from simulator.engine.embedded.memory import Layout, kv_bytes_per_tok, page_tok, state_bytes
from simulator.engine.embedded.settings import Shape
from simulator.engine.serving.bounds import AUTO, SHARE, drafts, whole
from simulator.engine.serving.settings import Value

#: activations and CUDA graphs at 8,192 batched tokens, measured on one H200
RESERVE = 3_020_000_000
#: vLLM's default
UTILISATION, MAX_NUM_SEQS = 0.92, 1_024
MIB, GIB = 1 << 20, 1 << 30
#: where how many sequences fit is told: the end of a 512/512 request, an agent in mid-session, and the longest
CONTEXTS = (1_024, 50_000)
_BYTES = {
    "fp8": 1.0,
    "fp8_e4m3": 1.0,
    "fp8_e5m2": 1.0,
    "bfloat16": 2.0,
    "float16": 2.0,
    "half": 2.0,
    "auto": 2.0,
    "float32": 4.0,
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes, blocks and tokens. total_bytes: of all GPUs, as far as the engine may use them. seqs: (context in tokens,
    sequences of it that fit). copies: states that a running sequence holds."""

    total_bytes: int
    weight_bytes: int
    kv_bytes: int
    n_blocks: int
    block_tok: int
    state_bytes: int
    copies: int
    kv_tok_bytes: int
    seqs: tuple[tuple[int, int], ...]
    max_num_seqs: int
    max_model_len: int

    def lacks(self) -> str:
        """Why it cannot start, "" when it can."""
        need, have = self.weight_bytes / GIB, self.total_bytes / GIB
        if self.weight_bytes + RESERVE >= self.total_bytes:
            return (
                f"the weights take {need:.1f} GiB and the engine may use {have:.1f} GiB of the GPU; use a larger GPU, "
                "a smaller model, more GPUs (tensor-parallel-size), or quantization"
            )
        if not self.seqs[-1][1]:
            return (
                f"{self.kv_bytes / GIB:.1f} GiB are left for the KV cache and not one sequence of "
                f"{self.max_model_len:,} tokens fits; lower max-model-len"
            )
        return ""

    def short(self) -> str:
        """A sentence when max_num_seqs cannot be held even at short contexts, else ""."""
        context, fits = self.seqs[0]
        if fits >= self.max_num_seqs:
            return ""
        return (
            f"max-num-seqs is {self.max_num_seqs} and only about {fits} sequences of {context:,} tokens fit (the state "
            f"of one takes {self.copies} x {self.state_bytes / MIB:.0f} MiB): the batch will be limited by memory"
        )


def estimate(config: Mapping[str, Any], args: Mapping[str, Value], memory_mib: Sequence[int]) -> Estimate | None:
    """config: the model's config.json; args: the engine's flags, within their bounds; memory_mib: of each GPU that is
    used. None for a model whose shape is not understood."""
    shape = shape_of(config, args)
    if shape is None:
        return None
    gpus = max(1, len(memory_mib))
    drafted = drafts(args)
    weight_bytes = int(parameters(shape, config, drafted) * shape.weight_bytes)
    share = args.get(SHARE)
    total = int(sum(memory_mib) * MIB * (float(share) if isinstance(share, int | float | str) else UTILISATION))
    dtype = _dtype(config, args)
    caching = args.get("enable-prefix-caching") is not False
    mode = str(args.get("mamba-cache-mode") or "align") if caching else "none"
    tokens = page_tok(shape, dtype, mode) if "M" in shape.layers else BLOCK_TOK
    free = max(0, total - RESERVE * gpus - weight_bytes)
    laid = Layout.laid(
        shape, drafts=drafted, dtype=dtype, mode=mode, block_tok=tokens, weight_bytes=weight_bytes, free_bytes=free
    )
    stated = args.get("max-model-len")
    longest = (None if stated in AUTO else whole(stated)) or _int(config.get("max_position_embeddings")) or 4_096
    contexts = [*(each for each in CONTEXTS if each < longest), longest]
    return Estimate(
        total_bytes=total,
        weight_bytes=weight_bytes,
        kv_bytes=free,
        n_blocks=laid.n_blocks,
        block_tok=tokens,
        state_bytes=int(shape.layers.count("M") * state_bytes(shape, dtype)) if "M" in shape.layers else 0,
        copies=(1 if mode == "none" else 2) + drafted if "M" in shape.layers else 0,
        kv_tok_bytes=int(shape.layers.count("*") * kv_bytes_per_tok(shape)),
        seqs=tuple((each, laid.n_blocks // laid.most_blocks(each)) for each in contexts),
        max_num_seqs=whole(args.get("max-num-seqs")) or MAX_NUM_SEQS,
        max_model_len=longest,
    )


def parameters(shape: Shape, config: Mapping[str, Any], drafts: int) -> int:
    """Of the whole model, the draft's layers included when there are drafts. Experts that work in a smaller space
    (`moe_latent_size`) have matrices of that size, and two more a layer lead there and back."""
    weights = Weights.of(shape)
    layers = shape.layers.count("E")
    total = weights.total
    expert, latent = weights.expert, _int(config.get("moe_latent_size"))
    if latent:
        expert = expert // shape.hidden * latent
        total += layers * (shape.experts * (expert - weights.expert) + 2 * shape.hidden * latent)
    if config.get("tie_word_embeddings"):
        total -= weights.lm_head
    if drafts and shape.draft_layers:
        queries, keys = shape.attention_heads * shape.head_dim, shape.kv_heads * shape.head_dim
        total += shape.draft_layers.count("*") * shape.hidden * 2 * (queries + keys) + 2 * shape.hidden**2
        total += shape.draft_layers.count("E") * (
            shape.experts * expert + 2 * shape.hidden * shape.shared_expert_hidden
        )
    return total


def shape_of(config: Mapping[str, Any], args: Mapping[str, Value]) -> Shape | None:
    """The shape in a config.json of a NemotronH hybrid, or of a dense or mixture-of-experts transformer with gated
    MLPs; None for others."""
    kv = _BYTES.get(str(args.get("kv-cache-dtype") or "auto"), 2.0)
    weight = 1.0 if args.get("quantization") == "fp8" else _BYTES.get(str(args.get("dtype") or "auto"), 2.0)
    heads, hidden = _int(config.get("num_attention_heads")), _int(config.get("hidden_size"))
    if not heads or not hidden or not config.get("vocab_size"):
        return None
    common = {
        "hidden": hidden,
        "vocab": config["vocab_size"],
        "attention_heads": heads,
        "kv_heads": config.get("num_key_value_heads") or heads,
        "head_dim": config.get("head_dim") or hidden // heads,
        "weight_bytes": weight,
        "kv_bytes": kv,
    }
    pattern = config.get("hybrid_override_pattern")
    parts = _hybrid(config) if isinstance(pattern, str) else _transformer(config)
    if parts is None:
        return None
    try:
        return Shape.model_validate(common | parts)
    except ValueError:
        return None


def _hybrid(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "layers": config["hybrid_override_pattern"],
        "draft_layers": config.get("mtp_hybrid_override_pattern") or "",
        "mamba_heads": config.get("mamba_num_heads") or 0,
        "mamba_head_dim": config.get("mamba_head_dim") or 0,
        "mamba_groups": config.get("n_groups") or 0,
        "mamba_state": config.get("ssm_state_size") or 0,
        "mamba_conv": config.get("conv_kernel") or 0,
        "mamba_chunk": config.get("chunk_size") or 0,
        "experts": config.get("n_routed_experts") or 0,
        "experts_per_tok": config.get("num_experts_per_tok") or 0,
        "expert_hidden": config.get("moe_intermediate_size") or 0,
        "shared_expert_hidden": config.get("moe_shared_expert_intermediate_size") or 0,
        "mlp_hidden": config.get("intermediate_size") or 0,
    }


#: keys of models that keep something else than keys and values in all layers
OTHER_CACHES = {"kv_lora_rank", "linear_num_key_heads", "ssm_state_size"}


def _transformer(config: Mapping[str, Any]) -> dict[str, Any] | None:
    layers, experts = (
        _int(config.get("num_hidden_layers")),
        _int(config.get("num_experts") or config.get("num_local_experts")),
    )
    kinds = set(config.get("layer_types") or ())
    if not layers or OTHER_CACHES & config.keys() or kinds > {"full_attention"}:
        return None
    return {
        "layers": ("*E" if experts else "*-") * layers,
        "experts": experts or 0,
        "experts_per_tok": config.get("num_experts_per_tok") or 0,
        "expert_hidden": config.get("moe_intermediate_size") or config.get("intermediate_size") or 0,
        "mlp_hidden": config.get("intermediate_size") or 0,
        "gated": True,
    }


def _dtype(config: Mapping[str, Any], args: Mapping[str, Value]) -> str:
    stated = args.get("mamba-ssm-cache-dtype")
    found = str(stated if stated not in (None, "auto") else config.get("mamba_ssm_cache_dtype") or "float32")
    return "float32" if found == "float32" else "float16"


def _int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
