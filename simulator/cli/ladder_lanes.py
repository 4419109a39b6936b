"""The lives of a ladder, carried out: each in a process of its own, several lanes side by side, within a budget."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from simulator.cli.conduct import SIGNALS
from simulator.cli.ladder_job import BEGUN, FAULT, LATE, OVER, PHASE, READY, LifeJob, RunJob
from simulator.cli.ladder_journal import Journal, entry_name
from simulator.cli.ladder_marks import MARK
from simulator.core.ladder.schedule import Life, expected_s, left_s
from simulator.store.ladder import LIVES, PLANNING_LOCK, RUNS, LadderFolder
from simulator.view.ladder import Lines

#: of a budget, kept back to stop a server that is still at work; and its most
STOP_SHARE, STOP_S = 0.1, 20.0
#: a life that was told to end and does not is killed
KILL_S = 60.0


@dataclass(frozen=True, slots=True)
class Lane:
    """gpus: for CUDA_VISIBLE_DEVICES, None to leave it as it is. cores: that its server and client share, None: all."""

    number: int
    gpus: str | None
    cores: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Work:
    """What is asked for: names and engines of the rungs (as `sim run --engine` takes them), levels of load (None: as
    the scenario has it), what each changes of the scenario, and the lives. floor_s: what a run takes at least."""

    scenario: str
    names: tuple[str, ...]
    engines: tuple[str, ...]
    levels: tuple[int | None, ...]
    loads: Mapping[int | None, tuple[str, ...]]
    lives: tuple[Life, ...]
    lanes: tuple[Lane, ...]
    overrides: tuple[str, ...]
    seed: int
    floor_s: float
    deadline_unix_s: float | None
    keep_going: bool
    procs: int | None
    command: tuple[str, ...]


@dataclass(slots=True)
class Ended:
    """interrupted: by a signal. late: the budget kept something from being begun or from its end. failed: a rung did
    not start, or a repeat went wrong."""

    interrupted: bool = False
    late: bool = False
    failed: bool = False


@dataclass(slots=True)
class _Going:
    """A life that goes on. fault: of its start."""

    life: Life
    number: int
    lane: Lane
    runs: dict[str, RunJob]
    ready: bool = False
    at: str = ""
    told: set[str] = field(default_factory=set)
    fault: str = ""


class Lanes:
    """Made inside the event loop."""

    def __init__(self, work: Work, folder: LadderFolder, journal: Journal, lines: Lines) -> None:
        self._work, self._folder, self._journal, self._lines = work, folder, journal, lines
        self._queues = {lane.number: [x for x in work.lives if x.lane == lane.number] for lane in work.lanes}
        self._children: set[asyncio.subprocess.Process] = set()
        self._given_up: set[int] = set()
        self._stopping = False
        self.ended = Ended()

    async def run(self) -> Ended:
        loop = asyncio.get_running_loop()
        for name in SIGNALS:
            loop.add_signal_handler(name, self._on_signal)
        watch = asyncio.create_task(self._budget())
        try:
            await asyncio.gather(*(self._lane(lane) for lane in self._work.lanes))
        finally:
            watch.cancel()
            for child in self._children:
                with contextlib.suppress(ProcessLookupError):
                    child.kill()
            for name in SIGNALS:
                loop.remove_signal_handler(name)
        return self.ended

    def _on_signal(self) -> None:
        again, self._stopping, self.ended.interrupted = self._stopping, True, True
        self._lines.say("stopping; once more to stop at once" if not again else "stopping at once")
        self._tell(signal.SIGKILL if again else signal.SIGTERM)

    def _tell(self, number: int) -> None:
        for child in self._children:
            with contextlib.suppress(ProcessLookupError):
                child.send_signal(number)

    async def _budget(self) -> None:
        """Ends what is at work shortly before the budget does, and kills it at its end."""
        deadline = self._work.deadline_unix_s
        if deadline is None:
            return
        spare = min(STOP_S, STOP_SHARE * (deadline - time.time()))
        await asyncio.sleep(max(0.0, deadline - spare - time.time()))
        self._stopping = self.ended.late = True
        self._tell(signal.SIGTERM)
        await asyncio.sleep(max(0.0, deadline - time.time()))
        self._tell(signal.SIGKILL)

    async def _lane(self, lane: Lane) -> None:
        queue = self._queues[lane.number]
        while queue and not self._stopping:
            life = queue[0]
            runs = [] if life.rung in self._given_up else self._missing(life)
            if runs and not self._fits(life, len(runs)):
                self.ended.late = True
                return
            if runs:
                await self._live(life, lane, runs)
            queue.pop(0)

    def _missing(self, life: Life) -> list[RunJob]:
        work, name = self._work, self._work.names[life.rung]
        found = []
        for pair in life.pairs:
            for level in work.levels:
                entry = entry_name(name, level)
                if self._journal.done(entry, pair):
                    continue
                load = work.loads[level]
                folder = self._folder.run(f"{entry}-{pair}")
                found.append(
                    RunJob(
                        f"{entry}-{pair}", str(folder), pair, work.seed + pair, level,
                        (*work.overrides, *load), shared=level is not None,
                    )
                )  # fmt: skip
        return found

    def _fits(self, life: Life, runs: int) -> bool:
        deadline = self._work.deadline_unix_s
        if deadline is None:
            return True
        return time.time() + expected_s(life, runs, self._took(), self._work.floor_s) <= deadline

    def _took(self) -> Any:
        return self._journal.took(self._work.names)

    async def _live(self, life: Life, lane: Lane, runs: Sequence[RunJob]) -> None:
        number, name = self._journal.next_life(), self._work.names[life.rung]
        self._journal.life(number, rung=name, lane=lane.number, pairs=sorted({run.pair for run in runs}))
        going = _Going(life, number, lane, {run.name: run for run in runs})
        for run in runs:
            if (aside := self._folder.set_aside(run.name)) is not None:
                self._lines.say(f"{run.name} had not come to its end; it is kept as {aside}")
        stem = self._folder.path / LIVES / f"{number:03d}-{name}"
        env = {} if lane.gpus is None else {"CUDA_VISIBLE_DEVICES": lane.gpus}
        job = LifeJob(
            name, self._work.engines[life.rung], self._work.scenario, number, lane.number, len(self._work.lanes),
            lane.cores, env, f"{stem}.engine.log", str(self._folder.path / PLANNING_LOCK), self._work.procs,
            self._work.deadline_unix_s, self._work.command, tuple(runs),
        )  # fmt: skip
        job.write(stem.with_name(f"{stem.name}.json"))
        begun = time.monotonic()
        returncode = await self._process(job, going, stem.with_name(f"{stem.name}.log"), env)
        if not self._stopping:
            self._journal.life(number, wall_s=round(time.monotonic() - begun, 2))
        self._close(going, returncode)

    async def _process(self, job: LifeJob, going: _Going, log: Any, env: Mapping[str, str]) -> int:
        """Its exit code."""
        mark = {MARK: str(self._folder.path.resolve())}
        with log.open("ab") as out:
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "simulator.cli.ladder_life", str(log.with_suffix(".json")),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=out,
                env={**os.environ, **env, **mark}, start_new_session=True, pass_fds=(self._folder.lock.fileno(),),
                limit=2**20,
            )  # fmt: skip
        self._children.add(child)
        try:
            if self._stopping:
                child.terminate()
            assert child.stdout is not None
            async for line in child.stdout:
                with contextlib.suppress(orjson.JSONDecodeError, KeyError):
                    self._heard(going, orjson.loads(line))
            return await child.wait()
        finally:
            self._children.discard(child)
            self._lines.quiet(going.lane.number)

    def _heard(self, going: _Going, said: Mapping[str, Any]) -> None:
        name = self._work.names[going.life.rung]
        run = going.runs.get(str(said.get("name", "")))
        match said["word"]:
            case word if word == PHASE:
                self._lines.phase(going.lane.number, f"{name}: {said['text']}")
            case word if word == READY:
                going.ready = True
                self._journal.life(going.number, start_s=round(said["start_s"], 2), engine_pid=said.get("pid"))
                self._journal.save()
            case word if word == BEGUN and run:
                going.at = run.name
                self._lines.phase(going.lane.number, f"{run.name}: measuring")
            case word if word == LATE:
                self.ended.late = True
            case word if word == OVER and run:
                going.told.add(run.name)
                self._journal.ran(going.number, said["took_s"])
                self._over(going, run, said["took_s"])
            case word if word == FAULT and run:
                going.told.add(run.name)
                self._failed(going, run, said["text"])
            case word if word == FAULT:
                going.fault = said["text"]

    def _over(self, going: _Going, run: RunJob, took_s: float) -> None:
        whole = self._folder.whole(run.name)
        if whole is None:
            self._failed(going, run, "its run folder is not whole")
            return
        entry = entry_name(self._work.names[going.life.rung], run.concurrency)
        repeat = self._journal.add(entry, run.pair, whole, {"took_s": round(took_s, 2)})
        self._journal.save()
        self._lines.step(run.name, repeat, took_s, self._left())

    def _failed(self, going: _Going, run: RunJob, why: str) -> None:
        """A run that did not come to its end. One that was told to stop is no failure."""
        told = "the budget ended" if self.ended.late and not self.ended.interrupted else "interrupted"
        error = told if self._stopping else why
        self.ended.failed |= not self._stopping
        entry = entry_name(self._work.names[going.life.rung], run.concurrency)
        there = f"{RUNS}/{run.name}" if self._folder.run(run.name).exists() else None
        more = {"lane": going.lane.number, "life": going.number, "run": there, "seed": run.seed}
        self._journal.fail(entry, run.pair, error, more)
        self._journal.save()
        self._lines.failed(run.name, error)

    def _close(self, going: _Going, returncode: int) -> None:
        """After a life's process has ended: what it did not tell itself."""
        name = f"{going.number:03d}-{self._work.names[going.life.rung]}"
        died = f"its process was ended by {signal.Signals(-returncode).name}" if returncode < 0 else ""
        why = going.fault or f"{died or f'its process ended with exit code {returncode}'}; see {LIVES}/{name}.log"
        rest = [run for run in going.runs.values() if run.name not in going.told]
        if going.ready:
            rest = [run for run in rest if run.name == going.at]
        elif self._stopping:
            rest = []
        else:
            self._given_up.add(going.life.rung)
            rest = [run for run in rest if run.pair == going.life.pairs[0]] or rest
        for run in rest:
            self._failed(going, run, why)
        if self.ended.failed and not self._work.keep_going:
            self._stopping = True
            self._tell(signal.SIGTERM)
        self._journal.save()

    def _left(self) -> float | None:
        lives = [life for queue in self._queues.values() for life in queue[1:] if life.rung not in self._given_up]
        lives = [life for life in lives if self._missing(life)]
        at_work = [queue[0] for queue in self._queues.values() if queue and queue[0].rung not in self._given_up]
        going = {life.lane: len(self._missing(life)) for life in at_work}
        return left_s(lives, len(self._work.levels), self._took(), self._work.floor_s, going)
