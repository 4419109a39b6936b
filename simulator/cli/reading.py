"""A run folder as the questions about finished runs want it: folded, whatever version wrote it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.cli.report import current, damaged
from simulator.core.compare.same import Identity, identity
from simulator.core.run import RunData
from simulator.core.why.measured import Measured, measured
from simulator.core.window import traffic
from simulator.store.folder import RunFolder
from simulator.store.source import DIGEST
from simulator.store.writer import RECORDS


@dataclass(frozen=True, slots=True)
class Opened:
    """path: as the user wrote it; name: the folder's, for columns. same: what tells it from other runs."""

    path: Path
    name: str
    manifest: dict[str, Any]
    data: RunData
    summary: dict[str, Any]
    same: Identity

    def measured(self, kind: str) -> Measured | None:
        """One kind of traffic; None when none was sent."""
        sample = traffic(self.data, kind)
        return None if sample is None else measured(sample)


def opened(path: Path) -> Opened:
    """Its records, and its summary by today's rules. UsageError when this is no run folder or its files hold what no
    run writes."""
    run = RunFolder.open(path)
    with damaged(path):
        data = run.data()
    summary = current(run)
    if lost := data.damage.get(RECORDS):
        lines = "a line" if lost == 1 else f"{lost:,} lines"
        print(
            f"sim: {path} is damaged: {lines} of {RECORDS} cannot be read, and its figures are without them",
            file=sys.stderr,
        )
    for clause in data.unsound:
        print(f"sim: {path} is damaged: {clause}", file=sys.stderr)
    name = path.resolve().name
    same = identity(name, run.manifest, run.source[DIGEST], data.requests)
    return Opened(path, name, run.manifest, data, summary, same)
