"""An open loop's arrivals for people: a line for the last screen, a table for the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.view.format import DASH, count, digits, duration

NAMES = {"agent": "agents", "synthetic": "synthetic"}
STATES = {
    "steady": "steady",
    "filling": "no steady state yet: the first had not ended",
    "overloaded": "OVERLOADED: no steady state",
    None: "too few to say whether steady",
}
FROM_DUE = {"TTFT from due": "ttft_from_due_s", "E2EL from due": "e2el_from_due_s", "turn latency": "turn_latency_s"}


def _open(summary: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """(name, traffic part, its arrivals) of each open loop."""
    parts = [(NAMES[kind], summary[kind]) for kind in NAMES if summary[kind] is not None]
    return [(name, part, part["arrival"]) for name, part in parts if part.get("arrival") is not None]


def arrival_lines(summary: Mapping[str, Any]) -> list[str]:
    """`arrivals   agents: steady; 0.200/s planned, 0.198/s achieved, 3 of 60 waited`."""
    return [
        f"arrivals   {name}: {STATES[row['state']].partition(':')[0]}; {_rate(row['planned_per_s'])} planned, "
        f"{_rate(row['achieved_per_s'])} achieved, {count(row['waited_for_place'])} of {count(row['planned'])} waited"
        for name, _, row in _open(summary)
    ]


def arrivals(summary: Mapping[str, Any]) -> list[str]:
    """The section of the report; nothing for closed loops."""
    found = _open(summary)
    if not found:
        return []
    rows: list[tuple[str, list[str]]] = [
        ("arrivals due", [f"{count(row['planned'])}, {row['kind']}" for _, _, row in found]),
        ("planned rate", [_rate(row["planned_per_s"]) for _, _, row in found]),
        ("achieved rate", [_rate(row["achieved_per_s"]) for _, _, row in found]),
        ("late p50 / p95", [_pair(row["late_s"]) for _, _, row in found]),
        ("places", [count(row["places"]) if row["places"] else "no cap" for _, _, row in found]),
        ("waited for a place", [_waited(row) for _, _, row in found]),
        ("there at start / end", [f"{count(row['open_start'])} / {count(row['open_end'])}" for _, _, row in found]),
        ("state", [STATES[row["state"]] for _, _, row in found]),
    ]
    rows += [(f"{name} p50 / p95", [_pair(part[key]) for _, part, _ in found]) for name, key in FROM_DUE.items()]
    return [
        "## Arrivals",
        "",
        "Sessions and requests came by a clock, whatever became of those before them; from due counts the wait "
        "before a request could be sent.",
        "",
        f"| | {' | '.join(name for name, _, _ in found)} |",
        f"|---|{'---:|' * len(found)}",
        *(f"| {label} | {' | '.join(cells)} |" for label, cells in rows),
        "",
    ]


def _rate(per_s: float | None) -> str:
    return DASH if per_s is None else f"{digits(per_s)}/s"


def _pair(spread: Mapping[str, Any]) -> str:
    return f"{duration(spread['p50'])} / {duration(spread['p95'])}"


def _waited(row: Mapping[str, Any]) -> str:
    waited = count(row["waited_for_place"])
    if not row["waited_for_place"] and not row["never_placed"]:
        return waited
    return f"{waited}, mean wait {duration(row['place_wait_s']['mean'])}; {count(row['never_placed'])} found none"
