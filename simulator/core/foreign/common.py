"""What a run of ours and a file of another load generator mean alike, and ours folded to that meaning.

Other tools start their clock at the library call and know no measured window, so everything here is of all requests but
the warm-up, from t_call. docs/foreign.md has the definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.core.chunks import Chunks
from simulator.core.compare.verdict import LATENCY_MARGIN, THROUGHPUT_MARGIN
from simulator.core.stats import GapHistogram, describe, known, ratio
from simulator.core.table import Floats, Table
from simulator.core.window import failed, ok

LEVELS = ("mean", "p50", "p90", "p95", "p99")
SPREADS = {"ttft_s": "TTFT from call", "e2el_s": "E2EL from call", "tpot_s": "TPOT by n - 1", "icl_s": "ICL"}


@dataclass(frozen=True, slots=True)
class Common:
    """key: in Figures. unit: as in core/metric. margin: share within which two values are equal. better "": it says
    what was asked of the engine, not how it did."""

    key: str
    label: str
    unit: str
    better: str
    margin: float


METRICS = (
    Common("output_tok_s", "output", "tok/s", "higher", THROUGHPUT_MARGIN),
    Common("requests_s", "requests", "/s", "higher", THROUGHPUT_MARGIN),
    *(
        Common(f"{key}.{level}", f"{label} {level}", "s", "lower", LATENCY_MARGIN)
        for key, label in SPREADS.items()
        for level in LEVELS
    ),
    Common("prompt_tok", "prompt, mean", "tok", "", THROUGHPUT_MARGIN),
    Common("output_tok", "reply, mean", "tok", "", THROUGHPUT_MARGIN),
)
#: a Common's key -> the value; None: unknown
Figures = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of ours or of another tool. name: as the user may call it. tool: what measured. at_once: requests open at
    once, None where the load is of another kind. requests, failed: finished well, and not. limited: the client says of
    itself that it was the limit; other tools do not say. emulated, random: of ours; a file does not tell either."""

    name: str
    tool: str
    model: str
    figures: Figures
    requests: int
    failed: int
    at_once: int | None = None
    limited: bool = False
    emulated: bool = False
    random: bool = False


def figures(requests: Table, chunks: Chunks) -> dict[str, float | None]:
    """Of the requests of one traffic; shape of each column (n,). The rate is over the time from the first call to the
    last end."""
    every = requests.where(~requests.text("purpose").among("warmup"))
    good = every.where(ok(every))
    calls, ends = known(every["t_call_s"]), known(every["t_end_s"])
    wall_s = float(ends.max() - calls.min()) if len(calls) and len(ends) else None
    output = known(good["output_tok"])
    told: dict[str, float | None] = {
        "output_tok_s": ratio(float(output.sum()), wall_s) if len(output) else None,
        "requests_s": ratio(float(good.n), wall_s) if good.n else None,
        "prompt_tok": _mean(good["prompt_tok"]),
        "output_tok": _mean(output),
    }
    beyond = good["output_tok"] - 1
    stream_s = good["t_last_s"] - good["t_first_s"]
    spreads = {
        "ttft_s": good["t_first_s"] - good["t_call_s"],
        "e2el_s": good["t_last_s"] - good["t_call_s"],
        "tpot_s": np.divide(stream_s, beyond, out=np.full(good.n, np.nan), where=beyond > 0),
    }
    for key, values in spreads.items():
        row = describe(values)
        told |= {f"{key}.{level}": row[level] for level in LEVELS}
    gaps = _gaps(good, chunks)
    return told | {f"icl_s.{level}": gaps[level] for level in LEVELS}


def _mean(values: Floats) -> float | None:
    held = known(values)
    return float(held.mean()) if len(held) else None


def _gaps(good: Table, chunks: Chunks) -> dict[str, float | None]:
    """Gaps between a reply's chunks; p99 as of requests, from 1,000 on."""
    gaps = GapHistogram()
    for slab in chunks.slabs(good, np.ones(good.n, dtype=np.bool_)):
        later = ~slab.first
        gaps.add(slab.gap_us[later].astype(np.float64), np.ones(int(later.sum()), dtype=np.int64))
    return gaps.describe(good.n)


def counts(requests: Table) -> tuple[int, int]:
    """(finished well, failed), warm-up left out."""
    every = requests.where(~requests.text("purpose").among("warmup"))
    return int(ok(every).sum()), int(failed(every).sum())
