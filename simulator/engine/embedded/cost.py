"""How long a step of the engine takes: a roofline for each kind of kernel, plus what the host adds.

Bytes and FLOPs follow from the model's shape and the step's batch; only the efficiencies and the fixed overheads are
parameters (params/*.yaml names the source of each). Nothing here depends on what the answer should be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.engine.embedded.memory import Layout, kv_bytes_per_tok, state_bytes
from simulator.engine.embedded.settings import EngineParams, Shape


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
    """Seconds. GPU parts run one after the other; host_s adds to them (synchronous) or hides behind them (async). A
    step without a recorded graph is no faster than it is launched."""

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
    mlp: int
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
        matrices = 3 if shape.gated else 2
        expert = matrices * shape.hidden * shape.expert_hidden
        mlp = matrices * shape.hidden * shape.mlp_hidden
        shared = matrices * shape.hidden * shape.shared_expert_hidden + shape.hidden * shape.experts
        lm_head = shape.hidden * shape.vocab
        n_m, n_e, n_a, n_d = (shape.layers.count(kind) for kind in "ME*-")
        total = n_m * mamba + n_a * attention + n_d * mlp + n_e * (shared + shape.experts * expert) + 2 * lm_head
        return cls(n_m * mamba, n_a * attention, n_d * mlp, n_e * shared, expert, lm_head, total)


class CostModel:
    """Seconds of a step under one engine configuration; see StepWork for what goes in."""

    def __init__(self, params: EngineParams) -> None:
        hardware = params.hardware
        shape, eff, gpu = hardware.model, hardware.efficiency, hardware.gpu
        self.params = params
        self.shape = shape
        self.weights = w = Weights.of(shape)
        self.drafts = params.num_speculative_tokens
        self._draft_body, self._draft_experts = self._draft_weights(), shape.draft_layers.count("E")
        drafting = self._draft_body + self._draft_experts * shape.experts * w.expert if self.drafts else 0
        self.layout = Layout.of(params, w.total + drafting)
        self.kv_bytes_per_tok = shape.layers.count("*") * kv_bytes_per_tok(shape)
        self.state_bytes_per_seq = shape.layers.count("M") * state_bytes(shape, params.mamba_ssm_cache_dtype)
        # what a step needs of all this, as seconds of one unit of work
        bandwidth, flops = gpu.bandwidth_bytes_per_s, gpu.flops_per_s
        self._n_experts = shape.layers.count("E")
        self._in_use = max(shape.experts_per_tok, shape.experts * hardware.step.experts_in_use)
        self._untouched = 1.0 - shape.experts_per_tok / self._in_use if shape.experts else 1.0
        self._dense_byte_s = shape.weight_bytes / (bandwidth * eff.dense_bandwidth)
        self._dense_flop_s = 2.0 / (flops * eff.dense_flops)
        self._body = w.mamba + w.attention + w.mlp + w.shared
        self._expert_read_s = w.expert * shape.weight_bytes / (bandwidth * eff.expert_bandwidth)
        self._expert_tok_s = 2.0 * shape.experts_per_tok * w.expert / (flops * eff.expert_flops)
        self._kv_tok_s = self.kv_bytes_per_tok / (bandwidth * eff.kv_bandwidth)
        n_a = shape.layers.count("*")
        self._pair_s = 4.0 * shape.attention_heads * shape.head_dim * n_a / (flops * eff.attention_flops)
        self._state_move_s = self.state_bytes_per_seq / (bandwidth * getattr(eff.state_bandwidth, params.mamba_backend))
        # chunked scan: scores and outputs inside a chunk, then the chunk's state in and out
        inner = shape.mamba_heads * shape.mamba_head_dim
        within = 2 * shape.mamba_chunk * (shape.mamba_groups * shape.mamba_state + inner)
        scan_flops = shape.layers.count("M") * (within + 4 * inner * shape.mamba_state)
        self._scan_tok_s = scan_flops / (flops * eff.scan_flops)
        self._row_s = shape.vocab * 4 / (bandwidth * eff.dense_bandwidth)
        self._draft_attention = shape.draft_layers.count("*") / n_a

    def _draft_weights(self) -> int:
        """Of one draft pass, without its experts and the head: attention, the projection of two hidden states, MLPs."""
        shape = self.shape
        queries, keys = shape.attention_heads * shape.head_dim, shape.kv_heads * shape.head_dim
        body = shape.draft_layers.count("*") * shape.hidden * 2 * (queries + keys) + 2 * shape.hidden * shape.hidden
        matrices = 3 if shape.gated else 2
        body += shape.draft_layers.count("E") * matrices * shape.hidden * shape.shared_expert_hidden
        return body + shape.draft_layers.count("-") * matrices * shape.hidden * shape.mlp_hidden

    def kv_blocks(self) -> int:
        """Blocks of the pool that sequences' KV pages and recurrent states share."""
        return self.layout.n_blocks

    def distinct_experts(self, tokens: float) -> float:
        """Expected number of a layer's experts that `tokens` tokens touch, each choosing freely among those in use."""
        return self._in_use * (1.0 - math.pow(self._untouched, tokens))

    def step(self, work: StepWork) -> StepCost:
        step, host = self.params.hardware.step, self.params.hardware.host
        decode_tok = work.decode_seqs * (1 + self.drafts)
        tokens = work.prefill_tok + decode_tok
        rows = decode_tok + work.prefill_done
        dense_s = self._dense_s(self._body, tokens, rows)
        experts_s = self._experts_s(self._n_experts, tokens)
        context_tok = work.prefill_context_tok + work.decode_context_tok
        pairs = work.prefill_pairs + work.decode_context_tok * (1 + self.drafts)
        attention_s = max(context_tok * self._kv_tok_s, pairs * self._pair_s)
        # decode reads a sequence's state once and writes one for each token that may be accepted; a prefill chunk reads
        # and writes it once around its scan
        moves = work.decode_seqs * (2 + self.drafts) + work.prefill_seqs * 2
        state_s = moves * self._state_move_s + work.prefill_tok * self._scan_tok_s
        sampling_s = rows * self._row_s * step.sample_passes
        drafts_s = self._drafts_s(tokens, work, attention_s) if self.drafts else 0.0
        gpu_s = dense_s + experts_s + attention_s + state_s + sampling_s + drafts_s + step.launch_s
        seqs = work.decode_seqs + work.prefill_seqs
        host_s = host.base_s + seqs * host.per_seq_s
        if self.drafts:
            host_s += work.decode_seqs * (host.per_drafting_seq_s + self.drafts * host.per_draft_s)
        total_s = max(gpu_s, host_s) if self.params.async_scheduling else gpu_s + host_s
        total_s = max(total_s, self._launched_s(tokens, work))
        return StepCost(dense_s, experts_s, attention_s, state_s, sampling_s, drafts_s, step.launch_s, host_s, total_s)

    def _launched_s(self, tokens: float, work: StepWork) -> float:
        """The least that a step takes which no recorded graph holds: its kernels are launched one by one, few of them
        are long, and the thread that launches them is the host's, so that nothing hides its work. Later draft passes
        are of a token a sequence, and replay graphs in any case."""
        step = self.params.hardware.step
        if work.prefill_seqs:
            return step.prefill_launch_s + (step.prefill_draft_launch_s if self.drafts else 0.0)
        return step.prefill_launch_s if tokens > (self.params.max_cudagraph_capture_size or step.graph_tok) else 0.0

    def _dense_s(self, body: int, tokens: float, rows: float) -> float:
        head = self.weights.lm_head
        return max((body + head) * self._dense_byte_s, (tokens * body + rows * head) * self._dense_flop_s)

    def _experts_s(self, layers: int, tokens: float) -> float:
        if not layers:
            return 0.0
        return layers * max(self.distinct_experts(tokens) * self._expert_read_s, tokens * self._expert_tok_s)

    def _drafts_s(self, tokens: float, work: StepWork, attention_s: float) -> float:
        """The first draft pass runs over all the step's tokens, each later one over a token a sequence."""
        seqs = work.decode_seqs + work.prefill_done
        later = work.decode_context_tok
        later_attention_s = max(later * self._kv_tok_s, later * (1 + self.drafts) * self._pair_s)
        every_s = seqs * self._row_s
        first_s = self._dense_s(self._draft_body, tokens, seqs) + self._experts_s(self._draft_experts, tokens)
        first_s += self.params.hardware.step.draft_launch_s
        first_s += attention_s * self._draft_attention
        if self.drafts == 1:
            return first_s + every_s
        later_s = self._dense_s(self._draft_body, seqs, seqs) + self._experts_s(self._draft_experts, seqs)
        later_s += later_attention_s * self._draft_attention
        return first_s + (self.drafts - 1) * later_s + self.drafts * every_s
