"""Who is the limit, shown by starving each party in turn: real runs against a real engine, nothing patched."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from fixtures_engine import engine_settings
from sim import Sim, wait_for

from simulator.engine.launch import Engine, start_embedded
from simulator.view.verdict import WHO

SCENARIO = """\
name: starved
seed: 3
warmup: {requests: 1}
time_limit_s: 60
synthetic: {input_tok: 64, output_tok: 64, concurrency: 32, requests: 64, warmup_requests: 2}
"""


@asynccontextmanager
async def serving(path: Path) -> AsyncIterator[Engine]:
    engine = await start_embedded(path, path.parent / "engine.log")
    try:
        yield engine
    finally:
        await engine.stop()


def starve(process: subprocess.Popen[str], pulses: Path) -> None:
    """Takes the processor from all of the client's processes, two thirds of the time, once its traffic has begun."""
    wait_for(pulses, 4)
    while process.poll() is None:
        for what, how_long_s in ((signal.SIGSTOP, 0.2), (signal.SIGCONT, 0.1)):
            try:
                os.killpg(process.pid, what)
            except ProcessLookupError:
                return
            time.sleep(how_long_s)


def measured(sim: Sim, engine: Engine, *sets: str, starved: bool = False) -> tuple[dict[str, Any], str]:
    """(summary, what the run printed)."""
    chosen = [part for each in sets for part in ("--set", each)]
    arguments = ("run", sim.scenario(SCENARIO), "--endpoint", engine.base_url, "--out", "out", "--plain", *chosen)
    process = sim.start(*arguments)
    if starved:
        starve(process, sim.folder / "out" / "pulse.jsonl")
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 0, said
    return orjson.loads((sim.folder / "out" / "summary.json").read_bytes()), said


async def test_a_starved_client_is_called_the_limit(sim: Sim) -> None:
    async with serving(engine_settings(sim.folder)) as engine:
        asked = ("synthetic.output_tok=256", "synthetic.requests=96")
        summary, said = await asyncio.to_thread(measured, sim, engine, *asked, starved=True)
    assert summary["client"]["verdict"] == "client-limited"
    assert summary["limit"]["synthetic"]["where"] == "client"
    assert any("event-loop lag" in reason for reason in summary["client"]["reasons"])
    report = (sim.folder / "out" / "report.md").read_text()
    for text in (said, report):
        assert "client-limited" in text
    assert "no verdict may be drawn from a comparison" in report


@pytest.mark.parametrize(
    ("where", "changes", "asked"),
    [
        # one API process that takes an eighth of a second over every prompt
        ("engine front end", {"front_end": {"per_request_s": 0.125}}, ("synthetic.requests=48",)),
        # a batch for four, and 32 who want into it
        ("engine", {"max_num_seqs": 4}, ("synthetic.requests=64",)),
        ("none", {}, ("synthetic.concurrency=2", "synthetic.output_tok=512", "synthetic.requests=4")),
    ],
)
async def test_a_starved_engine_is_called_the_limit(
    sim: Sim, where: str, changes: dict[str, Any], asked: tuple[str, ...]
) -> None:
    async with serving(engine_settings(sim.folder, **changes)) as engine:
        summary, said = await asyncio.to_thread(measured, sim, engine, *asked)
    found = summary["limit"]["synthetic"]
    # On a machine that is short of processors the client may be past its limits as well; it then stands first.
    assert [place for place in found["past"] if place != "client"] == [where] * (where != "none"), found
    assert found["where"] in (where, "client"), found
    if found["where"] == where:
        for text in (said, (sim.folder / "out" / "report.md").read_text()):
            assert f"synthetic: {WHO[where]}" in text
    own = summary["client"]["synthetic"]["ttft_minus_server_s"]
    assert own["n"] == summary["synthetic"]["requests"]["ok"], "the engine tells its own TTFT of every request"
    if where == "engine front end":
        assert own["p50"] > summary["synthetic"]["ttft_s"]["p50"] / 2, "most of the wait is outside of the scheduler"
