"""One run from warm-up to the last line: wires clock, endpoint, tools, records and scrapes, and keeps the order:

warm-up -> caches reset -> agents (ramp, window, drain) -> caches reset -> synthetic traffic.

Ctrl-C once: everything stops, tools are killed by process group, the records are complete and the report is written.
Twice: at once.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp

from simulator import tokenizer
from simulator.cli.arrivals import open_load
from simulator.cli.hosted import HostedTools
from simulator.cli.target import Target
from simulator.cli.watching import EngineWatch
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario
from simulator.drive.clock import RunClock
from simulator.drive.endpoint import Endpoint
from simulator.drive.load import Load, LoadResult, LoadShape
from simulator.drive.meter import Meter
from simulator.drive.openload import OpenLoad
from simulator.drive.sender import Job, Sender
from simulator.drive.session import Stage
from simulator.drive.synthetic import Synthetic, SyntheticResult, SyntheticShape
from simulator.store.folder import RunWriter

if TYPE_CHECKING:
    from simulator.cli.planning import Planning

PULSE_S = 0.5
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ENGINE_GONE = "engine gone"
#: ids of ordinary words in a vocabulary whose first thousand are special
FIRST_ID, LAST_ID = 1_300, 100_000
WARMUP_TOK = (256, 32)


class Planned:
    """The plans as the slots see them."""

    def __init__(self, planning: Planning) -> None:
        self.planning = planning
        self.ready = asyncio.Event()

    @property
    def count(self) -> int:
        return len(self.planning.folder.sessions)

    def nth(self, slot: int, n: int) -> str | None:
        return self.planning.folder.nth(slot, n)

    def load(self, session: str) -> SessionPlan:
        return self.planning.folder.load(session)


@dataclass(slots=True)
class Ending:
    """stopped: "" | "interrupted" | "time limit" | "engine gone". caches_reset: the engine dropped its prefix cache
    when asked. ran_dry: slots without a plan left in the window. unverified: solutions that failed their check."""

    stopped: str = ""
    caches_reset: bool = False
    ran_dry: int = 0
    answered: int = 0
    failed: int = 0
    unverified: int = 0

    @property
    def exit_code(self) -> int:
        if self.stopped == "interrupted":
            return 130
        if self.stopped == ENGINE_GONE or (not self.answered and self.failed):
            return 3
        return 1 if self.unverified else 0


class Conductor:
    """One use. `keep`: workspaces stay, below the run folder."""

    def __init__(
        self, scenario: Scenario, target: Target, planning: Planning | None, writer: RunWriter, *, keep: bool
    ) -> None:
        self._scenario, self._target, self._writer, self._keep = scenario, target, writer, keep
        self._planning = planning
        self.ending = Ending()
        self._clock = RunClock()
        self._meter = Meter(self._clock.now)
        self._interrupt = asyncio.Event()
        self._tools: HostedTools | None = None
        self._fault: BaseException | None = None

    async def run(self) -> Ending:
        scenario, now = self._scenario, self._clock.now
        endpoint = Endpoint(
            self._target.base_url, self._target.api_key or "none", now, timeout_s=self._target.timeout_s
        )
        sender = Sender(
            endpoint,
            self._writer,
            self._meter,
            now,
            self._writer.path.name,
            tokenizer.count,
            scenario.arrival.request_starts_per_s,
            self._target.api_key,
        )
        async with self._watched(endpoint):
            try:
                if self._planning is not None:
                    self._tools = await HostedTools.start(self._planning.folder, self._writer.path, keep=self._keep)
                await self._warm_up(sender)
                self.ending.caches_reset = await self._reset_caches(endpoint)
                if self._planning is not None:
                    await self._agents(sender, self._planning)
                if scenario.synthetic is not None and not self._interrupt.is_set():
                    await self._synthetic(sender, endpoint)
            finally:
                if self._tools is not None:
                    await self._tools.close()
        await endpoint.close()
        if self._fault is not None:
            raise self._fault
        self.ending.answered, self.ending.failed = sender.answered, sender.failed
        return self.ending

    @asynccontextmanager
    async def _watched(self, endpoint: Endpoint) -> AsyncIterator[None]:
        """Pulses, scrapes and the loop's own lag, for as long as the run goes on; signals are ours meanwhile."""
        loop = asyncio.get_running_loop()
        for name in SIGNALS:
            loop.add_signal_handler(name, self._on_signal)
        watch = EngineWatch(endpoint, self._target, self._writer, self._clock.now)
        tasks = [
            asyncio.create_task(self._pulse()),
            asyncio.create_task(watch.run(self._engine_gone)),
            asyncio.create_task(self._meter.watch_loop()),
        ]
        for task in tasks:
            task.add_done_callback(self._on_ended)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await watch.sample()  # the counters after the last reply
            self._meter.begin("done")
            self._writer.pulse(self._meter.pulse())
            self._writer.flush()
            for name in SIGNALS:
                loop.remove_signal_handler(name)

    def _on_signal(self) -> None:
        if self._interrupt.is_set():
            if self._tools is not None:
                self._tools.kill()
            self._writer.flush()
            os._exit(130)
        self._interrupt.set()
        self.ending.stopped = "interrupted"
        if self._tools is not None:
            self._tools.kill_commands()

    def _on_ended(self, task: asyncio.Task[None]) -> None:
        """A helper of the run ended of itself: records can no longer be written, say. The run ends too, and tells."""
        if not task.cancelled() and task.exception() is not None:
            self._fault = task.exception()
            self._interrupt.set()

    def _engine_gone(self) -> None:
        if not self._interrupt.is_set():
            self.ending.stopped = ENGINE_GONE
            self._interrupt.set()

    async def _pulse(self) -> None:
        while True:
            await asyncio.sleep(PULSE_S)
            self._writer.pulse(self._meter.pulse())
            self._writer.flush()

    async def _warm_up(self, sender: Sender) -> None:
        """Small requests that load code paths and connections on both sides; they never count."""
        self._meter.begin("warmup")
        shape = self._shape(*WARMUP_TOK, self._scenario.warmup.requests)
        traffic = Synthetic(sender, self._writer, self._meter, self._clock.now, shape, self._interrupt)
        await traffic.bounded(asyncio.gather(*(sender.send(self._warm_job(traffic, i)) for i in range(shape.requests))))

    def _warm_job(self, traffic: Synthetic, number: int) -> Job:
        return Job(
            kind="agent" if self._scenario.sessions else "synthetic",
            session=f"warm{number}",
            slot=-1,
            turn=0,
            purpose="warmup",
            retry=0,
            t_due_s=self._clock.now(),
            path="/completions",
            body=traffic.body(-1_000_000 - number),
            prompt_tok=WARMUP_TOK[0],
            output_tok=WARMUP_TOK[1],
        )

    async def _agents(self, sender: Sender, planning: Planning) -> None:
        assert self._tools is not None
        scenario = self._scenario
        stage = Stage(
            sender=sender,
            tools=self._tools,
            recorder=self._writer,
            meter=self._meter,
            now=self._clock.now,
            at=self._clock.at,
            stopping=asyncio.Event(),
            paced=scenario.tools == "paced",
            forced=scenario.output.forced,
        )
        work = Planned(planning)
        waiting = asyncio.create_task(self._until_planned(work))
        try:
            result = await self._load(stage, work).run()
        finally:
            waiting.cancel()
        if waiting.done() and not waiting.cancelled():
            waiting.result()  # what went wrong while planning
        self._note(result)
        self.ending.ran_dry, self.ending.unverified = result.ran_dry, result.unverified

    def _load(self, stage: Stage, work: Planned) -> Load | OpenLoad:
        scenario = self._scenario
        if scenario.arrival.open:
            return open_load(scenario, stage, work, self._interrupt, self._writer)
        shape = LoadShape(
            slots=scenario.sessions,
            window_s=scenario.window_s,
            ramp_s=scenario.ramp_s,
            limit_s=scenario.time_limit_s,
            session_starts_per_s=scenario.arrival.session_starts_per_s,
        )
        return Load(stage, shape, work, self._interrupt)

    async def _until_planned(self, work: Planned) -> None:
        """Opens the way to the window when all sessions are planned; a failure ends the run and is told."""
        try:
            await asyncio.to_thread(work.planning.wait)
        except BaseException:
            self._interrupt.set()
            raise
        finally:
            work.ready.set()
        self._writer.amend({"plan_hash": work.planning.folder.hash, "planned_sessions": work.count})
        self._quieten()

    @staticmethod
    def _quieten() -> None:
        """No pause of the garbage collector for objects that live as long as the run."""
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)

    async def _synthetic(self, sender: Sender, endpoint: Endpoint) -> None:
        block = self._scenario.synthetic
        assert block is not None
        shape = self._shape(block.input_tok, block.output_tok, block.requests, block.concurrency, block.warmup_requests)

        async def reset() -> None:
            if block.reset_caches:
                self.ending.caches_reset = await self._reset_caches(endpoint)

        traffic = Synthetic(sender, self._writer, self._meter, self._clock.now, shape, self._interrupt)
        await reset()
        self._note(await traffic.run(reset))

    def _shape(
        self, input_tok: int, output_tok: int, requests: int, concurrency: int = 8, warmup: int = 0
    ) -> SyntheticShape:
        return SyntheticShape(
            input_tok=input_tok,
            output_tok=output_tok,
            concurrency=concurrency,
            requests=requests,
            warmup_requests=warmup,
            seed=self._scenario.seed,
            model=self._target.model,
            first_id=FIRST_ID,
            last_id=LAST_ID,
            limit_s=self._scenario.time_limit_s,
        )

    def _note(self, result: LoadResult | SyntheticResult) -> None:
        self.ending.stopped = self.ending.stopped or result.stopped

    async def _reset_caches(self, endpoint: Endpoint) -> bool:
        """True when the engine says it dropped its prefix cache. An engine without the end point keeps it."""
        try:
            async with endpoint.session.post(
                f"{self._target.root}/reset_prefix_cache", timeout=aiohttp.ClientTimeout(total=10)
            ) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False
