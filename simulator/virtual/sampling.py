"""What /metrics would tell of the engines at a moment, out of the schedulers' own counters."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.core.record import EngineSample
from simulator.virtual.replica import Replica

SAMPLE_S = 1.0
#: gauges that are one engine's, so that several are not added up
_LARGEST = ("vllm:kv_cache_usage_perc", "embedded:front_end_backlog_seconds")


def sample(now_s: float, replicas: Sequence[Replica]) -> EngineSample:
    """Sums over the engines; of the KV cache's use and the front end's backlog, the largest."""
    return EngineSample(now_s, total([_values(now_s, each) for each in replicas]))


class Samples:
    """Of `engines` engines, each with a clock of its own, as they come: summed by moment."""

    def __init__(self, engines: int) -> None:
        self._engines = engines
        self._count: dict[float, int] = {}
        self._values: dict[float, dict[str, float]] = {}

    def add(self, one: EngineSample) -> None:
        """One engine's; all engines take theirs at the same moments."""
        old = self._values.get(one.t_s)
        self._values[one.t_s] = one.values if old is None else total([old, one.values])
        self._count[one.t_s] = self._count.get(one.t_s, 0) + 1

    def whole(self) -> list[EngineSample]:
        """In order of time; moments that an interrupt kept from some engines are left out."""
        return [
            EngineSample(t_s, values)
            for t_s, values in sorted(self._values.items(), key=lambda item: item[0])
            if self._count[t_s] == self._engines
        ]


def total(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for values in parts:
        for name, value in values.items():
            old = found.get(name, 0.0)
            found[name] = max(old, value) if name in _LARGEST else old + value
    return found


def merged(shards: Sequence[Sequence[EngineSample]]) -> list[EngineSample]:
    """Samples of several groups of engines, taken at the same moments; a group that has ended keeps its last ones."""
    moments = sorted({s.t_s for samples in shards for s in samples})
    at, found = [0] * len(shards), []
    for now_s in moments:
        parts = []
        for n, samples in enumerate(shards):
            while at[n] + 1 < len(samples) and samples[at[n] + 1].t_s <= now_s:
                at[n] += 1
            if samples and samples[at[n]].t_s <= now_s:
                parts.append(samples[at[n]].values)
        found.append(EngineSample(now_s, total(parts)))
    return found


def _values(now_s: float, replica: Replica) -> dict[str, float]:
    scheduler, c = replica.scheduler, replica.scheduler.counters
    values: dict[str, float] = {
        "vllm:num_requests_running": len(scheduler.running),
        "vllm:num_requests_waiting": len(scheduler.waiting),
        "vllm:kv_cache_usage_perc": scheduler.pool.used / scheduler.pool.n_blocks,
        "vllm:prompt_tokens_total": c.prompt_tok,
        "vllm:prompt_tokens_cached_total": c.hit_tok,
        "vllm:generation_tokens_total": c.generated_tok,
        "vllm:prefix_cache_queries_total": c.queried_tok,
        "vllm:prefix_cache_hits_total": c.hit_tok,
        "vllm:num_preemptions_total": c.preemptions,
        "vllm:request_success_total": replica.finished + replica.aborted,
        "vllm:iteration_tokens_total_count": c.telling_steps,
        "vllm:iteration_tokens_total_sum": c.generated_tok + c.prefilled_tok,
        "vllm:inter_token_latency_seconds_count": c.gaps,
        "vllm:inter_token_latency_seconds_sum": c.gaps_s,
        "vllm:time_to_first_token_seconds_count": replica.answered,
        "vllm:time_to_first_token_seconds_sum": replica.ttft_s,
        "embedded:front_end_backlog_seconds": replica.front_end.backlog_s(now_s),
    }
    if c.per_pos:
        values |= {
            "vllm:spec_decode_num_drafts_total": c.drafts,
            "vllm:spec_decode_num_draft_tokens_total": c.draft_tok,
            "vllm:spec_decode_num_accepted_tokens_total": c.accepted,
        }
    return values
