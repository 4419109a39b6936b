"""What a user sees while a run goes on: progress of planning, then the live view in a process of its own."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

PLAIN_EVERY_S = 3.0
#: cells, more than any line has
UNCUT = 10_000


def whole_lines() -> Console:
    """Standard output: as wide as its terminal; into a pipe or a file no line is cut or broken."""
    console = Console()
    return console if console.is_terminal else Console(width=UNCUT)


class PlanningScreen:
    """`progress(done, expected)` may be called from another thread."""

    def __init__(self, *, plain: bool, emulated: bool = False) -> None:
        self._console = Console(stderr=True)
        self._what = "[EMULATED] planning sessions" if emulated else "planning sessions"
        self._drawn = not plain and self._console.is_terminal
        self._bar = Progress(
            TextColumn(self._what, markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=None)
        self._said_at = time.monotonic()
        self._started_at = self._said_at
        self._last = (0, 0)
        self._done = False

    def __enter__(self) -> PlanningScreen:
        if self._drawn:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._drawn:
            self._bar.stop()
        if kind is None:
            took = time.monotonic() - self._started_at
            self._console.print(f"planned {self._last[0]} sessions in {took:.1f} s", highlight=False)
            self._done = True

    def progress(self, done: int, expected: int) -> None:
        if self._done:
            return  # the rest is planned while the run begins
        self._last = (done, expected)
        if self._drawn:
            self._bar.update(self._task, completed=done, total=expected)
        elif time.monotonic() - self._said_at > PLAIN_EVERY_S:
            self._said_at = time.monotonic()
            self._console.print(f"{self._what} {done}/{expected}", highlight=False, markup=False)


class Screen:
    """The live view as a child process that reads the run folder. It is given a moment to draw the end; when the user
    leaves it early, the run goes on. stopping: whether the run is about to end; a terminal's Ctrl-C reaches both."""

    def __init__(self, folder: Path, *, plain: bool, stopping: Callable[[], bool]) -> None:
        self._stopping = stopping
        self._folder, self._plain = folder, plain or not sys.stdout.isatty()
        self._child: asyncio.subprocess.Process | None = None
        self._notice: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Screen:
        arguments = ["-m", "simulator.view.live", str(self._folder)] + (["--plain"] if self._plain else [])
        self._child = await asyncio.create_subprocess_exec(sys.executable, *arguments)
        self._notice = asyncio.create_task(self._left())
        return self

    async def _left(self) -> None:
        assert self._child is not None
        await self._child.wait()
        if self._stopping():
            return
        print(f"the view is closed, the run goes on; `sim watch {self._folder}` opens it again, Ctrl-C ends the run")

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        """The view ends by itself once the manifest says so; until then it is asked to."""
        assert self._child is not None and self._notice is not None
        self._notice.cancel()
        if self._child.returncode is None:
            try:
                self._child.terminate()
                await asyncio.wait_for(self._child.wait(), 3)
            except (TimeoutError, ProcessLookupError):
                if self._child.returncode is None:
                    self._child.kill()
