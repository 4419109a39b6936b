"""The names, units and directions of what a summary holds, in the order in which people read it.

A report, the last screen and a comparison all take their rows from here, so a metric is called the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Metric:
    """path: keys from a traffic part of summary.json to the number. unit: "s", "tok/s", "tok", "share" (0 to 1),
    "/h", "/s", "x" (a ratio) or "" (a count). better: "higher", "lower" or "" where neither is."""

    label: str
    path: tuple[str, ...]
    unit: str
    better: str = ""


def value(part: Mapping[str, Any] | None, metric: Metric) -> float | None:
    """The metric's number in a traffic part (summary["agent"] or ["synthetic"]); None where it is undefined."""
    found: Any = part
    for key in metric.path:
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return float(found) if isinstance(found, (int, float)) else None


def _spread(label: str, key: str, unit: str, better: str, levels: tuple[str, ...]) -> tuple[Metric, ...]:
    return tuple(Metric(f"{label} {level}", (key, level), unit, better) for level in levels)


OUTPUT = Metric("output", ("output_tok_s",), "tok/s", "higher")
TAIL = ("p50", "p95", "p99")

THROUGHPUT = (
    OUTPUT,
    Metric("output, whole run", ("output_tok_s_whole_run",), "tok/s", "higher"),
    Metric("input", ("input_tok_s",), "tok/s", "higher"),
    Metric("input, uncached", ("uncached_input_tok_s",), "tok/s"),
    Metric("total", ("total_tok_s",), "tok/s", "higher"),
    Metric("in flight, mean", ("in_flight_mean",), ""),
    Metric("in flight, most", ("in_flight_max",), ""),
    Metric("requests of sub-agents", ("subagent_share",), "share"),
)
LATENCY = (
    *_spread("TTFT", "ttft_s", "s", "lower", TAIL),
    Metric("TTFT of the answer p50", ("ttft_answer_s", "p50"), "s", "lower"),
    *_spread("TPOT", "tpot_s", "s", "lower", TAIL),
    Metric("ITL mean", ("itl_s", "mean"), "s", "lower"),
    *_spread("ITL", "itl_s", "s", "lower", ("p95", "p99")),
    *_spread("ICL", "icl_s", "s", "lower", ("p50", "p95")),
    *_spread("E2EL", "e2el_s", "s", "lower", TAIL),
    *_spread("turn latency", "turn_latency_s", "s", "lower", TAIL),
    *_spread("client queue", "client_queue_s", "s", "lower", ("p50", "p95")),
    Metric("user speed p50 (1/TPOT)", ("tok_s_user", "p50"), "tok/s", "higher"),
    Metric("user speed p50 (n/E2EL)", ("tok_s_user_e2e", "p50"), "tok/s", "higher"),
)
SHAPE = (
    Metric("prompt, mean", ("prompt_tok", "mean"), "tok"),
    Metric("reply, mean", ("output_tok_per_request", "mean"), "tok"),
    Metric("tokens per chunk, mean", ("tokens_per_chunk", "mean"), ""),
    Metric("acceptance length", ("acceptance_length",), "", "higher"),
    Metric("cached share", ("cached_share", "all"), "share", "higher"),
    Metric("cached share, first turns", ("cached_share", "first_turns"), "share", "higher"),
    Metric("cached share, later turns", ("cached_share", "later_turns"), "share", "higher"),
)
DELIVERY = (
    Metric("goodput", ("goodput", "requests_s"), "/s", "higher"),
    Metric("goodput share", ("goodput", "share"), "share", "higher"),
    Metric("goodput, sessions", ("goodput", "sessions_h"), "/h", "higher"),
    Metric("sessions", ("sessions", "per_hour"), "/h", "higher"),
    Metric("fairness (Jain)", ("fairness", "jain"), "", "higher"),
    Metric("worst / median session", ("fairness", "worst_over_median"), "x", "lower"),
)
#: of live runs
SOLVED_HOUR = Metric("solved tasks an hour", ("quality", "per_hour"), "/h", "higher")
SOLVED = (
    SOLVED_HOUR,
    Metric("tokens a solved task", ("quality", "tok_per_solved"), "tok", "lower"),
    Metric("output a solved task", ("quality", "output_tok_per_solved"), "tok", "lower"),
)
TABLE = (*THROUGHPUT, *LATENCY, *SHAPE, *DELIVERY)
