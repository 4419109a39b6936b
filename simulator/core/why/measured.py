"""What one run measured of itself, as far as a comparison needs it: the client's records and the engine's counters over
the same window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulator.core.gauges import (
    ACCEPTED,
    DRAFTS,
    GENERATED,
    HITS,
    KV_USE,
    PREEMPTIONS,
    QUERIES,
    RUNNING,
    WAITING,
    backlog,
    open_by_pulses,
    open_by_records,
    within,
)
from simulator.core.growth import BEGUN, OPEN, PROCESSED, TOKENS, grown_in, placing
from simulator.core.record import EngineSample
from simulator.core.stats import known, mean, ratio
from simulator.core.table import Floats
from simulator.core.throughput import in_flight, tokens_between
from simulator.core.window import Traffic, ok

STEPS, STEP_TOK = "vllm:iteration_tokens_total_count", "vllm:iteration_tokens_total_sum"
GAPS, GAPS_S = "vllm:inter_token_latency_seconds_count", "vllm:inter_token_latency_seconds_sum"
FIRSTS = "vllm:time_to_first_token_seconds_count"
#: counters that do not grow with every output token -> what they grow with
_PLACED_BY = {FIRSTS: BEGUN, STEP_TOK: PROCESSED, QUERIES: OPEN, HITS: OPEN, PREEMPTIONS: OPEN}


@dataclass(frozen=True, slots=True)
class Measured:
    """One kind of traffic of one run over its window; None: not known.

    output_tok_s: what the client was given. in_flight: mean requests open at the client; streaming: mean of those whose
    reply had begun and not ended. requests: sent in the window, or seen where it has no edges; failed: of those.
    Of the engine, growth of its counters inside the window: generated (tokens), steps (each API process counts those
    that gave its own requests something), gaps and gaps_s (between two steps that gave a request tokens), firsts
    (first tokens), step_tok (prompt tokens computed and output tokens), drafts, accepted, queries, hits, preemptions;
    means over its scrapes: running, waiting, backlog (open at the client, unknown to the engine), kv_use (a share).
    """

    length_s: float
    output_tok_s: float | None
    in_flight: float | None
    streaming: float | None
    requests: int
    failed: int
    generated: float | None = None
    steps: float | None = None
    gaps: float | None = None
    gaps_s: float | None = None
    firsts: float | None = None
    step_tok: float | None = None
    drafts: float | None = None
    accepted: float | None = None
    queries: float | None = None
    hits: float | None = None
    preemptions: float | None = None
    running: float | None = None
    waiting: float | None = None
    backlog: float | None = None
    kv_use: float | None = None

    def rate(self, count: float | None) -> float | None:
        return ratio(count, self.length_s)

    @property
    def given(self) -> float | None:
        """Times that a step gave a request tokens."""
        return None if self.gaps is None or self.firsts is None else self.gaps + self.firsts

    @property
    def step_s(self) -> float | None:
        """Mean time between two steps as a decoding request sees it, seconds."""
        return ratio(self.gaps_s, self.gaps)

    @property
    def computed_prompt_tok(self) -> float | None:
        """Prompt tokens that the engine computed; the rest came from its cache."""
        if self.step_tok is None or self.generated is None:
            return None
        return max(0.0, self.step_tok - self.generated)

    @property
    def acceptance_length(self) -> float | None:
        accepted = ratio(self.accepted, self.drafts)
        return None if accepted is None else 1 + accepted


def measured(sample: Traffic) -> Measured:
    """Folds one kind of traffic of a run."""
    window, scrapes = sample.window, sample.run.engine
    arrived = tokens_between(sample, np.array([-np.inf, window.start_s, window.end_s, np.inf]))
    output = float(arrived[1] if window.steady else arrived.sum())
    spoke = bool(np.isfinite(sample.every["t_last_s"][ok(sample.every)]).any())
    chosen = [s for s in within(scrapes, window) if s.t_s >= window.start_s]
    placed = placing(sample.run)
    counters = {
        field: grown_in(scrapes, name, window, placed[_PLACED_BY.get(name, TOKENS)])
        for field, name in {
            "generated": GENERATED,
            "steps": STEPS,
            "gaps": GAPS,
            "gaps_s": GAPS_S,
            "firsts": FIRSTS,
            "step_tok": STEP_TOK,
            "drafts": DRAFTS,
            "accepted": ACCEPTED,
            "queries": QUERIES,
            "hits": HITS,
            "preemptions": PREEMPTIONS,
        }.items()
    }
    open_at = open_by_records(sample.run.requests) if sample.run.ended else open_by_pulses(sample.run.pulses)
    return Measured(
        length_s=window.length_s,
        output_tok_s=ratio(output, window.length_s) if spoke and output else None,
        in_flight=in_flight(sample),
        streaming=_streaming(sample),
        requests=sample.sent.n,
        failed=int(np.count_nonzero(sample.sent.text("outcome").among("failed"))),
        **counters,
        running=mean(_gauge(chosen, RUNNING)),
        waiting=mean(_gauge(chosen, WAITING)),
        backlog=mean(backlog(chosen, open_at)),
        kv_use=mean(_gauge(chosen, KV_USE)),
    )


def _gauge(samples: Sequence[EngineSample], name: str) -> Floats:
    return np.array([s.values[name] for s in samples if name in s.values], dtype=np.float64)


def _streaming(sample: Traffic) -> float | None:
    """Mean number of requests between their first and their last output inside the window."""
    every, window = sample.every, sample.window
    begun = np.maximum(every["t_first_s"], window.start_s)
    held = known(np.clip(np.minimum(every["t_last_s"], window.end_s) - begun, 0, None))
    return ratio(float(held.sum()), window.length_s) if len(held) else None
