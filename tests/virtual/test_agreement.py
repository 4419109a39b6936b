"""Virtual time against real time: the same plans, the same engine settings, once over HTTP and once without.

The engine is a slow one, a tenth of the shipped GPU, so that what this machine adds to each request is small beside
what the model says; its replies have no drafts, whose luck would differ.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fixtures_engine import engine_settings
from plays import plan, scenario

from simulator.core.plan import SessionPlan
from simulator.core.record import EngineSample
from simulator.core.summary import summarise
from simulator.drive.clock import RunClock
from simulator.drive.endpoint import Endpoint
from simulator.drive.load import Load, LoadShape
from simulator.drive.meter import Meter
from simulator.drive.sender import Sender
from simulator.drive.stage import Stage
from simulator.drive.tools import RecordedTools
from simulator.engine.embedded.config import PARAMS_DIR, load_params
from simulator.engine.embedded.prompts import Prompts
from simulator.engine.launch import start_embedded
from simulator.engine.scrape import scrape
from simulator.store.folder import RunFolder, RunWriter
from simulator.virtual.fold import run_data
from simulator.virtual.script import mark_shared, script
from simulator.virtual.simulate import simulate

#: steps of the emulation that come later than this make real time slower than the model
LATE_S = 0.02
SLOTS, WINDOW_S, RAMP_S, SLOWER = 3, 18.0, 5.4, 10.0


def plans() -> list[list[SessionPlan]]:
    """By slot: sessions whose prompts grow by a good thousand tokens a turn."""
    return [
        [plan(f"s{slot + n * SLOTS:04d}", turns=5, words=1600, output_tok=24 + 2 * slot, tool_s=2.0) for n in range(4)]
        for slot in range(SLOTS)
    ]


@dataclass
class Queues:
    queues: list[list[SessionPlan]]
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def nth(self, slot: int, n: int) -> str | None:
        return self.queues[slot][n].session if n < len(self.queues[slot]) else None

    def load(self, session: str) -> SessionPlan:
        return next(p for queue in self.queues for p in queue if p.session == session)


async def watched(writer: RunWriter, meter: Meter, endpoint: Endpoint, metrics_url: str, clock: RunClock) -> None:
    """Pulses and scrapes, as a run has them: whether client and engine kept up."""
    while True:
        await asyncio.sleep(0.5)
        writer.pulse(meter.pulse())
        writer.engine(EngineSample(clock.now(), await scrape(endpoint.session, metrics_url)))


async def in_real_time(settings: Path, folder: Path) -> dict[str, Any]:
    """The summary of a run over HTTP against an engine in a process of its own."""
    writer, clock = RunFolder.create(folder, {"engine": {"kind": "emulated"}}), RunClock()
    meter, work, stopping = Meter(clock.now), Queues(plans()), asyncio.Event()
    work.ready.set()
    engine = await start_embedded(settings, folder / "engine.log")
    endpoint = Endpoint(engine.base_url, "key", clock.now, timeout_s=60)
    try:
        sender = Sender(endpoint, writer, meter, clock.now, "run", len)
        stage = Stage(sender, RecordedTools(), writer, meter, clock.now, clock.at, stopping, paced=True, forced=True)
        watching = [
            asyncio.create_task(meter.watch_loop()),
            asyncio.create_task(watched(writer, meter, endpoint, engine.metrics_url, clock)),
        ]
        await Load(stage, LoadShape(SLOTS, WINDOW_S, RAMP_S, 60.0), work, asyncio.Event()).run()
        for task in watching:
            assert not task.done()
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
    finally:
        await endpoint.close()
        await engine.stop()
        writer.finish()
    return summarise(RunFolder.open(folder).data())


def in_virtual_time(settings: Path) -> dict[str, Any]:
    params = load_params(settings)
    prompts = Prompts(params.block_size)
    flat = iter(mark_shared([script(p, prompts) for slot in plans() for p in slot]))
    scripts = [[next(flat) for _ in slot] for slot in plans()]
    chosen = scenario(SLOTS, ramp_s=RAMP_S, window_s=WINDOW_S, refill=True)
    return summarise(run_data(simulate(chosen, params, scripts), {}))


def lateness_s(folder: Path) -> float:
    """How late the emulation's own steps were at worst."""
    return max(s.values["embedded:schedule_lag_seconds"] for s in RunFolder.open(folder).engine)


async def test_virtual_time_agrees_with_real_time(tmp_path: Path) -> None:
    settings = engine_settings(tmp_path, PARAMS_DIR / "baseline.yaml", slower=SLOWER)
    virtual = in_virtual_time(settings)["agent"]
    summary = await in_real_time(settings, tmp_path / "run")
    real, late_s = summary["agent"], lateness_s(tmp_path / "run")
    if summary["client"]["verdict"] == "client-limited" or late_s > LATE_S:
        pytest.skip(f"this machine is busy: {summary['client']['reasons']}, the emulation {late_s * 1e3:.0f} ms late")
    assert real["requests"]["ok"] >= 8 and real["requests"]["failed"] == 0
    figures = {
        name: (each["output_tok_s"], each["ttft_s"]["p50"], each["tpot_s"]["p50"], each["cached_share"]["all"])
        for name, each in (("real", real), ("virtual", virtual))
    }
    assert figures["virtual"] == pytest.approx(figures["real"], rel=0.03), figures
