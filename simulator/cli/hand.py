"""One process's part of a run's traffic: its own connections, tools and health. A run in one process has one hand; in
several, each worker process is one, and they share the run's clock.

Stages come from outside, in their order; each ends with a result or, when the hand's own helpers failed, with that
fault.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from simulator import tokenizer
from simulator.cli.arrivals import open_load, with_due_times
from simulator.cli.hosted import HostedTools
from simulator.cli.procs import streams
from simulator.cli.target import Target
from simulator.cli.tracing import AnsweringTools
from simulator.core.scenario import Scenario
from simulator.core.share import WHOLE, Share
from simulator.drive.clock import RunClock
from simulator.drive.descriptors import reserve
from simulator.drive.endpoint import Endpoint
from simulator.drive.load import Gate, Load, LoadResult, LoadShape
from simulator.drive.meter import Meter
from simulator.drive.openload import AHEAD_S, OpenLoad
from simulator.drive.recorder import Recorder
from simulator.drive.sender import Job, Sender
from simulator.drive.session import Stage
from simulator.drive.synthetic import Synthetic, SyntheticResult, SyntheticShape
from simulator.engine.vocabulary import FIRST_ID
from simulator.store.plans import PlanFolder, PlannedSession

PULSE_S = 0.5
#: an agent's, with those of its sub-agents
CONNECTIONS_A_SESSION = 4
WARMUP_TOK = (256, 32)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a hand is to do. run: the run folder; origin_s: time.monotonic() at run time 0; plans: the folder of plans,
    None without agents; keep: workspaces stay, below the run folder; sandboxed: commands run in the sandbox."""

    scenario: Scenario
    target: Target
    run: Path
    origin_s: float
    plans: Path | None
    keep: bool = False
    share: Share = WHOLE
    sandboxed: bool = False


class Folder(Recorder, Protocol):
    """A recorder that can also add to the run's manifest."""

    def amend(self, fields: Mapping[str, Any]) -> None: ...


