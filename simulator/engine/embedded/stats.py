"""What /metrics tells, under vLLM's names. The step loop adds to plain numbers; Prometheus families are built from them
when somebody scrapes, so a token costs no label look-up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from simulator.engine.embedded.request import Request
from simulator.engine.embedded.scheduler import Scheduler
from simulator.engine.embedded.stream import Sink, Stream, Whole

# bucket edges as in vLLM 0.32's /metrics
_FIRST_S = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40)
_LONG_S = (80, 160, 640, 2560)
_TOKEN_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
_REQUEST_S = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
_STEP_TOK = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)


def decades(most: int) -> tuple[int, ...]:
    """1, 2, 5, 10, 20, 50... up to `most`."""
    edges = [mantissa * 10**exponent for exponent in range(len(str(most))) for mantissa in (1, 2, 5)]
    return tuple(edge for edge in edges if edge <= most)


class Histogram:
    __slots__ = ("counts", "edges", "sum")

    def __init__(self, edges: Sequence[float]) -> None:
        self.edges = edges
        self.counts = [0] * (len(edges) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.edges, value)] += 1
        self.sum += value

    def family(self, name: str, what: str, labels: dict[str, str]) -> HistogramMetricFamily:
        family = HistogramMetricFamily(name, what, labels=list(labels))
        total, buckets = 0, []
        for edge, count in zip([*map(float, self.edges), float("inf")], self.counts, strict=True):
            total += count
            buckets.append(("+Inf" if edge == float("inf") else str(edge), total))
        family.add_metric(list(labels.values()), buckets=buckets, sum_value=self.sum)
        return family


class Stats(Collector):
    """lag_s: how late a step's tokens went out, a peak that decays; written_off_s: lag that was given up, in all."""

    def __init__(self, scheduler: Scheduler, *, model: str, params_name: str) -> None:
        self.scheduler = scheduler
        self.labels = {"model_name": model, "engine": "0"}
        self.params_name = params_name
        self.aborted = 0
        self.finished = {"stop": 0, "length": 0}
        self.faults = 0
        self.oracle: Mapping[str, int] = {}  # its replies by mistake
        self.oracle_unknown: Callable[[], int] | None = None
        self.lag_s = 0.0
        self.written_off_s = 0.0
        self.front_end_backlog_s: Callable[[], float] = lambda: 0.0
        most = scheduler.params.max_model_len
        self.ttft = Histogram((*_FIRST_S, *_LONG_S))
        self.itl = Histogram(_TOKEN_S)
        self.tpot = Histogram(_TOKEN_S)
        self.e2e, self.queue, self.prefill, self.decode, self.inference = (Histogram(_REQUEST_S) for _ in range(5))
        self.step_tok = Histogram(_STEP_TOK)
        self.prompt_tok, self.output_tok = Histogram(decades(most)), Histogram(decades(most))

    def step(self, emissions: list[tuple[Request, int]]) -> None:
        """As in vLLM, a step counts when it gave somebody a token, and a prompt's computed tokens once they are all."""
        tokens = 0
        add = self.itl.add
        for request, new in emissions:
            tokens += new
            if request.emitted_tok > new:
                add(request.gap_s)
            else:
                tokens += request.prompt_tok - max(0, request.cached_tok)
        if emissions:
            self.step_tok.add(tokens)

    def finish(self, request: Request, sink: Sink, out_s: float) -> None:
        """out_s: when the front end gave out its last token. As in vLLM, TTFT and the whole latency are the front
        end's, what lies between is the engine core's."""
        reply = sink.reply if isinstance(sink, Stream | Whole) else None
        # as in vLLM, whose core knows nothing of tool calls
        finish = reply.finish if reply else "length"
        self.finished["stop" if finish == "tool_calls" else finish] += 1
        self.e2e.add(out_s - sink.received_s)
        self.queue.add(max(0.0, request.scheduled_s - request.arrival_s))
        self.prefill.add(request.first_s - request.scheduled_s)
        self.decode.add(request.last_s - request.first_s)
        self.inference.add(request.last_s - request.scheduled_s)
        if request.emitted_tok > 1:
            self.tpot.add((request.last_s - request.first_s) / (request.emitted_tok - 1))
        self.prompt_tok.add(request.prompt_tok)
        self.output_tok.add(request.emitted_tok)

    def collect(self) -> Iterator[Metric]:
        yield from self._gauges()
        yield from self._counters()
        yield from self._histograms()
        yield self._cache_config()
        yield from self._own()

    def _gauges(self) -> Iterator[Metric]:
        s = self.scheduler
        values = {
            "vllm:num_requests_running": ("Requests in the running batch.", len(s.running)),
            "vllm:num_requests_waiting": ("Requests waiting to be scheduled.", len(s.waiting)),
            "vllm:kv_cache_usage_perc": ("KV blocks in use, 1 is all.", s.pool.used / s.pool.n_blocks),
        }
        for name, (what, value) in values.items():
            family = GaugeMetricFamily(name, what, labels=list(self.labels))
            family.add_metric(list(self.labels.values()), value)
            yield family

    def _counters(self) -> Iterator[Metric]:
        c = self.scheduler.counters
        values = {
            "vllm:num_preemptions": ("Preemptions.", c.preemptions),
            "vllm:prompt_tokens": ("Prompt tokens of requests whose prefill ended.", c.prompt_tok),
            "vllm:generation_tokens": ("Tokens generated.", c.generated_tok),
            "vllm:prompt_tokens_cached": ("Prompt tokens taken from the cache.", c.hit_tok),
            "vllm:prefix_cache_queries": ("Prompt tokens looked up in the prefix cache.", c.queried_tok),
            "vllm:prefix_cache_hits": ("Prompt tokens found in the prefix cache.", c.hit_tok),
        }
        if c.per_pos:
            values |= {
                "vllm:spec_decode_num_drafts": ("Draft rounds.", c.drafts),
                "vllm:spec_decode_num_draft_tokens": ("Draft tokens.", c.draft_tok),
                "vllm:spec_decode_num_accepted_tokens": ("Draft tokens accepted.", c.accepted),
            }
        names, own = list(self.labels), list(self.labels.values())
        for name, (what, value) in values.items():
            counter = CounterMetricFamily(name, what, labels=names)
            counter.add_metric(own, value)
            yield counter
        if c.per_pos:
            what = "Draft tokens accepted, by position."
            counter = CounterMetricFamily(
                "vllm:spec_decode_num_accepted_tokens_per_pos", what, labels=[*names, "position"]
            )
            for position, value in enumerate(c.per_pos):
                counter.add_metric([*own, str(position)], value)
            yield counter
        counter = CounterMetricFamily("vllm:request_success", "Requests ended.", labels=[*names, "finished_reason"])
        for reason, value in {**self.finished, "abort": self.aborted}.items():
            counter.add_metric([*own, reason], value)
        yield counter

    def _histograms(self) -> Iterator[Metric]:
        named = {
            "vllm:time_to_first_token_seconds": ("Receipt to first token.", self.ttft),
            "vllm:inter_token_latency_seconds": ("Between two chunks of a reply.", self.itl),
            "vllm:request_time_per_output_token_seconds": ("Mean a token after the first.", self.tpot),
            "vllm:e2e_request_latency_seconds": ("Receipt to last token.", self.e2e),
            "vllm:request_queue_time_seconds": ("In the waiting queue.", self.queue),
            "vllm:request_prefill_time_seconds": ("From scheduled to first token.", self.prefill),
            "vllm:request_decode_time_seconds": ("From first to last token.", self.decode),
            "vllm:request_inference_time_seconds": ("From scheduled to last token.", self.inference),
            "vllm:iteration_tokens_total": ("Tokens in a step.", self.step_tok),
            "vllm:request_prompt_tokens": ("Prompt tokens a request.", self.prompt_tok),
            "vllm:request_generation_tokens": ("Generated tokens a request.", self.output_tok),
        }
        for name, (what, histogram) in named.items():
            yield histogram.family(name, what, self.labels)

    def _cache_config(self) -> Metric:
        p = self.scheduler.params
        labels = {
            "engine": "0",
            "block_size": str(p.block_size),
            "num_gpu_blocks": str(self.scheduler.pool.n_blocks),
            "enable_prefix_caching": str(p.enable_prefix_caching),
            "gpu_memory_utilization": str(p.gpu_memory_utilization),
            "mamba_ssm_cache_dtype": p.mamba_ssm_cache_dtype,
            "mamba_cache_mode": self.scheduler.cost.layout.mode,
            "kv_cache_size_tokens": str(self.scheduler.cost.layout.kv_cache_tok(self.scheduler.params.max_model_len)),
        }
        family = GaugeMetricFamily("vllm:cache_config_info", "KV cache configuration.", labels=list(labels))
        family.add_metric(list(labels.values()), 1)
        return family

    def _own(self) -> Iterator[Metric]:
        p = self.scheduler.params
        info = {
            "params": self.params_name,
            "hardware": p.hardware.name,
            "async_scheduling": str(p.async_scheduling),
            "num_speculative_tokens": str(p.num_speculative_tokens),
            "acceptance_length": f"{1 + sum(self.scheduler.at_least):g}",
            "mamba_backend": p.mamba_backend,
        }
        yield InfoMetricFamily("embedded:engine", "This engine is an emulation.", value=info)
        yield GaugeMetricFamily(
            "embedded:schedule_lag_seconds", "Lateness of a step's tokens, recent peak.", self.lag_s
        )
        what = "Work that the busiest API process still has before it."
        yield GaugeMetricFamily("embedded:front_end_backlog_seconds", what, self.front_end_backlog_s())
        what = "Lateness that was too large to catch up."
        yield CounterMetricFamily("embedded:schedule_written_off_seconds", what, self.written_off_s)
        busy_s = self.scheduler.counters.busy_s
        what = "Decode slots of replies that had ended."
        yield CounterMetricFamily("embedded:wasted_decodes", what, self.scheduler.counters.wasted)
        yield CounterMetricFamily("embedded:step_seconds", "Modelled time in steps.", busy_s)
        yield CounterMetricFamily("embedded:faults", "Faults injected.", self.faults)
        if self.oracle:
            told = CounterMetricFamily("embedded:oracle_replies", "The oracle's, by mistake.", labels=["mistake"])
            for mistake, count in sorted(self.oracle.items()):
                told.add_metric([mistake], count)
            yield told
        if self.oracle_unknown is not None:
            what = "Chat requests of which the oracle knows no solution."
            yield CounterMetricFamily("embedded:oracle_unknown", what, self.oracle_unknown())
