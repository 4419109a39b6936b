"""Template `finance_yearend`: a group's year-end figures (loans, fund returns, consolidation and more) from ledgers.

The pieces are in close/: world.py (shared facts), a module of facts and right figures for each chapter with the
recorded way beside it (`*_path.py`), house.py (the repository around them), frame.py (request, first look, report).
Text templates of scripts, helpers and tests are in files/.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.core.task import Style, Task

from .close import KIND, assemble

__all__ = ["KIND", "broken", "make"]


def make(seed: int, size: str, style: Style) -> Task:
    """The task of this seed. size: "small" (one chapter, 17-22 turns), "medium" (28-50) or "long" (80-130). Pure, about
    0.1 s."""
    return assemble(Path(__file__).resolve().parent.name, seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, dict[str, bytes | None]]]:
    """A figure of each result a cent (or two tolerances) off, a result not written, a report without its figures."""
    truth = json.loads(task.check.truth)
    for name, rows in truth["results"].items():
        keys, want, tolerance = rows[-1]
        off = float(want) + max(0.01, 2.5 * float(tolerance))
        wrong = [*rows[:-1], [keys, f"{off:.8f}", tolerance]]
        yield f"{' / '.join(keys)} in {name} is off", {name: json.dumps(_nested(wrong)).encode()}
    yield "a result is missing", {next(iter(truth["results"])): None}
    yield "the report has no figures", {truth["report"]: b"# Report\n\nAll figures agree.\n"}


def _nested(rows: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for keys, value, _ in rows:
        place = found
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        place[keys[-1]] = value
    return found
