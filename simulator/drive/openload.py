"""Sessions that arrive on a clock of their own, whatever became of those before them.

Due times are absolute, from the moment at which the traffic starts: a late start shifts no later one. A session takes a
place and sets its workspace up a little before it is due, so that its first request can leave in time; an arrival that
finds no place free waits in the order of arrival. The window opens `ramp_s` after the first arrival is due and lasts
`window_s`; without one, the load ends when all have arrived and ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from simulator.drive.load import LoadResult, Work
from simulator.drive.runner import runner
from simulator.drive.stage import Stage

#: how long before it is due a session's workspace is set up
AHEAD_S = 2.0


@dataclass(frozen=True, slots=True)
class OpenShape:
    """arrivals: (number of the session in the plan, due seconds from the traffic's start), in order; those of this
    process. first_s: when the first of the whole load is due. places: slots that may be used here. window_s None: until
    all are played. t0_s: run time of the traffic's start; None, as soon as it can."""

    arrivals: Sequence[tuple[int, float]]
    first_s: float
    places: Sequence[int]
    window_s: float | None
    ramp_s: float
    limit_s: float
    t0_s: float | None = None
    drain_s: float = 60.0


class OpenLoad:
    """interrupt: set from outside (Ctrl-C). started: told the run time that all due times count from."""

    def __init__(
        self,
        stage: Stage,
        shape: OpenShape,
        work: Work,
        interrupt: asyncio.Event,
        started: Callable[[float], None] = lambda t0_s: None,
    ) -> None:
        self._stage, self._shape, self._work, self._interrupt = stage, shape, work, interrupt
        self._started = started
        self._free: asyncio.PriorityQueue[int] = asyncio.PriorityQueue()
        for place in shape.places:
            self._free.put_nowait(place)
        self._result = LoadResult()

    async def run(self) -> LoadResult:
        """Plays the whole load. Raises nothing for failed sessions."""
        meter, stage = self._stage.meter, self._stage
        meter.begin("ramp", kind="agent")
        planned = asyncio.create_task(self._work.ready.wait())
        if not await self._first(planned) or self._result.stopped:
            planned.cancel()
            return self._result
        # The first workspaces need their time as well.
        t0 = stage.now() + AHEAD_S if self._shape.t0_s is None else self._shape.t0_s
        self._started(t0)
        played = asyncio.create_task(self._arrivals(t0))
        try:
            await self._window(played, t0 + self._shape.first_s + self._shape.ramp_s)
            stage.stopping.set()
            meter.begin("drain", stage.now() + self._shape.drain_s)
            if not self._interrupt.is_set():
                await self._first(played, self._shape.drain_s)
        finally:
            stage.stopping.set()
            played.cancel()
            (ended,) = await asyncio.gather(played, return_exceptions=True)
            if isinstance(ended, ExceptionGroup):
                raise ended.exceptions[0]  # a plan that cannot be read, say: nothing that belongs to one session alone
        return self._result

    def _left(self) -> float:
        return max(0.0, self._shape.limit_s - self._stage.now())

    async def _first(self, task: asyncio.Task[object], seconds: float | None = None) -> bool:
        """Waits for a task, the interrupt, the given time or the run's limit; True when the task is done. `stopped`
        says when it was the interrupt or the limit."""
        interrupt = asyncio.create_task(self._interrupt.wait())
        left = self._left() if seconds is None else min(seconds, self._left())
        try:
            await asyncio.wait([task, interrupt], timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            interrupt.cancel()
        if self._interrupt.is_set():
            self._result.stopped = "interrupted"
        elif not task.done() and self._left() < 0.01:
            self._result.stopped = "time limit"
        return task.done()

    async def _window(self, played: asyncio.Task[None], opens_s: float) -> None:
        """Ramp and window. Without `window_s` there is no steady state to speak of, and no window is stated."""
        stage, length = self._stage, self._shape.window_s
        if length is None:
            await self._first(played)
            return
        stage.meter.ends_s = opens_s
        fault = asyncio.create_task(_fault(played))
        try:
            if await self._first(fault, max(0.0, opens_s - stage.now())) or self._result.stopped:
                return
            stage.meter.begin("window", opens_s + length)
            await self._first(fault, max(0.0, opens_s + length - stage.now()))
        finally:
            fault.cancel()
        self._result.window = (opens_s, stage.now())
        stage.recorder.window("agent", *self._result.window)

    async def _arrivals(self, t0: float) -> None:
        """Starts each arrival's session ahead of its time, and waits for all of them."""
        async with asyncio.TaskGroup() as sessions:
            for number, due_s in self._shape.arrivals:
                with suppress(TimeoutError):
                    left = t0 + due_s - AHEAD_S - self._stage.now()
                    await asyncio.wait_for(self._stage.stopping.wait(), max(0.0, left))
                if self._stage.stopping.is_set():
                    return
                sessions.create_task(self._session(number, t0 + due_s))

    async def _session(self, number: int, due_s: float) -> None:
        """Waits for a place, in the order of arrival, and plays."""
        place = await self._place()
        if place is None:
            return
        try:
            name = self._work.nth(number, 0)
            if name is None:
                self._result.ran_dry += 1
                return
            # Reading a plan takes tens of milliseconds, which the loop has not.
            plan = await asyncio.to_thread(self._work.load, name)
            record = await runner(self._stage, plan, place, due_s).run()
            self._result.sessions += 1
            self._result.unverified += record.verified is False and not record.failure_class
        finally:
            self._free.put_nowait(place)

    async def _place(self) -> int | None:
        """The lowest free place; None when the load ends before there is one."""
        taking = asyncio.create_task(self._free.get())
        ending = asyncio.create_task(self._stage.stopping.wait())
        try:
            await asyncio.wait([taking, ending], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
            if not taking.done():
                taking.cancel()
        if not taking.done() or taking.cancelled():
            return None
        if self._stage.stopping.is_set():
            self._free.put_nowait(taking.result())
            return None
        return taking.result()


async def _fault(played: asyncio.Task[None]) -> None:
    """Ends only when something went wrong: a window lasts its time also when its last arrival is done early."""
    await asyncio.wait([played])
    if played.cancelled() or played.exception() is None:
        await asyncio.Event().wait()