class Plans(PlanFolder):
    """The plans as the slots see them. ready: all are there."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, ())
        self.ready = asyncio.Event()


class Hand:
    """One use, on one event loop."""

    def __init__(self, job: Assignment, recorder: Folder) -> None:
        self._job, self._recorder = job, recorder
        self.clock = RunClock(job.origin_s)
        self._meter = Meter(self.clock.now)
        self._interrupt = asyncio.Event()
        self._plans = Plans(job.plans) if job.plans is not None else None
        self._tools: HostedTools | AnsweringTools | None = None
        self._fault: BaseException | None = None
        target, now = job.target, self.clock.now
        self._endpoint = Endpoint(target.base_url, target.api_key or "none", now, timeout_s=target.timeout_s)
        starts_per_s = job.share.rate(job.scenario.arrival.request_starts_per_s)
        self._sender = Sender(
            self._endpoint, recorder, self._meter, now, job.run.name, tokenizer.count, starts_per_s, target.api_key,
            target.model,
        )  # fmt: skip
        self._helpers: list[asyncio.Task[None]] = []

    @property
    def answered(self) -> int:
        return self._sender.answered

    @property
    def failed(self) -> int:
        return self._sender.failed

    async def start(self) -> None:
        scenario = self._job.scenario
        reserve(max(CONNECTIONS_A_SESSION * scenario.sessions, streams(scenario.synthetic)))
        self._helpers = [asyncio.create_task(self._pulse()), asyncio.create_task(self._meter.watch_loop())]
        if self._plans is not None and self._job.share.numbers(self._job.scenario.sessions):
            if scenario.trace is not None:
                self._tools = AnsweringTools()
            else:
                self._tools = await HostedTools.start(
                    self._plans, self._job.run, keep=self._job.keep, sandboxed=self._job.sandboxed
                )
            self._helpers.append(asyncio.create_task(self._tools.watch()))
        for helper in self._helpers:
            helper.add_done_callback(self._on_ended)

    async def warm_up(self) -> None:
        """Small requests that load code paths and connections on both sides; they never count."""
        self._meter.begin("warmup")
        shape = self._shape(*WARMUP_TOK, self._job.scenario.warmup.requests)
        traffic = Synthetic(self._sender, self._recorder, self._meter, self.clock.now, shape, self._interrupt)
        jobs = [self._warm_job(traffic, number) for number in shape.share.numbers(shape.requests)]
        await traffic.bounded(asyncio.gather(*(self._sender.send(job) for job in jobs)))
        self._raise()

    def planned(self, rows: Sequence[PlannedSession], *, complete: bool) -> None:
        """Sessions that have got ready since the last call. complete: there will be no more."""
        assert self._plans is not None
        for row in rows:
            self._plans.add(row)
        if complete:
            self._plans.ready.set()
            _quieten()

    async def agents(self, gate: Gate | None = None) -> LoadResult:
        scenario = self._job.scenario
        if self._tools is None or self._plans is None:
            self._meter.begin("drain", kind="agent")
            return LoadResult()  # more processes than slots
        stage = Stage(
            sender=self._sender,
            tools=self._tools,
            recorder=self._recorder,
            meter=self._meter,
            now=self.clock.now,
            at=self.clock.at,
            stopping=asyncio.Event(),
            paced=scenario.tools == "paced",
            forced=scenario.output.forced,
        )
        load = await self._load(stage, self._plans, gate)
        result = await load.run()
        self._raise()
        return result

    async def _load(self, stage: Stage, plans: Plans, gate: Gate | None) -> Load | OpenLoad:
        scenario, share = self._job.scenario, self._job.share
        if scenario.arrival.open:
            t0_s = None if gate is None else await self._open_start(plans, gate)
            with_places = Share(share.index, min(share.of, scenario.sessions))
            return open_load(scenario, stage, plans, self._interrupt, self._recorder.amend, with_places, t0_s)
        shape = LoadShape(
            slots=scenario.sessions,
            window_s=scenario.window_s,
            ramp_s=scenario.ramp_s,
            limit_s=scenario.time_limit_s,
            drain_s=scenario.drain_s,
            session_starts_per_s=scenario.arrival.session_starts_per_s,
            share=share,
        )
        return Load(stage, shape, plans, self._interrupt, gate)

    async def _open_start(self, plans: Plans, gate: Gate) -> float | None:
        """Run time from which all processes count their arrivals; None when the run ends before."""

        async def start() -> float:
            await plans.ready.wait()
            return await gate() + AHEAD_S

        starting, interrupt = asyncio.create_task(start()), asyncio.create_task(self._interrupt.wait())
        left = max(0.0, self._job.scenario.time_limit_s - self.clock.now())
        await asyncio.wait([starting, interrupt], timeout=left, return_when=asyncio.FIRST_COMPLETED)
        interrupt.cancel()
        if starting.done():
            return starting.result()
        starting.cancel()
        return None

    async def synthetic(self, gate: Callable[[], Awaitable[object]]) -> SyntheticResult:
        """gate: waited for between warm-up and what is measured."""
        block = self._job.scenario.synthetic
        assert block is not None
        shape = self._shape(block.input_tok, block.output_tok, block.requests, block.concurrency, block.warmup_requests)
        if block.arrival.open:
            shape = with_due_times(shape, block, self._job.scenario.seed, self._recorder.amend)
        traffic = Synthetic(self._sender, self._recorder, self._meter, self.clock.now, shape, self._interrupt)
        _quieten()
        result = await traffic.run(gate)
        self._raise()
        return result

    def interrupt(self, *, commands: bool = False) -> None:
        """Everything stops, records are completed. commands: tools that run now are ended by process group."""
        self._interrupt.set()
        if commands and self._tools is not None:
            self._tools.kill_commands()

    def kill(self) -> None:
        """From a signal: ends the tools at once."""
        if self._tools is not None:
            self._tools.kill()

    async def close(self) -> None:
        if self._tools is not None:
            await self._tools.close()
        for helper in self._helpers:
            helper.cancel()
        await asyncio.gather(*self._helpers, return_exceptions=True)
        self._meter.begin("done")
        try:
            self._recorder.pulse(self._meter.pulse())
            self._recorder.flush()
        finally:
            await self._endpoint.close()

    async def _pulse(self) -> None:
        """At the half seconds of the run's clock, so that the pulses of several processes belong together."""
        while True:
            left = PULSE_S - self.clock.now() % PULSE_S
            await asyncio.sleep(left if left > PULSE_S / 10 else left + PULSE_S)  # a timer may wake a little early
            self._recorder.pulse(self._meter.pulse())
            self._recorder.flush()

    def _on_ended(self, task: asyncio.Task[None]) -> None:
        """A helper ended of itself: records can no longer be written, or the tools are gone. The stage in hand ends,
        too, and tells."""
        if not task.cancelled() and task.exception() is not None:
            self._fault = self._fault or task.exception()
            self._interrupt.set()

    def _raise(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _warm_job(self, traffic: Synthetic, number: int) -> Job:
        return Job(
            kind="agent" if self._job.scenario.sessions else "synthetic",
            session=f"warm{number}",
            slot=-1,
            turn=0,
            purpose="warmup",
            retry=0,
            t_due_s=self.clock.now(),
            path="/completions",
            body=traffic.body(-1_000_000 - number),
            prompt_tok=WARMUP_TOK[0],
            output_tok=WARMUP_TOK[1],
        )

    def _shape(
        self, input_tok: int, output_tok: int, requests: int, concurrency: int | None = 8, warmup: int = 0
    ) -> SyntheticShape:
        return SyntheticShape(
            input_tok=input_tok,
            output_tok=output_tok,
            concurrency=concurrency,
            requests=requests,
            warmup_requests=warmup,
            seed=self._job.scenario.seed,
            model=self._job.target.model,
            first_id=FIRST_ID,
            last_id=self._job.target.last_id,
            limit_s=self._job.scenario.time_limit_s,
            share=self._job.share,
            usage=self._job.scenario.usage,
        )


def _quieten() -> None:
    """No pause of the garbage collector for objects that live as long as the run."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
