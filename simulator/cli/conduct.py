"""One run from warm-up to the last line: keeps the order of the stages and watches the engine beside them.

warm-up -> caches reset -> agents (ramp, window, drain) -> caches reset -> synthetic traffic.

Ctrl-C once: everything stops, tools are killed by process group, the records are complete and the report is written.
Twice: at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import aiohttp

from simulator.cli.crew import Workers
from simulator.cli.hand import Assignment, Hand
from simulator.cli.oracle import engine_told
from simulator.cli.solutions import write_solutions
from simulator.cli.target import Target
from simulator.cli.watching import EngineWatch
from simulator.core.scenario import Scenario
from simulator.drive.clock import RunClock
from simulator.drive.endpoint import Endpoint
from simulator.drive.load import LoadResult
from simulator.drive.synthetic import SyntheticResult
from simulator.store.folder import RunWriter
from simulator.store.plans import PlannedSession

if TYPE_CHECKING:
    from simulator.cli.planning import Planning

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ENGINE_GONE, CLIENT_LOST = "engine gone", "client lost"
FEED_S = 0.5
RESET_LIMIT_S = 10.0


@contextmanager
def signals_kept() -> Iterator[asyncio.Event]:
    """Set by a signal that comes before a conductor listens: what a run prepares takes a second, and is not to be
    broken into anywhere."""
    loop, kept = asyncio.get_running_loop(), asyncio.Event()
    for name in SIGNALS:
        loop.add_signal_handler(name, kept.set)
    try:
        yield kept
    finally:
        for name in SIGNALS:
            loop.remove_signal_handler(name)


class Crew(Protocol):
    """Whoever carries out the stages: this process (Hand), or several. Stages are called in order, `close` at the end
    also after a fault."""

    @property
    def answered(self) -> int: ...
    @property
    def failed(self) -> int: ...

    async def start(self) -> None: ...
    async def warm_up(self) -> None: ...
    async def agents(self) -> LoadResult: ...
    async def synthetic(self, gate: Callable[[], Awaitable[object]]) -> SyntheticResult: ...
    async def close(self) -> None: ...
    def planned(self, rows: Sequence[PlannedSession], *, complete: bool) -> None: ...
    def interrupt(self, *, commands: bool = False) -> None: ...
    def kill(self) -> None: ...


@dataclass(slots=True)
class Ending:
    """stopped: "" | "interrupted" | "time limit" | "engine gone". caches_reset: the engine dropped its prefix cache
    when asked. ran_dry: slots without a plan left in the window. unverified: solutions that failed their check. That
    nothing was answered is its summary's to say."""

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
        if self.stopped == ENGINE_GONE:
            return 3
        return 1 if self.unverified else 0


