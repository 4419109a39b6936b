"""The client's account of itself: whether what it measured is the engine, or its own limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.core.arrived import place_wait_s
from simulator.core.latency import client_queue_s, ttft_s
from simulator.core.limit import Signs
from simulator.core.stats import describe, mean, quantile, ratio
from simulator.core.table import Table
from simulator.core.turns import turns_due
from simulator.core.window import Traffic

#: past any of these, the client may be what was measured.
#: lateness_share: mean lateness over mean turn latency; in a closed loop it is about the throughput that is lost to it.
LIMITS = {"loop_lag_p99_s": 0.020, "cpu_share_mean": 0.90, "lateness_share": 0.02}
#: Pulse counts how often the loop's lag was above each
LAG_MARKS_MS = (2, 5, 10, 20, 50, 100, 500)
#: an emulated engine whose tokens go out later than this has too little CPU
EMULATION_LATE_S = 0.020
#: share of a run's requests that may fail where speed is judged: what fails costs the engine nothing
FAILED_SHARE = 0.01
LIMITED, OK, UNKNOWN = "client-limited", "ok", "unknown"


def health(sample: Traffic) -> dict[str, Any]:
    """{verdict, reasons, pulses, loop_lag_s: {p50, p99}, cpu_share: {mean, max}, lateness_s, lateness_share,
    ttft_minus_server_s} over the sample's window.

    loop_lag_s: quantiles over time, a stall weighing as long as it lasted; max beside them. lateness_s: t_sent - t_due,
    without an open loop's wait for a place, which the scenario's cap asks for.
    ttft_minus_server_s: the client's TTFT less the engine's own, where it reports one. The verdict is "unknown" without
    pulses in the window.
    """
    pulses = sample.run.pulses
    beats = pulses.where(pulses.text("kind").among(sample.kind) & sample.window.holds(pulses["t_s"]))
    late = client_queue_s(sample.sent) - place_wait_s(sample)
    row: dict[str, Any] = {
        "pulses": beats.n,
        "loop_lag_s": {
            "p50": _lag_quantile(beats, 0.5),
            "p99": _lag_quantile(beats, 0.99),
            "max": quantile(beats["loop_lag_s"], 1.0),
        },
        "cpu_share": {"mean": mean(beats["cpu_share"]), "max": quantile(beats["cpu_share"], 1.0)},
        "lateness_s": describe(late),
        "lateness_share": ratio(mean(late), mean(turns_due(sample).latency_s)),
        "ttft_minus_server_s": describe(ttft_s(sample.sent) - sample.sent["server_ttft_s"]),
    }
    return judged_health(row, beats.n > 0)


def judged_health(row: dict[str, Any], known: bool) -> dict[str, Any]:
    """Health's figures with {verdict, reasons} of them. known: there were pulses in the window."""
    reasons = _past_limits(row)
    return {**row, "verdict": LIMITED if reasons else OK if known else UNKNOWN, "reasons": reasons}


def _lag_quantile(beats: Table, q: float) -> float | None:
    """From the counts above each mark, by straight lines between the marks. Pulses without counts (older runs) give the
    quantile of their maxima, which errs on the strict side."""
    largest = quantile(beats["loop_lag_s"], 1.0)
    ticks = float(np.nansum(beats["lag_ticks"])) if beats.n else 0.0
    if largest is None or ticks == 0:
        return quantile(beats["loop_lag_s"], q)
    marks = [0.0, *(mark / 1e3 for mark in LAG_MARKS_MS)]
    above = [ticks, *(float(np.nansum(beats[f"lag_over_{mark}ms"])) for mark in LAG_MARKS_MS)]
    allowed = (1 - q) * ticks
    for n, (low, count) in enumerate(zip(marks, above, strict=True)):
        high, rest = (marks[n + 1], above[n + 1]) if n + 1 < len(marks) else (largest, 0.0)
        if rest <= allowed:
            share = (count - allowed) / (count - rest) if count > rest else 0.0
            return min(largest, low + share * (max(high, low) - low))
    return largest


def _past_limits(row: dict[str, Any]) -> list[str]:
    lag, cpu, late = row["loop_lag_s"]["p99"], row["cpu_share"]["mean"], row["lateness_share"]
    found = []
    if lag is not None and lag > LIMITS["loop_lag_p99_s"]:
        found.append(f"event-loop lag p99 {lag * 1e3:.0f} ms, limit {LIMITS['loop_lag_p99_s'] * 1e3:.0f} ms")
    if cpu is not None and cpu > LIMITS["cpu_share_mean"]:
        found.append(f"the client used {100 * cpu:.0f} % of a core, limit {100 * LIMITS['cpu_share_mean']:.0f} %")
    if late is not None and late > (limit := LIMITS["lateness_share"]):
        found.append(f"requests left late by {100 * late:.1f} % of a turn, limit {100 * limit:.0f} %")
    return found


def client(samples: Sequence[Traffic]) -> dict[str, Any]:
    """{verdict, reasons, limits, agent, synthetic}: health of each kind of traffic, and the worst verdict of them."""
    return account({sample.kind: health(sample) for sample in samples})


def account(each: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The same of health by kind of traffic."""
    verdicts = [row["verdict"] for row in each.values()]
    worst = next((v for v in (LIMITED, UNKNOWN, OK) if v in verdicts), UNKNOWN)
    reasons = [f"{kind}: {reason}" for kind, row in each.items() for reason in row["reasons"]]
    return {
        "verdict": worst,
        "reasons": reasons,
        "limits": dict(LIMITS),
        "agent": each.get("agent"),
        "synthetic": each.get("synthetic"),
    }


def signs(health: dict[str, Any], engine: dict[str, Any] | None, part: dict[str, Any]) -> Signs:
    """Of one kind of traffic: its health (as above), its engine gauges, its part of the summary. First tokens that an
    emulation itself sent late say nothing about its front end."""
    told = engine or {}
    late = (told.get("emulation_lag_s") or 0.0) > EMULATION_LATE_S
    return Signs(
        client=None if health["verdict"] == UNKNOWN else tuple(health["reasons"]),
        in_flight=part["in_flight_mean"],
        backlog=told.get("backlog_mean"),
        running=told.get("running_mean"),
        waiting=told.get("waiting_mean"),
        kv_use=told.get("kv_use_mean"),
        preemptions=told.get("preemptions"),
        outside_s=None if late else health["ttft_minus_server_s"]["p50"],
        ttft_s=part["ttft_s"]["p50"],
        turn_s=part["e2el_s"]["p50"],
    )


def lateness_tail_s(row: dict[str, Any]) -> float | None:
    """p99 of lateness with enough requests, else p95."""
    spread = row["lateness_s"]
    tail: float | None = spread["p99"] if spread["p99"] is not None else spread["p95"]
    return tail
