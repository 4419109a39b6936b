"""What must not be missed about a run's figures, in the order of its weight: one sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.view.identity import RANDOM_WEIGHTS, emulation, is_emulated, is_random
from simulator.view.verdict import NO_COMPARISON


def marks(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> list[str]:
    """Plain texts; those about who answered first."""
    found = []
    if is_emulated(manifest):
        found.append(f"{emulation(manifest)}: these figures describe the simulator's model of a server, not a GPU")
    if is_random(manifest):
        found.append(RANDOM_WEIGHTS)
    if summary["client"]["verdict"] == "client-limited":
        found.append(f"CLIENT-LIMITED: the figures describe the load generator, and {NO_COMPARISON}")
    cut = next((each for each in summary["warnings"] if each["code"] == "cut_short"), None)
    if cut is not None:
        found.append(f"CUT SHORT: {cut['what']}; {cut['why']}")
    return found
