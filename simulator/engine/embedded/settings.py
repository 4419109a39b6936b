"""What the two YAML files of the embedded engine hold: engine settings (vLLM's names) and, named there, GPU and model
figures. config.py reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from simulator.engine.embedded.brain.rates import Rates
from simulator.engine.embedded.filemodel import FileModel

PARAMS_DIR = Path(__file__).resolve().parent.parent / "params"
DEFAULT_PARAMS = PARAMS_DIR / "top.yaml"

#: of the KV cache; each is an entry of a table, some 150 bytes
MOST_BLOCKS = 2_000_000

Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
#: no count of a file may take all memory; these bounds lie far above what is built or served
Count = Annotated[int, Field(ge=1, le=10_000_000)]
CountOrZero = Annotated[int, Field(ge=0, le=10_000_000)]
Seqs = Annotated[int, Field(ge=1, le=65_536)]
Blocks = Annotated[int, Field(ge=1, le=MOST_BLOCKS)]
Processes = Annotated[int, Field(ge=1, le=256)]
Bytes = Annotated[int, Field(ge=0, le=1 << 44)]
#: bytes of a number
Width = Annotated[float, Field(ge=0.1, le=16)]


class Gpu(FileModel):
    memory_bytes: Annotated[Bytes, Field(ge=1)]
    reserve_bytes: Bytes
    bandwidth_bytes_per_s: Positive
    flops_per_s: Positive


class Shape(FileModel):
    """A model's shape, as in its config.json. layers: M mamba, E experts, * attention, - dense MLP, one letter a layer;
    what a kind of layer needs may be left out where there is none of it. draft_layers: of one draft pass. gated:
    experts and MLPs have three matrices, not two."""

    layers: str = Field(pattern=r"^[ME*-]+$", max_length=1_000)
    draft_layers: str = Field(default="", pattern=r"^[E*-]*$", max_length=100)
    hidden: Count
    vocab: Count
    attention_heads: Count
    kv_heads: Count
    head_dim: Count
    mamba_heads: CountOrZero = 0
    mamba_head_dim: CountOrZero = 0
    mamba_groups: CountOrZero = 0
    mamba_state: CountOrZero = 0
    mamba_conv: CountOrZero = 0
    mamba_chunk: CountOrZero = 0
    experts: CountOrZero = 0
    experts_per_tok: CountOrZero = 0
    expert_hidden: CountOrZero = 0
    shared_expert_hidden: CountOrZero = 0
    mlp_hidden: CountOrZero = 0
    gated: bool = False
    weight_bytes: Width
    kv_bytes: Width

    @model_validator(mode="after")
    def _has_what_its_layers_need(self) -> Shape:
        needed = {
            "M": ("mamba_heads", "mamba_head_dim", "mamba_groups", "mamba_state", "mamba_conv", "mamba_chunk"),
            "E": ("experts", "experts_per_tok", "expert_hidden"),
            "-": ("mlp_hidden",),
        }
        for kind, names in needed.items():
            missing = [name for name in names if not getattr(self, name)]
            if kind in self.layers + self.draft_layers and missing:
                raise ValueError(f"layers of kind '{kind}' need {', '.join(missing)}")
        if "*" not in self.layers:
            raise ValueError("a model without an attention layer ('*') cannot be emulated")
        return self


class StateBandwidth(FileModel):
    triton: Share
    flashinfer: Share


class Efficiency(FileModel):
    dense_bandwidth: Share
    expert_bandwidth: Share
    kv_bandwidth: Share
    dense_flops: Share
    expert_flops: Share
    attention_flops: Share
    scan_flops: Share
    state_bandwidth: StateBandwidth


class StepOverhead(FileModel):
    """launch_s: gaps in a replayed CUDA graph. prefill_launch_s: the least that a step takes which no graph holds, as
    it has a prefill or more than graph_tok tokens; prefill_draft_launch_s: more where prefills meet drafts.
    draft_launch_s: gaps of the first draft pass and its preparation; later ones replay graphs. experts_in_use: share of
    a layer's experts that routers choose from; random ones choose from few."""

    launch_s: NotNegative
    prefill_launch_s: NotNegative = 0.0
    prefill_draft_launch_s: NotNegative = 0.0
    graph_tok: Count = 512
    experts_in_use: Share = 1.0
    draft_launch_s: NotNegative
    sample_passes: NotNegative


class Host(FileModel):
    """CPU seconds of the engine's process in a step: base_s, for each scheduled sequence, more for one that drafts, and
    for each of its drafts."""

    base_s: NotNegative
    per_seq_s: NotNegative
    per_drafting_seq_s: NotNegative = 0.0
    per_draft_s: NotNegative


