"""What a run left, as plain data: the argument of every fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.core.chunks import Chunks
from simulator.core.record import EngineSample, Pulse, Request, Session, ToolRun
from simulator.core.table import Table, table_of

KINDS = ("agent", "synthetic")


@dataclass(frozen=True, slots=True)
class RunData:
    """requests, tools, pulses: tables of Request, ToolRun and Pulse (without its slots). windows: traffic kind ->
    (start_s, end_s) as the load loop stated it. ended: the run came to its own end (False: it was killed or still
    goes on). damage: what could not be read, by file, e.g. {"records.jsonl": 1}. slo: the stated objectives, e.g.
    {"ttft_s": 2.0, "tpot_s": 0.05}; empty when none were. arrivals: traffic kind -> the plan of its open loop
    ({"kind", "places", "due_s"}, the times in run seconds); empty in a closed loop. mode: "replay" | "live".
    unsound: why its records are not all there once (core/intact.py), a clause each."""

    requests: Table
    chunks: Chunks
    tools: Table = field(default_factory=lambda: table_of(ToolRun, []))
    sessions: tuple[Session, ...] = ()
    engine: tuple[EngineSample, ...] = ()
    pulses: Table = field(default_factory=lambda: table_of(Pulse, []))
    windows: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    ended: bool = True
    damage: Mapping[str, int] = field(default_factory=dict)
    slo: Mapping[str, float] = field(default_factory=dict)
    arrivals: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mode: str = "replay"
    unsound: Sequence[str] = ()

    @property
    def live(self) -> bool:
        return self.mode == "live"


def empty() -> RunData:
    """A run that sent nothing."""
    return RunData(table_of(Request, []), Chunks(np.zeros(0, dtype=np.uint16)))
