"""What a run with a failure in it shows, as a flat list of names and numbers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from simulator.core.run import RunData
from simulator.core.table import Floats, Table

GENERATED = "vllm:generation_tokens_total"
RUNNING = "vllm:num_requests_running"
#: chunks below which a reply's silences say nothing
FEWEST_CHUNKS = 3


def figures(run: RunData) -> dict[str, float | None]:
    """Of the agents' requests. None: nothing to take it from. Names that count are whole numbers; docs/failures.md
    says what each means."""
    kinds = run.requests.text("kind")
    requests = run.requests.where(kinds.among("agent") & ~run.requests.text("purpose").among("warmup"))
    ok = requests.where(requests.text("outcome").among("ok"))
    found: dict[str, float | None] = {
        "requests.sent": requests.n,
        "requests.ok": ok.n,
        "requests.again": float(np.count_nonzero(requests["retry"] > 0)),
        "requests.closed": float(np.count_nonzero(requests["stopped"] > 0)),
        "ttft_s": _median(ok["t_first_s"] - ok["t_sent_s"]),
        "e2el_s": _median(ok["t_last_s"] - ok["t_sent_s"]),
        "cached_share": _cached_share(ok),
        "silence_share": _silence_share(run, ok),
        "backoff_s": sum(session.backoff_s for session in run.sessions),
        "sessions.completed": sum(session.outcome == "completed" for session in run.sessions),
        "sessions.failed": sum(session.outcome == "failed" for session in run.sessions),
        "engine.unread_tok": _unread_tok(run, requests),
        "engine.running": _last(run, RUNNING),
    }
    for part, column in (("errors", "error"), ("defects", "defect")):
        text = requests.text(column)
        counts = Counter(text.at(row) for row in range(requests.n))
        found |= {f"{part}.{name}": float(count) for name, count in counts.items() if name}
    return found


def ends(run: RunData) -> dict[str, list[str]]:
    """How each profile's sessions ended: their error, "" for none."""
    found: dict[str, list[str]] = {}
    for session in run.sessions:
        found.setdefault(session.profile, []).append(session.error)
    return found


def _median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def _cached_share(ok: Table) -> float | None:
    """Cached prompt tokens of all, behind each session's first turn."""
    later = ok.where((ok["turn"] > 0) & ~np.isnan(ok["cached_tok"]))
    total = later["prompt_tok"].sum()
    return float(later["cached_tok"].sum() / total) if total > 0 else None


def _silence_share(run: RunData, ok: Table) -> float | None:
    """The longest silence inside a reply as a share of the time from its first to its last token; median of replies."""
    rows = run.chunks.present(ok) & (ok["chunks"] >= FEWEST_CHUNKS)
    longest = np.zeros(ok.n)
    for slab in run.chunks.slabs(ok, rows):
        np.maximum.at(longest, slab.row[~slab.first], slab.gap_us[~slab.first] / 1e6)
    took = (ok["t_last_s"] - ok["t_first_s"])[rows]
    return _median(longest[rows][took > 0] / took[took > 0])


def _last(run: RunData, name: str) -> float | None:
    values = [sample.values[name] for sample in run.engine if name in sample.values]
    return values[-1] if values else None


def _unread_tok(run: RunData, requests: Table) -> float | None:
    """Tokens that the engine generated and no client has seen."""
    generated = _last(run, GENERATED)
    return None if generated is None else generated - float(np.nansum(requests["output_tok"]))
