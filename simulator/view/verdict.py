"""Who is the limit and who failed, in words: the first thing that a report says after its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.core.limit import CLIENT, ENGINE, FRONT_END, NONE, UNKNOWN
from simulator.core.wording import counted
from simulator.view.format import count

KINDS = {"agent": "agents", "synthetic": "synthetic"}
WHO = {
    CLIENT: "the client",
    FRONT_END: "the engine's front end",
    ENGINE: "the engine",
    NONE: "nobody",
    UNKNOWN: "unknown",
}
NO_COMPARISON = "no verdict may be drawn from a comparison with this run"


def limits(summary: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """(traffic, place, reasons) for each kind that was sent; none in a summary from before this was judged."""
    found = summary.get("limit") or {}
    return [(name, found[kind]["where"], found[kind]["reasons"]) for kind, name in KINDS.items() if found.get(kind)]


def failures(summary: Mapping[str, Any]) -> str:
    """ "1 of 24 sessions and 3 of 412 requests failed", or that none did."""
    parts = {kind: summary[kind] for kind in KINDS if summary[kind] is not None}
    sent = sum(part["requests"]["sent"] for part in parts.values())
    lost = sum(part["requests"]["failed"] for part in parts.values())
    told = [f"{count(lost)} of {counted(sent, 'request')}"]
    done = parts["agent"]["sessions"] if "agent" in parts else None
    if done is not None and (ended := done["completed"] + done["failed"] + done["stopped"]):
        told.insert(0, f"{count(done['failed'])} of {counted(ended, 'session')}")
    if not lost and not (done and done["failed"]):
        return "no session and no request failed" if done is not None else "no request failed"
    return " and ".join(told) + " failed"


def missing_p99(summary: Mapping[str, Any]) -> list[str]:
    """Why a percentile is not there, a phrase for each kind of traffic: "agents had 212"."""
    parts = [(name, summary[kind]) for kind, name in KINDS.items() if summary[kind] is not None]
    return [
        f"{name} had {count(part['ttft_s']['n'])}"
        for name, part in parts
        if part["ttft_s"]["p99"] is None and part["ttft_s"]["n"]
    ]
