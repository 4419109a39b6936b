"""summary.json: every metric of a run, folded from its records alone. The keys are described in docs/metrics.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from simulator.core.advice import warnings
from simulator.core.arrived import arrivals
from simulator.core.certify import client
from simulator.core.drift import drift
from simulator.core.gauges import engine, open_by_pulses, open_by_records
from simulator.core.goodput import goodput
from simulator.core.groups import groups
from simulator.core.growth import placing
from simulator.core.judgement import FOLD, limits
from simulator.core.latency import latencies
from simulator.core.quality import quality
from simulator.core.run import KINDS, RunData
from simulator.core.sessions import outcomes, wall
from simulator.core.solved import solved
from simulator.core.stalls import stalls
from simulator.core.stats import ratio
from simulator.core.table import Floats, Mask, Table
from simulator.core.throughput import cached, rates
from simulator.core.tools import tools
from simulator.core.turns import fairness, latency, turns_due
from simulator.core.window import Traffic, cancelled, failed, ok, traffic, unanswered

SCHEMA = 1
SOURCES = ("usage", "continuous", "counted", "none")


def summarise(run: RunData, *, slo: Mapping[str, float] | None = None) -> dict[str, Any]:
    """{"schema", "fold", "mode", "agent", "synthetic", "unanswered", "client", "engine", "limit", "warnings"}: plain
    numbers, texts, lists and None; never NaN. slo: objectives for goodput, instead of the run's own. A kind of traffic
    that was not sent is None."""
    samples = [sample for kind in KINDS if (sample := traffic(run, kind)) is not None]
    open_at = open_by_records(run.requests) if run.ended else open_by_pulses(run.pulses)
    placed = placing(run)
    scraped = {s.kind: engine(run.engine, s.window, open_at, placed) for s in samples}
    parts = {s.kind: _traffic(s, run.slo if slo is None else slo, scraped[s.kind]) for s in samples}
    summary: dict[str, Any] = {
        "schema": SCHEMA,
        "fold": FOLD,
        "mode": run.mode,
        "agent": parts.get("agent"),
        "synthetic": parts.get("synthetic"),
        "unanswered": unanswered(run.requests),
        "client": client(samples),
        "engine": {
            "agent": scraped.get("agent"),
            "synthetic": scraped.get("synthetic"),
            "failed_scrapes": sum(bool(sample.error) for sample in run.engine),
        },
    }
    summary["limit"] = limits(summary)
    summary["warnings"] = warnings(summary, run.damage, run.unsound)
    return summary


def _traffic(sample: Traffic, slo: Mapping[str, float], scraped: dict[str, Any] | None) -> dict[str, Any]:
    agent = sample.kind == "agent"
    turns = turns_due(sample)
    rate, hits = rates(sample), _cached(sample, scraped)
    live = solved(sample) if agent and sample.run.live else None
    uncached = None if hits["all"] is None or rate["input_tok_s"] is None else rate["input_tok_s"] * (1 - hits["all"])
    return {
        "window": {**asdict(sample.window), "length_s": sample.window.length_s},
        "requests": _counts(sample.sent),
        "errors": errors(sample.sent),
        "defects": defects(sample.sent),
        "other_models": named(sample.sent, "other_model"),
        **rate,
        **drift(sample),
        "stalls": stalls(sample),
        "uncached_input_tok_s": uncached,
        "cached_share": hits,
        **latencies(sample),
        "turn_latency_s": latency(turns),
        "arrival": arrivals(sample),
        "acceptance_length": scraped["acceptance_length"] if scraped else None,
        "goodput": goodput(sample, slo),
        "token_counts": {name: _count(sample.sent, "output_source", name) for name in SOURCES},
        "planned": planned(sample.sent),
        "fairness": fairness(turns) if agent else None,
        "sessions": outcomes(sample) if agent else None,
        "live": live,
        "quality": quality(live, sample.window.length_s),
        "wall": wall(sample) if agent else None,
        "tools": tools(sample.run.tools, sample.window) if agent else None,
        **(groups(sample) if agent else {}),
    }


def _counts(sent: Table) -> dict[str, int]:
    return {
        "sent": sent.n,
        "ok": int(np.count_nonzero(ok(sent))),
        "failed": int(np.count_nonzero(failed(sent))),
        "cancelled": int(np.count_nonzero(cancelled(sent))),
        "stopped": int(np.count_nonzero(stopped(sent))),
        "retries": int(np.count_nonzero(sent["retry"] > 0)),
    }


def stopped(sent: Table) -> Mask:
    """Which requests the client itself closed after what it wanted: their usage never came, and was not to come."""
    return ok(sent) & (np.nan_to_num(sent["stopped"]) > 0)


def _count(sent: Table, column: str, name: str) -> int:
    return int(np.count_nonzero(ok(sent) & ~stopped(sent) & sent.text(column).among(name)))


def errors(sent: Table) -> dict[str, dict[str, Any]]:
    """Failed requests by kind, the most frequent first: {kind: {"count", "example"}}."""
    bad = sent.where(failed(sent))
    kinds = bad.text("error")
    found: dict[str, dict[str, Any]] = {}
    for code, count in zip(*np.unique(kinds.codes, return_counts=True), strict=True):
        first = int(np.flatnonzero(kinds.codes == code)[0])
        found[kinds.names[code] or "unknown"] = {"count": int(count), "example": bad.text("detail").at(first)}
    return dict(sorted(found.items(), key=lambda item: -int(item[1]["count"])))


def defects(sent: Table) -> dict[str, int]:
    """Replies that came whole and that a client objects to, by kind (core/outcome.DEFECTS), the most frequent first."""
    return named(sent, "defect")


def named(sent: Table, column: str) -> dict[str, int]:
    """How many requests have each text of a column, "" aside, the most frequent first."""
    kinds = sent.text(column)
    found = {kinds.names[code]: int(n) for code, n in zip(*np.unique(kinds.codes, return_counts=True), strict=True)}
    return dict(sorted(((kind, n) for kind, n in found.items() if kind), key=lambda item: -item[1]))


def planned(sent: Table) -> dict[str, float | None]:
    """How far successful requests are from the plan: {prompt_error, output_error}, sum over planned sum, less 1."""
    done = sent.where(ok(sent) & ~stopped(sent))

    def off(told: Floats, plan: Floats) -> float | None:
        both = np.isfinite(told) & (plan > 0)
        share = ratio(float(told[both].sum()), float(plan[both].sum()))
        return None if share is None else share - 1

    return {
        "prompt_error": off(done["prompt_tok"], done["planned_prompt_tok"]),
        "output_error": off(done["output_tok"], done["planned_output_tok"]),
    }


def _cached(sample: Traffic, scraped: dict[str, Any] | None) -> dict[str, Any]:
    """From usage; where the server reports none, from its prefix-cache counters, which know no turns."""
    hits = cached(sample)
    if hits["n"]:
        return hits
    share = scraped["prefix_hit_share"] if scraped else None
    return {**hits, "all": share, "source": None if share is None else "engine"}
