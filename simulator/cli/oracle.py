"""What a run says of its oracle before it begins: for how many sessions it knows a solution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.cli.target import Target, mask_url
from simulator.store.plans import PlannedSession


def engine_told(target: Target, rows: Sequence[PlannedSession]) -> dict[str, Any]:
    """The manifest's `engine`. rows: the sessions planned so far. Where an oracle knows no solution for some of them,
    `oracle_unknown` says so, and one that knows none is not called an oracle: all that it says is filler."""
    address = mask_url(target.base_url)
    told = {**target.identity, "kind": target.kind, "base_url": address, "model": target.model}
    unknown = without_solution(target, rows)
    if unknown:
        told["oracle_unknown"] = {"sessions": unknown, "of": len(rows)}
        if unknown == len(rows):
            told.pop("oracle", None)
    return told


def without_solution(target: Target, rows: Sequence[PlannedSession]) -> int:
    """How many sessions get filler replies, for an oracle of ours knows no solution of theirs."""
    return sum(not row.turns for row in rows) if target.solutions is not None else 0