class FrontEndCosts(FileModel):
    """CPU seconds of an API process: see frontend.py. delay_s: what a request waits for on its way without occupying
    the process (hand-overs between threads and processes). redecode_s_per_prompt_tok: what a token that cannot be
    decoded alone costs for each token of its prompt."""

    delay_s: NotNegative = 0.0

    per_request_s: NotNegative
    tokenise_s_per_tok: NotNegative
    per_chunk_s: NotNegative
    detokenise_s_per_tok: NotNegative
    redecode_s_per_prompt_tok: NotNegative


class Measured(FileModel):
    """Figures that a real engine gave, to hold the model against, of one of two kinds of traffic: a closed loop of
    `at_once` requests, two a place, each prompt_tok in and output_tok out, cached_share of a prompt known to the engine
    beforehand; or `agents`, a file of turns (traffic.py), of which the window_s after all slots had their first replies
    count, or the first tokens of these (window_from), as the client had it.

    output_tok_s: output tokens a second. The other figures, where known, are medians of the requests; front_end_s:
    first token at the client less the engine's own TTFT; later_cached_share: of the prompt tokens of turns that follow
    one; histories_s: from the first request until all slots had their first tokens.

    engine: the settings file; changes: of its keys, those that were other. fitted: this hardware file's values were
    chosen so that these figures come out, so they prove nothing but that they still do.
    """

    name: str
    engine: str
    changes: dict[str, int | float | bool | str | list[float]] = Field(default={})
    agents: str | None = None
    window_s: Positive | None = None
    window_from: Literal["replies", "first tokens"] = "replies"
    prompt_tok: Count | None = None
    output_tok: Count | None = None
    at_once: Seqs | None = None
    cached_share: float = Field(default=0.0, ge=0, lt=1)
    output_tok_s: Positive
    ttft_s: Positive | None = None
    tpot_s: Positive | None = None
    turn_s: Positive | None = None
    front_end_s: Positive | None = None
    later_cached_share: Annotated[float, Field(gt=0, le=1)] | None = None
    histories_s: Positive | None = None
    fitted: bool
    source: str

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Measured:
        sizes = (self.prompt_tok, self.output_tok, self.at_once)
        if (self.agents is None) != all(sizes) or (self.agents is None) != (self.window_s is None):
            raise ValueError("give either prompt_tok, output_tok and at_once, or agents and window_s")
        return self


class Hardware(FileModel):
    name: str
    gpu: Gpu
    model: Shape
    efficiency: Efficiency
    step: StepOverhead
    host: Host
    front_end: FrontEndCosts
    calibration: tuple[Measured, ...] = ()


class Reply(FileModel):
    """Length of a reply without a forced length: log-normal, tokens."""

    median_tok: Count
    sigma: Annotated[float, Field(ge=0, le=10)]
    max_tok: Count


class EngineParams(FileModel):
    """vLLM's flags, by vLLM's names. num_gpu_blocks: None derives it from the GPU's memory. max_cudagraph_capture_size:
    tokens of the largest step that a graph is recorded for; None: the hardware's graph_tok.

    block_size: tokens of an attention page. A hybrid derives it (memory.py), so its file leaves it out; elsewhere 16.
    mamba_cache_mode: which recurrent states prefix caching keeps (cache.py). acceptance_rates: share of draft rounds
    that accept the first, the second... draft, each counted over all rounds, as vLLM reports acceptance by position; in
    place of acceptance_length, the mean tokens of a round. undecodable_share: of the generated tokens, those that an
    incremental detokeniser cannot decode alone, as with random weights. oracle: the mistakes of the oracle, where the
    engine has one (docs/oracle.md).
    """

    hardware: Hardware
    model: str
    max_model_len: Count
    max_num_seqs: Seqs
    max_num_batched_tokens: Count
    block_size: Count
    enable_prefix_caching: bool
    gpu_memory_utilization: Share
    async_scheduling: bool
    num_speculative_tokens: int = Field(ge=0, le=16)
    acceptance_length: float = Field(default=1.0, ge=1)
    acceptance_rates: tuple[Annotated[float, Field(ge=0, le=1)], ...] = ()
    mamba_backend: Literal["triton", "flashinfer"] = "triton"
    mamba_ssm_cache_dtype: Literal["float32", "float16"] = "float32"
    mamba_cache_mode: Literal["none", "align", "all"] = "align"
    reply: Reply
    api_server_count: Processes = 1
    undecodable_share: float = Field(default=0.0, ge=0, le=1)
    num_gpu_blocks: Blocks | None = None
    max_cudagraph_capture_size: Count | None = None
    faults: str | None = None
    oracle: Rates | None = None

    @model_serializer(mode="wrap")
    def _told(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without keys that came later where nothing is set, so that what older runs told of an engine is still the
        same."""
        told: dict[str, Any] = handler(self)
        for name in ("oracle", "max_cudagraph_capture_size"):
            if getattr(self, name) is None:
                told.pop(name, None)
        return told
