"""The two YAML files of the embedded engine: engine settings (vLLM's names) and, named there, GPU and model figures."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simulator.errors import UsageError

PARAMS_DIR = Path(__file__).resolve().parent.parent / "params"
DEFAULT_PARAMS = PARAMS_DIR / "top.yaml"

Share = Annotated[float, Field(gt=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class FileModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Gpu(FileModel):
    memory_bytes: Count
    reserve_bytes: int = Field(ge=0)
    bandwidth_bytes_per_s: Positive
    flops_per_s: Positive


class Shape(FileModel):
    """A hybrid's shape, as in its config.json. layers: M mamba, E experts, * attention, one letter a layer."""

    layers: str = Field(pattern=r"^[ME*]+$")
    draft_layers: str = Field(pattern=r"^[E*]*$")
    hidden: Count
    vocab: Count
    attention_heads: Count
    kv_heads: Count
    head_dim: Count
    mamba_heads: Count
    mamba_head_dim: Count
    mamba_groups: Count
    mamba_state: Count
    mamba_conv: Count
    mamba_chunk: Count
    experts: Count
    experts_per_tok: Count
    expert_hidden: Count
    shared_expert_hidden: Count
    weight_bytes: Positive
    kv_bytes: Positive


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
    launch_s: NotNegative
    draft_launch_s: NotNegative
    sample_passes: NotNegative


class Host(FileModel):
    base_s: NotNegative
    per_seq_s: NotNegative
    per_draft_s: NotNegative


class FrontEndCosts(FileModel):
    """CPU seconds of an API process: see frontend.py. redecode_s_per_prompt_tok: what a token that cannot be decoded
    alone costs for each token of its prompt."""

    per_request_s: NotNegative
    tokenise_s_per_tok: NotNegative
    per_chunk_s: NotNegative
    detokenise_s_per_tok: NotNegative
    redecode_s_per_prompt_tok: NotNegative


class Hardware(FileModel):
    name: str
    gpu: Gpu
    model: Shape
    efficiency: Efficiency
    step: StepOverhead
    host: Host
    front_end: FrontEndCosts


class Reply(FileModel):
    """Length of a reply without a forced length: log-normal, tokens."""

    median_tok: Count
    sigma: NotNegative
    max_tok: Count


class EngineParams(FileModel):
    """vLLM's flags, by vLLM's names. num_gpu_blocks: None derives it from the GPU's memory. undecodable_share: of the
    generated tokens, those that an incremental detokeniser cannot decode alone, as with random weights."""

    hardware: Hardware
    model: str
    max_model_len: Count
    max_num_seqs: Count
    max_num_batched_tokens: Count
    block_size: Count
    enable_prefix_caching: bool
    gpu_memory_utilization: Share
    async_scheduling: bool
    num_speculative_tokens: int = Field(ge=0, le=16)
    acceptance_length: float = Field(ge=1)
    mamba_backend: Literal["triton", "flashinfer"]
    mamba_ssm_cache_dtype: Literal["float32", "float16"]
    reply: Reply
    api_server_count: Count = 1
    undecodable_share: float = Field(default=0.0, ge=0, le=1)
    num_gpu_blocks: Count | None = None
    faults: str | None = None


def load_params(path: Path | None = None) -> EngineParams:
    """Reads engine settings and the hardware file that they name (relative to the settings' folder, else to the
    shipped ones). Raises UsageError that names the file and key."""
    path = path or DEFAULT_PARAMS
    raw = read_yaml(path)
    named = raw.get("hardware")
    if not isinstance(named, str):
        raise UsageError(f"{path}: 'hardware' must name a hardware file, such as h200_30b_a3b.yaml")
    beside = path.parent / named
    hardware_path = beside if beside.exists() else PARAMS_DIR / named
    raw["hardware"] = validate(Hardware, read_yaml(hardware_path), hardware_path)
    params = validate(EngineParams, raw, path)
    if params.acceptance_length > params.num_speculative_tokens + 1:
        raise UsageError(
            f"{path}: acceptance_length {params.acceptance_length} is more than {params.num_speculative_tokens} drafts "
            "and the one certain token can give; lower it or raise num_speculative_tokens"
        )
    if params.max_num_batched_tokens < params.max_num_seqs * (1 + params.num_speculative_tokens):
        raise UsageError(
            f"{path}: max_num_batched_tokens {params.max_num_batched_tokens} is less than one decode step of "
            f"max_num_seqs x (1 + drafts); raise it or lower max_num_seqs"
        )
    return params


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(path.read_text())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(raw, dict):
        raise UsageError(f"{path}: must be a mapping of keys to values")
    return raw


Model = TypeVar("Model", bound=FileModel)


def validate(model: type[Model], raw: dict[str, Any], path: Path) -> Model:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise UsageError(f"{path}: {_first_fault(model, error)}") from None


def _first_fault(model: type[BaseModel], error: ValidationError) -> str:
    # a misspelt key is also a missing one: tell the misspelling
    fault = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "missing":
        return f"key '{where}' is missing"
    if fault["type"] != "extra_forbidden":
        return f"'{where}': {fault['msg'][0].lower()}{fault['msg'][1:]}"
    fields: Any = model
    for part in fault["loc"][:-1]:
        annotation = fields.model_fields[part].annotation if isinstance(part, str) and fields else None
        fields = annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    near = difflib.get_close_matches(str(fault["loc"][-1]), fields.model_fields if fields else [], n=1)
    return f"unknown key '{where}'" + (f", did you mean '{near[0]}'?" if near else "")
