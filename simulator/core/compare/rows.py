"""Which metrics a comparison shows, in groups, and how far apart two values may be and still be equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.core.compare.verdict import LATENCY_MARGIN, THROUGHPUT_MARGIN
from simulator.core.metric import DELIVERY, LATENCY, OUTPUT, SHAPE, SOLVED, THROUGHPUT, Metric, value

FAILED = Metric("failed share", ("requests", "failed"), "share", "lower")
_LEFT_OUT = {"in flight, mean", "in flight, most", "requests of sub-agents"}
_OF_SHAPE = {"acceptance length", "cached share", "cached share, later turns"}
_OF_LATENCY = ("TTFT", "TPOT", "ITL", "ICL", "E2EL", "turn", "user")


@dataclass(frozen=True, slots=True)
class Group:
    """title: of the rows together. margin: share within which two values are equal."""

    title: str
    margin: float
    metrics: tuple[Metric, ...]


GROUPS = (
    Group("solved tasks", LATENCY_MARGIN, SOLVED),
    Group("throughput, tok/s", THROUGHPUT_MARGIN, tuple(m for m in THROUGHPUT if m.label not in _LEFT_OUT)),
    Group("latency", LATENCY_MARGIN, tuple(m for m in LATENCY if m.label.startswith(_OF_LATENCY))),
    Group(
        "delivery and reuse",
        THROUGHPUT_MARGIN,
        (*(m for m in DELIVERY if m.path != ("goodput", "share")), *(m for m in SHAPE if m.label in _OF_SHAPE), FAILED),
    ),
)
METRICS = tuple(metric for group in GROUPS for metric in group.metrics)


def value_of(part: Mapping[str, Any] | None, metric: Metric) -> float | None:
    """As core/metric.value; of FAILED, failed over sent requests."""
    if metric is not FAILED:
        return value(part, metric)
    requests = (part or {}).get("requests")
    if not isinstance(requests, Mapping) or not requests.get("sent"):
        return None
    return float(requests.get("failed", 0)) / float(requests["sent"])


def spelling(metric: Metric) -> str:
    """How a command line names it: ttft_s.p95 and the like, the keys of summary.json."""
    return ".".join(metric.path)


def find(name: str) -> Metric | None:
    """By its label ("TTFT p95") or its keys ("ttft_s.p95"), in any case, with or without blanks and commas."""
    wanted = _plain(name)
    return next((m for m in METRICS if wanted in (_plain(m.label), _plain(spelling(m)))), None)


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


__all__ = ["FAILED", "GROUPS", "METRICS", "OUTPUT", "Group", "find", "spelling", "value_of"]
