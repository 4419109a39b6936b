"""Our client as anybody starts it (`sim run`), and what its run folder says."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import orjson
from measure import ROOT, Cost, run

from simulator.drive.meter import Meter
from simulator.drive.synthetic import Synthetic, SyntheticShape
from simulator.engine.vocabulary import FIRST_ID, LAST_ID

#: requests of the same shape before the measured ones
WARMUPS = 16


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run. requests: records of the measured traffic. summary: its summary.json."""

    cost: Cost
    requests: list[dict[str, Any]]
    summary: dict[str, Any]

    @property
    def health(self) -> dict[str, Any]:
        health: dict[str, Any] = self.summary["client"]["synthetic"]
        return health


class At(Protocol):
    @property
    def url(self) -> str: ...


def sim(
    server: At, folder: Path, *, streams: int, requests: int, tok: int, seed: int = 7, input_tok: int = 512
) -> Outcome:
    """`input_tok` tokens in, `tok` out. Raises RuntimeError with what it printed when it fails."""
    shape = {
        "output_tok": tok,
        "concurrency": streams,
        "requests": requests,
        "warmup_requests": WARMUPS,
        "input_tok": input_tok,
    }
    settings = [f"synthetic.{key}={value}" for key, value in shape.items()]
    command = [sys.executable, "-m", "simulator.cli.main", "run", str(ROOT / "scenarios/512_512.yaml"), "--plain"]
    command += ["--endpoint", server.url, "--out", str(folder), "--seed", str(seed), "--procs", "1"]
    for setting in settings:
        command += ["--set", setting]
    cost = run(command, 900.0, {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]})
    if cost.exit_code:
        raise RuntimeError(f"sim run: exit {cost.exit_code}\n{cost.output}")
    lines = (folder / "records.jsonl").read_bytes().splitlines()
    records = [r for r in map(orjson.loads, lines) if r["purpose"] == "synthetic"]
    return Outcome(cost, records, orjson.loads((folder / "summary.json").read_bytes()))


def matched(
    outcome: Outcome,
    truths: Sequence[dict[str, Any]],
    *,
    streams: int,
    requests: int,
    tok: int,
    model: str,
    seed: int = 7,
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """(our record, the server's truth) of each request, found by the body that was sent."""
    shape = SyntheticShape(512, tok, streams, requests, 0, seed, model, FIRST_ID, LAST_ID, 900.0)
    bodies = Synthetic(None, None, Meter(lambda: 0.0), lambda: 0.0, shape, None)  # type: ignore[arg-type]
    crc = {f"syn{n}": zlib.crc32(bodies.body(n)) for n in range(requests)}
    by_crc = {truth["crc"]: truth for truth in truths}
    return [(r, by_crc[crc[r["session"]]]) for r in outcome.requests if crc[r["session"]] in by_crc]


def ttft_error_ms(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> np.ndarray:
    """Our TTFT less the server's, a request."""
    return np.array(
        [
            1e3 * ((r["t_first_s"] - r["t_sent_s"]) - (t["t_first_s"] - t["t_received_s"]))
            for r, t in pairs
            if r["t_first_s"] is not None
        ]
    )


def tpot_ratio(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> np.ndarray:
    """Our TPOT over the server's, a request."""
    return np.array(
        [
            (r["t_last_s"] - r["t_first_s"]) / (t["t_last_s"] - t["t_first_s"])
            for r, t in pairs
            if r["t_last_s"] is not None and r["chunks"] > 1
        ]
    )
