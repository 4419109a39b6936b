"""How long a step of the engine takes: a roofline for each kind of kernel, plus what the host adds.

Bytes and FLOPs follow from the model's shape and the step's batch; only the efficiencies and the fixed overheads are
parameters (params/*.yaml names the source of each). Nothing here depends on what the answer should be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.engine.embedded.config import EngineParams, Shape

STATE_BYTES = {"float32": 4, "float16": 2}


@dataclass(slots=True)
class StepWork:
    """What one step computes. Tokens are whole numbers, but a slowed-down prefill counts its tokens more than once.

    prefill_tok: prompt tokens; prefill_pairs: sum over them of the context each attends to; prefill_context_tok: KV
    entries that the prefill chunks read; prefill_seqs: chunks; prefill_done: chunks that end their prompt.
    decode_seqs: sequences that decode (1 + drafts tokens each); decode_context_tok: sum of their context lengths.
    """

    prefill_tok: float = 0.0
    prefill_pairs: float = 0.0
    prefill_context_tok: float = 0.0
    prefill_seqs: int = 0
    prefill_done: int = 0
    decode_seqs: int = 0
    decode_context_tok: int = 0


@dataclass(frozen=True, slots=True)
class StepCost:
    """Seconds. GPU parts run one after the other; host_s adds to them (synchronous) or hides behind them (async)."""

    dense_s: float
    experts_s: float
    attention_s: float
    state_s: float
    sampling_s: float
    drafts_s: float
    launch_s: float
    host_s: float
    total_s: float


NO_COST = StepCost(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Weights:
    """Parameter counts of a shape, by how a step reads them."""

    mamba: int
    attention: int
    shared: int
    expert: int  # one expert of one layer
    lm_head: int
    total: int

    @classmethod
    def of(cls, shape: Shape) -> Weights:
        inner = shape.mamba_heads * shape.mamba_head_dim
        grouped = 2 * shape.mamba_groups * shape.mamba_state
        mamba = shape.hidden * (2 * inner + grouped + shape.mamba_heads) + inner * shape.hidden
        queries = shape.attention_heads * shape.head_dim
        keys = shape.kv_heads * shape.head_dim
        attention = shape.hidden * (2 * queries + 2 * keys)
        expert = 2 * shape.hidden * shape.expert_hidden
        shared = 2 * shape.hidden * shape.shared_expert_hidden + shape.hidden * shape.experts
        lm_head = shape.hidden * shape.vocab
        n_m, n_e, n_a = (shape.layers.count(kind) for kind in "ME*")
        total = n_m * mamba + n_a * attention + n_e * (shared + shape.experts * expert) + 2 * lm_head
        return cls(n_m * mamba, n_a * attention, n_e * shared, expert, lm_head, total)


class CostModel:
    """Seconds of a step under one engine configuration; see StepWork for what goes in."""

    def __init__(self, params: EngineParams) -> None:
        hardware = params.hardware
        shape, eff, gpu = hardware.model, hardware.efficiency, hardware.gpu
        self.params = params
        self.shape = shape
        self.weights = Weights.of(shape)
        self.drafts = params.num_speculative_tokens
        self.kv_bytes_per_tok = shape.layers.count("*") * 2 * shape.kv_heads * shape.head_dim * shape.kv_bytes
        inner = shape.mamba_heads * shape.mamba_head_dim
        conv = (inner + 2 * shape.mamba_groups * shape.mamba_state) * (shape.mamba_conv - 1) * shape.weight_bytes
        ssm = inner * shape.mamba_state * STATE_BYTES[params.mamba_ssm_cache_dtype]
        self.state_bytes_per_seq = shape.layers.count("M") * (ssm + conv)
        self._bandwidth = gpu.bandwidth_bytes_per_s
        self._state_rate: float = self._bandwidth * getattr(eff.state_bandwidth, params.mamba_backend)
        # chunked scan: scores and outputs inside a chunk, then the chunk's state in and out
        within = 2 * shape.mamba_chunk * (shape.mamba_groups * shape.mamba_state + inner)
        self._scan_flops_per_tok = shape.layers.count("M") * (within + 4 * inner * shape.mamba_state)

    def kv_blocks(self) -> int:
        """Blocks of `block_size` tokens that fit beside weights, activations and the recurrent state of max_num_seqs
        sequences (1 + drafts states each, one more with prefix caching, as vLLM keeps them)."""
        params, gpu = self.params, self.params.hardware.gpu
        if params.num_gpu_blocks is not None:
            return params.num_gpu_blocks
        states = params.max_num_seqs * (1 + self.drafts + params.enable_prefix_caching)
        weight_bytes = self.weights.total * self.shape.weight_bytes
        free = gpu.memory_bytes * params.gpu_memory_utilization - gpu.reserve_bytes - weight_bytes
        free -= states * self.state_bytes_per_seq
        return max(0, int(free // (self.kv_bytes_per_tok * params.block_size)))

    def distinct_experts(self, tokens: float) -> float:
        """Expected number of a layer's experts that `tokens` tokens touch, each choosing independently."""
        share = self.shape.experts_per_tok / self.shape.experts
        return self.shape.experts * (1.0 - math.pow(1.0 - share, tokens))

    def step(self, work: StepWork) -> StepCost:
        decode_tok = work.decode_seqs * (1 + self.drafts)
        tokens = work.prefill_tok + decode_tok
        rows = decode_tok + work.prefill_done
        dense_s = self._dense_s(tokens, rows)
        experts_s = self._experts_s(self.shape.layers.count("E"), tokens)
        attention_s = self._attention_s(work)
        state_s = self._state_s(work)
        sampling_s = self._sampling_s(rows, self.params.hardware.step.sample_passes)
        drafts_s = self._drafts_s(tokens, work.decode_seqs + work.prefill_done, work)
        launch_s = self.params.hardware.step.launch_s
        gpu_s = dense_s + experts_s + attention_s + state_s + sampling_s + drafts_s + launch_s
        host = self.params.hardware.host
        seqs = work.decode_seqs + work.prefill_seqs
        host_s = host.base_s + seqs * host.per_seq_s + work.decode_seqs * self.drafts * host.per_draft_s
        total_s = max(gpu_s, host_s) if self.params.async_scheduling else gpu_s + host_s
        return StepCost(dense_s, experts_s, attention_s, state_s, sampling_s, drafts_s, launch_s, host_s, total_s)

    def _dense_s(self, tokens: float, rows: float) -> float:
        eff, w = self.params.hardware.efficiency, self.weights
        body = w.mamba + w.attention + w.shared
        read = (body + w.lm_head) * self.shape.weight_bytes / (self._bandwidth * eff.dense_bandwidth)
        flops = 2.0 * (tokens * body + rows * w.lm_head)
        return max(read, flops / (self.params.hardware.gpu.flops_per_s * eff.dense_flops))

    def _experts_s(self, layers: int, tokens: float) -> float:
        eff, shape = self.params.hardware.efficiency, self.shape
        expert = self.weights.expert
        read = layers * self.distinct_experts(tokens) * expert * shape.weight_bytes
        flops = 2.0 * layers * tokens * shape.experts_per_tok * expert
        return max(
            read / (self._bandwidth * eff.expert_bandwidth),
            flops / (self.params.hardware.gpu.flops_per_s * eff.expert_flops),
        )

    def _attention_s(self, work: StepWork) -> float:
        eff, shape = self.params.hardware.efficiency, self.shape
        context_tok = work.prefill_context_tok + work.decode_context_tok
        read_s = context_tok * self.kv_bytes_per_tok / (self._bandwidth * eff.kv_bandwidth)
        pairs = work.prefill_pairs + work.decode_context_tok * (1 + self.drafts)
        flops = 4.0 * pairs * shape.attention_heads * shape.head_dim * shape.layers.count("*")
        return max(read_s, flops / (self.params.hardware.gpu.flops_per_s * eff.attention_flops))

    def _state_s(self, work: StepWork) -> float:
        """Decode reads a sequence's state once and writes one for each token that may be accepted; a prefill chunk
        reads and writes it once around its scan."""
        moves = work.decode_seqs * (2 + self.drafts) + work.prefill_seqs * 2
        scan_rate = self.params.hardware.gpu.flops_per_s * self.params.hardware.efficiency.scan_flops
        return moves * self.state_bytes_per_seq / self._state_rate + work.prefill_tok * (
            self._scan_flops_per_tok / scan_rate
        )

    def _sampling_s(self, rows: float, passes: float) -> float:
        eff = self.params.hardware.efficiency
        return rows * self.shape.vocab * 4 * passes / (self._bandwidth * eff.dense_bandwidth)

    def _drafts_s(self, tokens: float, seqs: int, work: StepWork) -> float:
        """The first draft pass runs over all the step's tokens, each later one over a token a sequence."""
        if not self.drafts:
            return 0.0
        eff, shape, hardware = self.params.hardware.efficiency, self.shape, self.params.hardware
        n_a, n_e = shape.draft_layers.count("*"), shape.draft_layers.count("E")
        queries, keys = shape.attention_heads * shape.head_dim, shape.kv_heads * shape.head_dim
        body = n_a * shape.hidden * 2 * (queries + keys) + 2 * shape.hidden * shape.hidden
        body += n_e * 2 * shape.hidden * shape.shared_expert_hidden
        later = StepWork(decode_seqs=work.decode_seqs, decode_context_tok=work.decode_context_tok)
        total: float = 0.0
        for each in range(self.drafts):
            n = tokens if each == 0 else float(seqs)
            read = (body + self.weights.lm_head) * shape.weight_bytes / (self._bandwidth * eff.dense_bandwidth)
            flops = 2.0 * (n * body + seqs * self.weights.lm_head)
            total += max(read, flops / (hardware.gpu.flops_per_s * eff.dense_flops))
            total += self._experts_s(n_e, n)
            total += self._attention_s(work if each == 0 else later) * n_a / max(1, shape.layers.count("*"))
            total += self._sampling_s(seqs, 1.0) + hardware.step.draft_launch_s
        return total
