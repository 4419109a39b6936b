"""Goodput: what was delivered as promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simulator.core.latency import e2el_s, tpot_s, ttft_answer_s, ttft_s
from simulator.core.stats import ratio
from simulator.core.table import Floats, Mask
from simulator.core.turns import first_due_s
from simulator.core.window import Traffic, asked_s, ok
from simulator.errors import UsageError

OBJECTIVES = ("ttft_s", "ttft_answer_s", "tpot_s", "e2el_s", "turn_s")


def meets(sample: Traffic, slo: Mapping[str, float]) -> Mask:
    """Which requests sent in the window succeeded within every stated objective; shape (n,). A reply too short to have
    a TPOT cannot miss its TPOT objective. turn_s: from the turn's first due time to its last output."""
    for name in slo:
        if name not in OBJECTIVES:
            raise UsageError(f"slo has no objective {name!r}; use some of {', '.join(OBJECTIVES)}")
    sent, chunks = sample.sent, sample.run.chunks
    good = ok(sent)
    for name, limit in slo.items():
        if name == "tpot_s":
            values: Floats = np.nan_to_num(tpot_s(sent, chunks), nan=0.0)
        elif name == "turn_s":
            due_s = first_due_s(sample.every)[sample.window.holds(asked_s(sample.every))]
            values = sent["t_last_s"] - due_s
        else:
            values = {"ttft_s": ttft_s, "ttft_answer_s": ttft_answer_s, "e2el_s": e2el_s}[name](sent)
        good = good & (values <= limit)
    return good


def goodput(sample: Traffic, slo: Mapping[str, float]) -> dict[str, Any] | None:
    """{slo, requests_s, share, sessions_h}: requests a second, and their share of those sent, that meet every stated
    objective; completed sessions an hour whose requests in the window all did. None when no objective is stated."""
    if not slo:
        return None
    good = meets(sample, slo)
    missed = {sample.sent.text("session").at(int(i)) for i in np.flatnonzero(~good)}
    whole = [s for s in completed(sample) if s not in missed] if sample.kind == "agent" else None
    hours = sample.window.length_s / 3600
    return {
        "slo": dict(slo),
        "requests_s": ratio(float(good.sum()), sample.window.length_s),
        "share": ratio(float(good.sum()), float(len(good))),
        "sessions_h": None if whole is None else ratio(float(len(whole)), hours),
    }


def completed(sample: Traffic) -> list[str]:
    """Sessions that were completed inside the window."""
    window = sample.window
    ends = np.array([s.t_end_s for s in sample.run.sessions])
    inside = window.holds(ends)
    return [s.session for s, held in zip(sample.run.sessions, inside, strict=True) if held and s.outcome == "completed"]
