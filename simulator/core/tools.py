"""Tools: how long they ran, how long they waited for a place, and whether they gave what the recording has."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.core.stats import describe, ratio
from simulator.core.table import Table
from simulator.core.window import Window


def tools(calls: Table, window: Window) -> dict[str, Any] | None:
    """Of the calls made inside the window: {calls, mismatches, mismatch_share, run_s, queue_s, pace_s, run_total_s,
    per_minute, examples, by_tool}. None when there were none.

    run_s: t_end - t_start; queue_s: t_start - t_ready, waiting for a place in the pool; pace_s: t_release - t_end, held
    back to the recorded latency. examples: first differing lines of up to three mismatches.
    """
    made = calls.where(window.holds(calls["t_ready_s"]))
    if not made.n:
        return None
    return {
        **_times(made),
        "per_minute": ratio(float(made.n), window.length_s / 60),
        "examples": _examples(made),
        "by_tool": {
            name: _times(made.where(made.text("tool").among(name)))
            for name in sorted(set(made.text("tool").names))
            if made.text("tool").among(name).any()
        },
    }


def _times(made: Table) -> dict[str, Any]:
    run = made["t_end_s"] - made["t_start_s"]
    differing = int(np.count_nonzero(made["matched"] == 0))
    return {
        "calls": made.n,
        "mismatches": differing,
        "mismatch_share": ratio(float(differing), float(made.n)),
        "run_total_s": float(np.nansum(run)),
        "run_s": describe(run),
        "queue_s": describe(made["t_start_s"] - made["t_ready_s"]),
        "pace_s": describe(made["t_release_s"] - made["t_end_s"]),
    }


def _examples(made: Table) -> list[str]:
    rows = np.flatnonzero(made["matched"] == 0)[:3]
    return [
        f"{made.text('session').at(int(i))} turn {int(made['turn'][i])} {made.text('tool').at(int(i))}: "
        f"{made.text('difference').at(int(i))}"
        for i in rows
    ]
