"""Several client processes carry out a run's stages together: this side starts them, opens the gates within a stage
when all have reached them, and puts together what they write and what comes of it.

A process that dies or fails ends the run: with part of the load gone, what the others measure is not what was asked.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import simulator
from simulator.cli.hand import PULSE_S, Assignment
from simulator.core.share import Share
from simulator.drive.clock import RunClock
from simulator.drive.link import Link
from simulator.drive.load import LoadResult
from simulator.drive.meter import Meter
from simulator.drive.synthetic import SyntheticResult
from simulator.errors import ClientLost, SimError, UsageError
from simulator.store.folder import RunWriter
from simulator.store.merge import Merger, part_folder
from simulator.store.plans import PlannedSession

START_LIMIT_S, CLOSE_LIMIT_S = 120.0, 30.0
#: a process that has written no pulse for so long hangs; one that is short of CPU still writes some
SILENCE_S = 20.0
#: after a pulse's beat, so that all processes have written theirs
FOLLOW_AFTER_S = 0.1
T = TypeVar("T", LoadResult, SyntheticResult)
R = TypeVar("R")


def joined(results: Sequence[T]) -> T:
    """What came of the parts as what came of the whole: counts are sums, windows are put around all, and the first that
    was stopped early says why."""
    whole = results[0]
    for other in results[1:]:
        for field in fields(other):
            ours, theirs = getattr(whole, field.name), getattr(other, field.name)
            if isinstance(ours, int):
                both: Any = ours + theirs
            elif isinstance(ours, tuple) and isinstance(theirs, tuple):
                both = (min(ours[0], theirs[0]), max(ours[1], theirs[1]))
            else:
                both = ours or theirs
            setattr(whole, field.name, both)
    return whole


class Member:
    """One client process as it is seen from here."""

    def __init__(self, process: subprocess.Popen[bytes], link: Link, name: str, log: Path) -> None:
        self.process, self.link, self.name, self._log = process, link, name, log
        self.answers: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        self.closed = False

    @classmethod
    async def start(cls, job: Assignment) -> Member:
        ours, theirs = socket.socketpair()
        log = part_folder(job.run, job.share.index) / "stderr"
        log.parent.mkdir(parents=True)
        with theirs:
            process = _spawn(theirs, log)
        link = await Link.open(ours)
        link.send(job)
        return cls(process, link, f"client process {job.share.index + 1} of {job.share.of} (pid {process.pid})", log)

    async def answer(self) -> tuple[Any, ...]:
        """The next one; ("lost",) again and again once its socket has come to its end."""
        found = await self.answers.get()
        if found == ("lost",):
            self.answers.put_nowait(found)
        return found

    def lost(self) -> ClientLost:
        """What is to be said when its socket has come to its end."""
        try:
            status = self.process.wait(1)
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        except subprocess.TimeoutExpired:
            how = "closed its connection"
        return self.gone(how)

    def gone(self, how: str) -> ClientLost:
        said = self._log.read_text(errors="replace").strip().splitlines() if self._log.exists() else []
        why = f" ({said[-1][:200]})" if said else ""
        return ClientLost(f"{self.name} {how}{why}; the run ended there")


def _spawn(theirs: socket.socket, log: Path) -> subprocess.Popen[bytes]:
    package = Path(simulator.__file__).parent.parent
    path = os.pathsep.join(filter(None, (str(package), os.environ.get("PYTHONPATH"))))
    with log.open("wb") as errors:
        # A session of its own: Ctrl-C in the terminal reaches this process alone, which then tells the others.
        return subprocess.Popen(
            [sys.executable, "-m", "simulator.cli.worker", str(theirs.fileno())],
            env={**os.environ, "PYTHONPATH": path},
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            start_new_session=True,
        )


class Workers:
    """A Crew (conduct.py) of `procs` processes that write parts of `writer`'s run."""

    def __init__(self, job: Assignment, procs: int, writer: RunWriter) -> None:
        self._jobs = [replace(job, share=Share(index, procs)) for index in range(procs)]
        self._writer, self._clock = writer, RunClock(job.origin_s)
        self._merger = Merger(writer, procs, PULSE_S)
        self._windows: dict[str, list[tuple[float, float]]] = {}
        self._members: list[Member] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.answered = self.failed = 0

    async def start(self) -> None:
        for job in self._jobs:
            self._members.append(await Member.start(job))
        self._tasks = [asyncio.create_task(self._listen(member)) for member in self._members]
        self._tasks.append(asyncio.create_task(self._follow()))
        try:
            await asyncio.wait_for(self._stage("start"), START_LIMIT_S)
        except TimeoutError:
            raise ClientLost(f"client processes did not start in {START_LIMIT_S:g} s; try a smaller --procs") from None

    async def warm_up(self) -> None:
        await self._stage("warm_up")

    async def agents(self) -> LoadResult:
        result: LoadResult = joined(await self._stage("agents"))
        return result

    async def synthetic(self, gate: Callable[[], Awaitable[object]]) -> SyntheticResult:
        result: SyntheticResult = joined(await self._stage("synthetic", gate))
        return result

    def planned(self, rows: Sequence[PlannedSession], *, complete: bool) -> None:
        self._tell("planned", list(rows), complete)

    def interrupt(self, *, commands: bool = False) -> None:
        self._tell("interrupt", commands)

    def kill(self) -> None:
        """From a signal: nobody is waited for. Tool processes end with the process that started them."""
        for member in self._members:
            member.process.kill()
        with suppress(SimError):  # a full disk must not keep anybody from leaving
            self._merger.poll(last=True)
        self._merger.remove()

    async def close(self) -> None:
        """Ends all processes, also those that hang, and completes the run's files."""
        told = self._broken.done()
        self._tell("interrupt", False)
        self._tell("close")
        try:
            answers = await asyncio.gather(*map(self._closed, self._members))
            self.answered, self.failed = (sum(counts) for counts in zip(*answers, strict=True)) if answers else (0, 0)
        finally:
            for member in self._members:
                member.link.close()
                if member.process.poll() is None:
                    member.process.kill()
                await asyncio.to_thread(member.process.wait)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            fault = None if self._broken.cancel() else self._broken.exception()  # unread, asyncio prints it
            try:
                self._merger.finish()
            except SimError as error:
                fault = fault or error
        if fault is not None and not told:
            raise fault

    async def _closed(self, member: Member) -> tuple[int, int]:
        """Requests answered and failed there; what is still said about the stage before is passed over."""
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                while True:
                    match await member.answer():
                        case ("done", (int(answered), int(failed))):
                            return answered, failed
                        case ("lost",):
                            break
        except TimeoutError:
            self._hangs(member, f"did not end in {CLOSE_LIMIT_S:g} s")
        return 0, 0

    def _tell(self, *message: object) -> None:
        for member in self._members:
            member.link.send(message)

    async def _stage(self, name: str, gate: Callable[[], Awaitable[object]] | None = None) -> list[Any]:
        """All processes play a stage. Those that wait at its gate go on together, after `gate`."""
        self._tell("stage", name)
        first = await self._all([member.answer() for member in self._members])
        waiting = [answer == ("waits",) for answer in first]
        if any(waiting):
            if gate is not None:
                await gate()
            self._tell("go", self._clock.now())
            there = [member for member, waits in zip(self._members, waiting, strict=True) if waits]
            then = iter(await self._all([member.answer() for member in there]))
            first = [next(then) if waits else answer for waits, answer in zip(waiting, first, strict=True)]
        return [result for _, result in first]

    async def _all(self, answers: Sequence[Coroutine[Any, Any, R]]) -> list[R]:
        """All answers, unless a process breaks the run before."""
        everything = asyncio.ensure_future(asyncio.gather(*answers))
        try:
            either: list[asyncio.Future[Any]] = [everything, self._broken]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if self._broken.done():
                self._broken.result()
            return everything.result()
        finally:
            everything.cancel()
            await asyncio.gather(everything, return_exceptions=True)  # unread, asyncio prints it with a traceback

    async def _listen(self, member: Member) -> None:
        while True:
            try:
                message = await member.link.receive()
            except EOFError:
                if not member.closed:
                    self._break(await asyncio.to_thread(member.lost))
                member.answers.put_nowait(("lost",))  # after the fault, which is what is to be told
                return
            try:
                self._take(member, message)
            except SimError as error:  # a full disk; what this member says later is still heard
                self._break(error)
            except OSError as error:
                self._break(UsageError(f"cannot write {self._writer.path}: {error.strerror}; free some space"))

    def _take(self, member: Member, message: tuple[Any, ...]) -> None:
        match message:
            case ("window", kind, start_s, end_s):
                self._window(kind, start_s, end_s)
            case ("amend", more):
                self._writer.amend(more)
            case ("failed", error):
                self._break(error)
            case ("done", (int(), int())):  # its last word
                member.closed = True
                member.answers.put_nowait(message)
            case _:
                member.answers.put_nowait(message)

    def _window(self, kind: str, start_s: float, end_s: float) -> None:
        known = self._windows.setdefault(kind, [])
        known.append((start_s, end_s))
        self._writer.window(kind, min(w[0] for w in known), max(w[1] for w in known))

    def _break(self, error: SimError) -> None:
        if not self._broken.done():
            self._broken.set_exception(error)

    async def _follow(self) -> None:
        starting = Meter(self._clock.now)  # until the others tell, so that a view sees the run live
        while True:
            await asyncio.sleep(PULSE_S - (self._clock.now() - FOLLOW_AFTER_S) % PULSE_S)
            try:
                self._merger.poll()
                self._merger.starting(starting.pulse())
            except SimError as error:
                self._break(error)
                return
            for member, beats in zip(self._members, self._merger.silent, strict=True):
                if beats * PULSE_S > SILENCE_S and not member.closed:
                    self._hangs(member, f"gave no sign for {SILENCE_S:g} s")

    def _hangs(self, member: Member, how: str) -> None:
        """Takes a process for lost that is there and does not answer."""
        self._break(member.gone(f"{how} and was killed"))
        member.process.kill()
