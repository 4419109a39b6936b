"""The end of a run in its manifest: how it came, and whether the engine was still the one that was started."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from simulator.cli.conduct import ENGINE_GONE, Ending
from simulator.cli.report import ENGINE_CHANGED, ENGINE_DEATH
from simulator.cli.target import Opened


async def closing(ending: Ending, opened: Opened) -> dict[str, Any]:
    """What to finish the manifest with. An engine of ours that ended by itself leaves no whole run, however little of
    it was missing; then `ending` says so, too."""
    changed = [] if ending.stopped == ENGINE_GONE else await opened.changed()
    told: dict[str, Any] = {}
    if death := opened.death():
        ending.stopped = ending.stopped if ending.stopped == "interrupted" else ENGINE_GONE
        told[ENGINE_DEATH] = death
    elif changed:
        told[ENGINE_CHANGED] = changed
    return {**asdict(ending), **told}
