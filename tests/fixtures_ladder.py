"""A ladder's folder with run folders in it, as `sim ladder` leaves one: ladder.json says what their summaries do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from fixtures_run import Shape, write_run

from simulator.cli.report import write_report
from simulator.core.ladder.result import figures
from simulator.store.folder import RunFolder

#: rung -> its level of load (None: the ladder has one) -> agents that its runs have; more give more tok/s
Slots = Mapping[str, Mapping[int | None, int]]


def write_ladder(folder: Path, slots: Slots, *, pairs: int = 1, kind: str = "emulated", synthetic: int = 8) -> Path:
    folder.mkdir(parents=True)
    rungs: list[dict[str, Any]] = []
    for level in dict.fromkeys(level for levels in slots.values() for level in levels):
        for name, levels in slots.items():
            if level in levels:
                entry = name if level is None else f"{name}@{level}"
                repeats = [
                    _repeat(folder, name, entry, level, pair, levels[level], kind, synthetic) for pair in range(pairs)
                ]
                at = {} if level is None else {"concurrency": level}
                rungs.append({"name": entry, "rung": name, **at, "argv": [], "env": {}, "repeats": repeats})
    said = {
        "schema": 1, "made_by": "sim ladder", "scenario": "agents", "synthetic_shape": "512/512", "seed": 7,
        "engine_kind": kind, "random_weights": False, "pairs": pairs, "rungs": rungs, "lives": [],
    }  # fmt: skip
    (folder / "ladder.json").write_bytes(orjson.dumps(said))
    return folder


def _repeat(
    folder: Path, rung: str, entry: str, level: int | None, pair: int, slots: int, kind: str, synthetic: int
) -> dict[str, Any]:
    run = folder / "runs" / f"{entry}-{pair}"
    place = {"rung": rung, "pair": pair, "concurrency": level}
    shape = Shape(slots=slots, window_s=6, synthetic=synthetic, seed=7 + pair, kind=kind)
    write_run(run, shape, label=rung, ladder=place)
    write_report(run, show=False)
    summary = RunFolder.open(run).summary
    assert summary is not None
    return {
        "pair": pair, "lane": 0, "run": f"runs/{run.name}", "seed": 7 + pair, **figures(summary),
        "client_verdict": "ok", "certified": True, "doubts": [], "error": None,
    }  # fmt: skip
