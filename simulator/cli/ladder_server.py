"""One server's life, measured: planned for while it starts, then run by run with its caches dropped in between."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.cli.arrivals import with_traces
from simulator.cli.closing import closing
from simulator.cli.conduct import CLIENT_LOST, ENGINE_GONE, SIGNALS, Conductor, Ending
from simulator.cli.ladder_job import BEGUN, FAULT, LATE, OVER, PHASE, READY, LifeJob, RunJob
from simulator.cli.live import sandboxed
from simulator.cli.procs import choose
from simulator.cli.report import ENGINE_CHANGED, write_report
from simulator.cli.run import Options, read_scenario, run_manifest
from simulator.cli.same_engine import named
from simulator.cli.target import Opened, check_engine, open_target
from simulator.core.scenario import Scenario
from simulator.core.scenario_file import parse
from simulator.engine.serving.config import load_config
from simulator.errors import ClientLost, Interrupted, SimError
from simulator.store.folder import RunFolder, RunWriter
from simulator.tasks.breadth import planned_slots, shared

if TYPE_CHECKING:
    from simulator.cli.planning import Planning

LOOK_S = 0.2
Tell = Callable[..., None]


class Life:
    """One use, made outside the event loop."""

    def __init__(self, job: LifeJob, tell: Tell) -> None:
        self._job, self._tell = job, tell
        self._source = Path(job.scenario)
        self._text = read_scenario(self._source)
        self._scenarios = {run.name: self._scenario(run) for run in job.runs}
        self._plans: dict[str, Planning] = {}
        self._task: asyncio.Task[Any] | None = None
        self._stopping = False

    def _scenario(self, run: RunJob) -> Scenario:
        scenario = with_traces(parse(self._text, str(self._source), run.overrides), self._source)
        return scenario.model_copy(update={"seed": run.seed})

    async def run(self) -> None:
        """Raises SimError when the server does not come up; what goes wrong with a run is told and ends the life."""
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        loop.add_reader(0, self._ladder_is_gone)
        self._listen()
        begun = time.monotonic()
        try:
            async with self._ready() as opened:
                identity = opened.target.identity
                self._tell(READY, start_s=time.monotonic() - begun, pid=identity.get("pid"))
                await self._measure_all(opened)
        except asyncio.CancelledError:
            if self._stopping:
                raise Interrupted("interrupted") from None
            raise
        finally:
            loop.remove_reader(0)
            for planning in self._plans.values():
                await asyncio.to_thread(planning.close)

    def _listen(self) -> None:
        """Signals end the life, until a run takes them over, and after it."""
        for name in SIGNALS:
            asyncio.get_running_loop().add_signal_handler(name, self._stop)

    def _stop(self) -> None:
        self._stopping = True
        for planning in self._plans.values():
            planning.abandon()
        if self._task is not None:
            self._task.cancel()

    def _ladder_is_gone(self) -> None:
        if not os.read(0, 4096):
            asyncio.get_running_loop().remove_reader(0)
            os.kill(os.getpid(), signal.SIGTERM)  # whoever listens to signals now

    @asynccontextmanager
    async def _ready(self) -> AsyncIterator[Opened]:
        """A server that answers, and every plan on disk: nothing is planned while something is measured."""
        job = self._job
        config = load_config(job.engine)
        for scenario in self._scenarios.values():
            check_engine(scenario, job.engine, None, None)
        self._tell(PHASE, text="the engine starts")
        plans = asyncio.create_task(self._plan_all(config.model.served))
        try:
            first = self._scenarios[job.runs[0].name]
            async with open_target(first, None, None, job.engine, Path(job.log)) as opened:
                await plans
                yield opened
        finally:
            if not plans.done():
                plans.cancel()
                for planning in self._plans.values():
                    planning.abandon()
            await asyncio.gather(plans, return_exceptions=True)

    async def _plan_all(self, model: str) -> None:
        """The largest load first, of which the smaller ones are parts."""
        runs = [run for run in self._job.runs if self._scenarios[run.name].sessions]
        if not runs:
            return
        from simulator.cli.planning import Planning  # pulls in document libraries that synthetic traffic does not need

        async with _alone(Path(self._job.planning_lock)):
            for run in sorted(runs, key=lambda each: -(each.concurrency or 0)):
                scenario = self._scenarios[run.name]
                slots = planned_slots(scenario)
                form = shared(scenario) if run.shared else scenario
                planning = await asyncio.to_thread(Planning, form, model, self._planned, slots)
                self._plans[run.name] = planning
                if self._stopping:
                    planning.abandon()
                await asyncio.to_thread(planning.wait)

    def _planned(self, done: int, expected: int) -> None:
        if done < expected:
            self._tell(PHASE, text=f"planning sessions, {done} of about {expected}")

    async def _measure_all(self, opened: Opened) -> None:
        longest_s = 0.0
        for run in self._job.runs:
            deadline = self._job.deadline_unix_s
            if deadline is not None and time.time() + longest_s > deadline:
                self._tell(LATE, name=run.name)
                continue
            begun = time.monotonic()
            self._tell(BEGUN, name=run.name)
            fault = ""
            try:
                fault = await self._run(run, opened)
            except SimError as error:
                fault = str(error)
            took_s = time.monotonic() - begun
            longest_s = max(longest_s, took_s)
            self._tell(FAULT if fault else OVER, name=run.name, took_s=took_s, **({"text": fault} if fault else {}))
            self._listen()
            if fault:
                return

    async def _run(self, run: RunJob, opened: Opened) -> str:
        """What went wrong, "" when it came to its end."""
        scenario, folder = self._scenarios[run.name], Path(run.folder)
        planning = self._plans.get(run.name)
        procs = choose(scenario, self._job.procs, embedded=True)
        client = {"processes": procs.count, "why": procs.why}
        writer = RunFolder.create(folder, {**self._manifest(run, scenario, opened), "client": client})
        gc.unfreeze()  # what the last run kept from the collector
        try:
            conductor = Conductor(
                scenario, opened.target, planning, writer, keep=False, procs=procs.count,
                sandboxed=sandboxed(scenario), lives=opened.lives,
            )  # fmt: skip
            ending = await conductor.run()
        except ClientLost:
            _finish(writer, {"stopped": CLIENT_LOST})
            with contextlib.suppress(SimError, OSError):
                write_report(folder, show=False)
            raise
        except BaseException:
            _finish(writer, {"stopped": "failed"})
            raise
        told = await closing(ending, opened)
        writer.finish(told)
        written = write_report(folder, show=False)
        return self._fault(ending, told.get(ENGINE_CHANGED) or [], opened, written.summary["unanswered"])

    def _fault(self, ending: Ending, changed: list[str], opened: Opened, unanswered: int) -> str:
        if ending.stopped == ENGINE_GONE:
            return opened.gone()
        if ending.stopped == "interrupted":
            return "interrupted"
        if changed:
            return f"the engine is not the one that was started ({named(changed)})"
        if unanswered:
            return f"none of its requests ({unanswered}) was answered; its report names the errors"
        return ""

    def _manifest(self, run: RunJob, scenario: Scenario, opened: Opened) -> dict[str, Any]:
        job = self._job
        options = Options(scenario=self._source, engine=job.engine, label=job.rung, overrides=run.overrides)
        ladder = {
            "rung": job.rung, "pair": run.pair, "life": job.life, "lane": job.lane, "lanes": job.lanes,
            "concurrency": run.concurrency, "cores": job.cores, "env": job.env,
        }  # fmt: skip
        made = run_manifest(options, scenario, self._text, opened.target)
        return {**made, "command": list(job.command), "ladder": ladder}


def _finish(writer: RunWriter, extra: dict[str, Any]) -> None:
    with contextlib.suppress(SimError, OSError):  # what comes first is what is told
        writer.finish(extra)


@asynccontextmanager
async def _alone(path: Path) -> AsyncIterator[None]:
    """While no other lane is: both would plan the same sessions."""
    with path.open("ab") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(LOOK_S)
        yield
