"""A simulated run as the folds of core want it, without a folder between."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simulator.core.chunks import Chunks, pack
from simulator.core.record import Pulse, Request, ToolRun
from simulator.core.run import RunData
from simulator.core.table import table_of
from simulator.virtual.simulate import Simulated


def run_data(result: Simulated, slo: Mapping[str, float]) -> RunData:
    """slo: objectives, in a scenario's words. The log is sorted and its requests are numbered."""
    log = result.log
    log.sort("virtual")
    parts, at = [], 0
    for record, gaps_us, tokens in log.requests:
        part = pack(gaps_us, tokens)
        record.chunks_at = at if part else -1
        parts.append(part)
        at += len(part)
    return RunData(
        requests=table_of(Request, [record for record, _gaps, _tokens in log.requests]),
        chunks=Chunks(np.frombuffer(b"".join(parts), dtype="<u2")),
        tools=table_of(ToolRun, log.tools),
        sessions=tuple(log.sessions),
        engine=tuple(log.samples),
        pulses=table_of(Pulse, []),
        windows=result.windows,
        slo=slo,
    )
