"""Runs as a comparison sees them, in memory: `side([100, 102], seeds=[1, 2])` is two runs with those output tok/s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.core.compare.comparable import OneRun
from simulator.core.compare.delivered import Delivered


def work(n: int = 50, tok: float = 100.0) -> Delivered:
    return Delivered(np.arange(n, dtype=np.uint64), np.full(n, tok))


def part(output: float | None, **more: Any) -> dict[str, Any]:
    known = {
        "output_tok_s": output,
        "requests": {"sent": 50, "ok": 50, "failed": 0},
        "ttft_s": {"p50": 0.2, "p95": 0.9},
        "tpot_s": {"p50": 10 / output if output else None},
        "drift": 0.01,
        "drift_margin": 0.2,
    }
    return known | more


def one(output: float | None, *, name: str = "run", seed: int = 1, at_s: float = 0.0, **changes: Any) -> OneRun:
    """changes: of the manifest (`scenario_hash`, `mode`, `stopped`), of its engine (`engine={...}`), of the agents'
    part (`agent={...}`), or `synthetic`, `client`, `delivered`, `ended`."""
    engine = {"kind": "real", "model": "m", "gpu": "H200"} | changes.pop("engine", {})
    agent = changes.pop("agent", {})
    summary = {
        "agent": None if agent is None else part(output, **agent),
        "synthetic": changes.pop("synthetic", None),
        "client": {"agent": {"verdict": changes.pop("client", "ok")}, "synthetic": {"verdict": "ok"}},
        "limit": {},
    }
    delivered, ended = changes.pop("delivered", {"agent": work(), "synthetic": work()}), changes.pop("ended", True)
    manifest = {
        "seed": seed, "scenario_hash": f"hash{seed}", "scenario": {"sessions": 8, "seed": seed}, "mode": "replay",
        "label": name, "t0_unix_s": 1_000.0 + at_s, "stopped": "", "versions": {"agent-sim": "0.1.0", "commit": "c"},
        "engine": engine, **changes,
    }  # fmt: skip
    return OneRun(f"{name}-{seed}", manifest, summary, ended, delivered, {})


def side(outputs: Sequence[float | None], *, name: str, first: int = 0, **changes: Any) -> list[OneRun]:
    """One run a value, seeds from 1, in the order A B B A ...; first: 0 of side A, 1 of side B."""
    return [
        one(value, name=name, seed=n + 1, at_s=100.0 * (2 * n + (first + n) % 2), **changes)
        for n, value in enumerate(outputs)
    ]
