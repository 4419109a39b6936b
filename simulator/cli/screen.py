"""What a user sees while a run goes on: progress of planning, then the live view in a process of its own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from simulator.core.wording import counted
from simulator.view.cells import clock
from simulator.virtual.children import unheard

PLAIN_EVERY_S = 3.0
#: the time left is foretold after so many sessions, if they are that share of those to plan, or took longer than that
TELLING, TELLING_SHARE, TELLING_S = 4, 0.1, 10.0
#: for the view to draw the end; between two looks at whether it has gone
LEAVE_S, LOOK_S = 3.0, 0.1
#: cells, more than any line has
UNCUT = 10_000


def whole_lines() -> Console:
    """Standard output: as wide as its terminal; into a pipe or a file no line is cut or broken."""
    console = Console()
    return console if console.is_terminal else Console(width=UNCUT)


class PlanningScreen:
    """`progress(done, about how many there will be)` may be called from another thread. console: told there, line by
    line, and nothing when all were planned before; None: on standard error, as a bar if that is a terminal."""

    def __init__(self, *, plain: bool, emulated: bool = False, console: Console | None = None) -> None:
        self._console, self._own = (Console(stderr=True), True) if console is None else (console, False)
        self._what = "[EMULATED] planning sessions" if emulated else "planning sessions"
        self._drawn = not plain and self._console.is_terminal
        self._bar = Progress(
            TextColumn(self._what, markup=False), BarColumn(), TextColumn("{task.fields[told]}", markup=False),
            console=self._console, transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=None, told="")
        self._started_s = time.monotonic()
        self._said_s = -PLAIN_EVERY_S
        self._first: int | None = None
        self._last, self._said = (0, 0), (0, 0)
        self._done = False

    def __enter__(self) -> PlanningScreen:
        if self._drawn:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._drawn:
            self._bar.stop()
        if kind is None:
            self._done = True
            done, expected = self._last
            if done == self._first == expected:
                if self._own:
                    self._console.print(f"{counted(done, 'session')}, planned before", highlight=False)
                return
            rest = f" of about {expected}; the others are planned while the run begins" if expected > done else ""
            took = f"{counted(done, 'session')} in {time.monotonic() - self._started_s:.1f} s{rest}"
            self._console.print(f"planned {took}", highlight=False, soft_wrap=True)

    def progress(self, done: int, expected: int) -> None:
        if self._done:
            return  # the rest is planned while the run begins
        now_s = time.monotonic()
        self._first = done if self._first is None else self._first
        self._last = (done, max(done, expected))
        told = planning_told(done, expected, done - self._first, now_s - self._started_s)
        if self._drawn:
            self._bar.update(self._task, completed=done, total=self._last[1], told=told)
        elif done < expected and self._last != self._said and now_s - self._said_s > PLAIN_EVERY_S:
            self._said_s, self._said = now_s, self._last
            self._console.print(f"{self._what}: {told}", highlight=False, markup=False, soft_wrap=True)


def planning_told(done: int, expected: int, new: int, took_s: float) -> str:
    """`12 of about 54, about 0:40 left`. new: of those done, how many took took_s; few of them foretell nothing."""
    told = f"{done} of about {max(done, expected)}"
    early = new < TELLING_SHARE * (expected - done + new) and took_s <= TELLING_S
    if done >= expected or new < TELLING or early:
        return told
    return f"{told}, about {clock(took_s / new * (expected - done))} left"


class Screen:
    """The live view as a child process that reads the run folder. It is given a moment to draw the end; when the user
    leaves it early, the run goes on. stopping: whether the run is about to end; a terminal's Ctrl-C reaches both, the
    view once it listens."""

    def __init__(self, folder: Path, *, plain: bool, stopping: Callable[[], bool]) -> None:
        self._stopping = stopping
        self._folder, self._plain = folder, plain or not sys.stdout.isatty()
        self._child: subprocess.Popen[bytes] | None = None
        self._notice: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Screen:
        arguments = ["-m", "simulator.view.live", str(self._folder)] + (["--plain"] if self._plain else [])
        self._child = _started(arguments)
        self._notice = asyncio.create_task(self._left())
        return self

    async def _left(self) -> None:
        await self._ended()
        if self._stopping():
            return
        print(f"the view is closed, the run goes on; `sim watch {self._folder}` opens it again, Ctrl-C ends the run")

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        """The view ends by itself once the manifest says so; until then it is asked to."""
        assert self._child is not None and self._notice is not None
        self._notice.cancel()
        self._child.terminate()
        try:
            async with asyncio.timeout(LEAVE_S):
                await self._ended()
        except TimeoutError:
            self._child.kill()
            await self._ended()

    async def _ended(self) -> None:
        assert self._child is not None
        while True:
            if self._child.poll() is not None:
                return
            await asyncio.sleep(LOOK_S)


def _started(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """A Python that holds Ctrl-C back until it listens. Not by the loop: uvloop's children hear every signal."""
    with unheard():
        return subprocess.Popen([sys.executable, *arguments])