class Conductor:
    """One use, made inside the event loop. keep: workspaces stay, below the run folder. procs: client processes that
    share the traffic; one is this process itself. sandboxed: the sessions' commands run in the sandbox. lives: whether
    an engine of ours has not ended. kept: of `signals_kept`, around all of it."""

    def __init__(
        self,
        scenario: Scenario,
        target: Target,
        planning: Planning | None,
        writer: RunWriter,
        *,
        keep: bool,
        procs: int = 1,
        sandboxed: bool = False,
        lives: Callable[[], bool] = lambda: True,
        kept: asyncio.Event | None = None,
    ) -> None:
        self._kept = kept
        self._scenario, self._target, self._writer = scenario, target, writer
        self._planning, self._lives = planning, lives
        self.ending = Ending()
        self._clock = RunClock()
        plans = planning.folder.path if planning is not None else None
        job = Assignment(scenario, target, writer.path, self._clock.origin, plans, keep, sandboxed=sandboxed)
        self._crew: Crew = Hand(job, writer) if procs == 1 else Workers(job, procs, writer)
        self._stopping = False
        self._fault: BaseException | None = None

    async def run(self) -> Ending:
        crew, target = self._crew, self._target
        endpoint = Endpoint(target.base_url, target.api_key or "none", self._clock.now, timeout_s=target.timeout_s)
        try:
            async with self._watched(endpoint) as watch:
                try:
                    await crew.start()
                    await self._stages(crew, endpoint)
                finally:
                    await crew.close()
                if self.ending.stopped != "interrupted" and self._fault is None and await watch.lost():
                    self.ending.stopped = ENGINE_GONE
        finally:
            await endpoint.close()
        if self._fault is not None:
            raise self._fault
        self.ending.answered, self.ending.failed = crew.answered, crew.failed
        return self.ending

    async def _stages(self, crew: Crew, endpoint: Endpoint) -> None:
        if not self._stopping:
            await crew.warm_up()
            self.ending.caches_reset = await self._reset_caches(endpoint)
        if self._planning is not None and not self._stopping:
            await self._agents(self._planning)
        if self._scenario.synthetic is not None and not self._stopping:
            await self._synthetic(endpoint, reset=self._scenario.synthetic.reset_caches)

    @asynccontextmanager
    async def _watched(self, endpoint: Endpoint) -> AsyncIterator[EngineWatch]:
        """The engine is watched for as long as the run goes on; signals are ours meanwhile."""
        loop = asyncio.get_running_loop()
        for name in SIGNALS:
            loop.add_signal_handler(name, self._on_signal)
        if self._kept is not None and self._kept.is_set():
            self._on_signal()
        watch = EngineWatch(endpoint, self._target, self._writer, self._clock.now, self._lives)
        task = asyncio.create_task(watch.run(self._engine_gone))
        task.add_done_callback(self._on_ended)
        try:
            yield watch
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await watch.sample()  # the counters after the last reply
            self._writer.flush()
            for name in SIGNALS:
                loop.remove_signal_handler(name)

    def _stop(self, *, commands: bool = False) -> None:
        self._stopping = True
        self._crew.interrupt(commands=commands)

    def _on_signal(self) -> None:
        if self._stopping:
            self._crew.kill()
            self._writer.flush()
            os._exit(130)
        self.ending.stopped = "interrupted"
        self._stop(commands=True)

    def _on_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._fault = task.exception()
            self._stop()

    def _engine_gone(self) -> None:
        if not self._stopping:
            self.ending.stopped = ENGINE_GONE
            self._stop()

    async def _agents(self, planning: Planning) -> None:
        feeding = asyncio.create_task(self._feed(planning))
        try:
            result = await self._crew.agents()
        finally:
            feeding.cancel()
        if feeding.done() and not feeding.cancelled():
            feeding.result()  # what went wrong while planning
        self._note(result)
        self.ending.ran_dry, self.ending.unverified = result.ran_dry, result.unverified

    async def _feed(self, planning: Planning) -> None:
        """Hands plans to the crew as they get ready. When all are, the way to the window is open; a failure ends the
        run and is told."""
        given: set[str] = set()
        folder, waiting = planning.folder, asyncio.create_task(asyncio.to_thread(planning.wait))
        try:
            while True:
                complete = waiting.done()
                if complete:
                    waiting.result()
                rows = [row for row in folder.sessions if row.session not in given]
                given.update(row.session for row in rows)
                if rows and self._target.solutions is not None:  # the oracle has to know them first
                    await asyncio.to_thread(write_solutions, self._target.solutions, folder, rows)
                if rows or complete:
                    self._crew.planned(rows, complete=complete)
                if complete:
                    break
                await asyncio.wait([waiting], timeout=FEED_S)
        except Exception:
            self._stop()
            raise
        finally:
            waiting.cancel()
        told = {"engine": engine_told(self._target, folder.sessions)}
        self._writer.amend({"plan_hash": folder.hash, "planned_sessions": len(folder.sessions), **told})

    async def _synthetic(self, endpoint: Endpoint, *, reset: bool) -> None:
        async def gate() -> None:
            if reset:
                self.ending.caches_reset = await self._reset_caches(endpoint)

        await gate()
        self._note(await self._crew.synthetic(gate))

    def _note(self, result: LoadResult | SyntheticResult) -> None:
        self.ending.stopped = self.ending.stopped or result.stopped

    async def _reset_caches(self, endpoint: Endpoint) -> bool:
        """True when the engine says it dropped its prefix cache. An engine without the end point keeps it."""
        limit = aiohttp.ClientTimeout(total=RESET_LIMIT_S)
        try:
            async with endpoint.session.post(f"{self._target.root}/reset_prefix_cache", timeout=limit) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False
