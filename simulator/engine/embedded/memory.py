"""What a model keeps of a sequence on the GPU, and how many blocks of it fit: vLLM's layout for hybrids.

All layers share one pool of equal blocks. A block is one page for each layer of a group, and groups are as large as
there are attention layers: the attention layers are one group, the mamba layers `state_groups` of them (the last one
padded). A page must hold either `block_tok` tokens of one attention layer's KV or one mamba layer's recurrent state, so
the attention page is padded until the state fits: on hybrids a block is a thousand tokens and more.

Modelled: the draft's attention layers belong to the group; a sequence's state takes a block of each state group for
each copy that it holds. Not modelled: the rows that drafts add to the convolution's state, models with fewer mamba than
attention layers whose groups vLLM would make smaller, CUDA graphs by size (gpu.reserve_bytes is one figure for all).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.engine.embedded.settings import MOST_BLOCKS, EngineParams, Shape
from simulator.errors import UsageError

STATE_BYTES = {"float32": 4, "float16": 2}
#: of a number of the convolution's state, at least
CONV_BYTES = 2.0
#: tokens that attention kernels want a page to be a multiple of
KERNEL_TOK = 16


def state_bytes(shape: Shape, dtype: str) -> float:
    """Bytes of one mamba layer's recurrent state of one sequence: the SSM's in `dtype`, the convolution's in the format
    of the model, 16 bits at least also where its weights are quantised."""
    inner = shape.mamba_heads * shape.mamba_head_dim
    rows = (inner + 2 * shape.mamba_groups * shape.mamba_state) * (shape.mamba_conv - 1)
    return inner * shape.mamba_state * STATE_BYTES[dtype] + rows * max(CONV_BYTES, shape.weight_bytes)


def kv_bytes_per_tok(shape: Shape) -> float:
    """Bytes of one attention layer's keys and values of one token."""
    return 2 * shape.kv_heads * shape.head_dim * shape.kv_bytes


def page_tok(shape: Shape, dtype: str, mode: str) -> int:
    """Tokens of a hybrid's attention page: the fewest whose KV is no smaller than a state, in whole kernel blocks; in
    mode `all` in whole chunks of the scan, whose ends are where it saves states."""
    unit = math.lcm(KERNEL_TOK, shape.mamba_chunk) if mode == "all" else KERNEL_TOK
    return math.ceil(state_bytes(shape, dtype) / kv_bytes_per_tok(shape) / unit) * unit


@dataclass(frozen=True, slots=True)
class Layout:
    """Blocks and bytes. state_groups: blocks of one state copy, 0 without mamba layers. live_blocks: states that a
    running sequence holds whatever its length: the running one and one for each draft. mode: which states are kept
    beyond that: none, the last one saved (align), one at each block boundary (all)."""

    block_tok: int
    block_bytes: int
    n_blocks: int
    state_groups: int
    live_blocks: int
    mode: str
    weight_bytes: int
    free_bytes: int

    @classmethod
    def of(cls, params: EngineParams, n_parameters: int) -> Layout:
        gpu = params.hardware.gpu
        weight_bytes = int(n_parameters * params.hardware.model.weight_bytes)
        free_bytes = max(0, int(gpu.memory_bytes * params.gpu_memory_utilization) - gpu.reserve_bytes - weight_bytes)
        laid = cls.laid(
            params.hardware.model,
            drafts=params.num_speculative_tokens,
            dtype=params.mamba_ssm_cache_dtype,
            mode=params.mamba_cache_mode if params.enable_prefix_caching else "none",
            block_tok=params.block_size,
            weight_bytes=weight_bytes,
            free_bytes=free_bytes,
            n_blocks=params.num_gpu_blocks,
        )
        if laid.n_blocks > MOST_BLOCKS:
            raise UsageError(
                f"KV cache of {laid.n_blocks:,} blocks of {laid.block_tok} tokens; at most {MOST_BLOCKS:,} are "
                "emulated: raise block_size, or set num_gpu_blocks"
            )
        return laid

    @classmethod
    def laid(
        cls, shape: Shape, *, drafts: int, dtype: str, mode: str, block_tok: int, weight_bytes: int, free_bytes: int,
        n_blocks: int | None = None,
    ) -> Layout:  # fmt: skip
        """dtype: of the SSM's state. mode: "none" without prefix caching. n_blocks: None for what fits in
        free_bytes."""
        group = shape.layers.count("*") + (shape.draft_layers.count("*") if drafts else 0)
        mamba = shape.layers.count("M")
        page_bytes = block_tok * kv_bytes_per_tok(shape)
        if mamba:
            page_bytes = max(page_bytes, state_bytes(shape, dtype))
        groups = -(-mamba // group)
        mode = mode if mamba else "none"
        block_bytes = int(page_bytes * group)
        n_blocks = n_blocks or free_bytes // block_bytes
        return cls(
            block_tok=block_tok,
            block_bytes=block_bytes,
            n_blocks=n_blocks,
            state_groups=groups,
            live_blocks=groups * (drafts if mode == "all" else 1 + drafts),
            mode=mode,
            weight_bytes=weight_bytes,
            free_bytes=free_bytes,
        )

    def most_blocks(self, tok: int) -> int:
        """Blocks that one sequence of `tok` tokens holds at most: (1 + drafts) states without prefix caching, one more
        with it, and in mode `all` one for each block of tokens."""
        kv_blocks = -(-tok // self.block_tok)
        kept = {"none": 0, "align": 1, "all": kv_blocks}[self.mode]
        return kv_blocks + self.live_blocks + kept * self.state_groups

    def kv_cache_tok(self, max_model_len: int) -> int:
        """What vLLM calls the size of its KV cache: how many of the longest requests fit, times their length."""
        return int(self.n_blocks / self.most_blocks(max_model_len) * max_model_len)
