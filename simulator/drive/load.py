"""Many sessions at once: slots, ramp, the measured window, refill, drain.

Closed loop: a slot takes its next plan as soon as its session ends. The window opens when every slot's first request
has begun to answer, that is, when the prefill of all the histories that a stationary start brings is over, and lasts
`window_s`. After it no request starts; those in flight finish, so that no latency of the window is cut short.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from asyncio_throttle import Throttler

from simulator.core.plan import SessionPlan
from simulator.core.share import WHOLE, Share
from simulator.drive.runner import runner
from simulator.drive.seat import Seat
from simulator.drive.stage import Stage


@dataclass(frozen=True, slots=True)
class LoadShape:
    """slots: concurrent sessions of the whole run, share: which of them are played here. window_s None: until all plans
    are played. limit_s: run time at which everything stops, whatever the window says. drain_s: what is in flight at the
    window's end has so long to finish."""

    slots: int
    window_s: float | None
    ramp_s: float
    limit_s: float
    session_starts_per_s: float | None = None
    share: Share = WHOLE
    drain_s: float = 60.0


@dataclass(slots=True)
class LoadResult:
    """window: (start, end) in run seconds, None when it never opened. ran_dry: slots that had no plan left while the
    window was open. stopped: why it ended early, "" if it did not. unverified: recorded solutions played to their end
    whose result failed its check."""

    window: tuple[float, float] | None = None
    ran_dry: int = 0
    stopped: str = ""
    sessions: int = 0
    unverified: int = 0


class Work(Protocol):
    """What the slots play. ready: set when all plans are made; until then a slot waits for its next one and no window
    opens."""

    ready: asyncio.Event

    def nth(self, slot: int, n: int) -> str | None:
        """Name of the nth session (from 0) that a slot plays; None when it has no more, or not yet."""

    def load(self, session: str) -> SessionPlan: ...


#: waits until other processes' slots have begun to answer, too -> run time at which the window opens for all
Gate = Callable[[], Awaitable[float]]


class Load:
    """interrupt: set from outside (Ctrl-C). gate: where other processes play part of the load."""

    def __init__(
        self, stage: Stage, shape: LoadShape, work: Work, interrupt: asyncio.Event, gate: Gate | None = None
    ) -> None:
        self._stage, self._shape, self._work, self._interrupt = stage, shape, work, interrupt
        self._gate = gate
        rate = shape.share.rate(shape.session_starts_per_s)
        self._starts = Throttler(1, 1.0 / rate, retry_interval=0.01) if rate else nullcontext()
        self._answered = {slot: asyncio.Event() for slot in shape.share.numbers(shape.slots)}
        self._result = LoadResult()

    async def run(self) -> LoadResult:
        """Plays the whole load. Raises nothing for failed sessions."""
        meter = self._stage.meter
        meter.begin("ramp", kind="agent")
        slots = [asyncio.create_task(self._slot(slot)) for slot in self._answered]
        everything = asyncio.gather(*slots, return_exceptions=True)
        try:
            await self._until_answered(everything)
            await self._window(everything, await self._opening())
            self._stage.stopping.set()
            meter.begin("drain", self._stage.now() + self._shape.drain_s)
            if not self._interrupt.is_set():
                await self._first(everything, self._shape.drain_s)
        finally:
            self._stage.stopping.set()
            for task in slots:
                task.cancel()
            for ended in await asyncio.gather(*slots, return_exceptions=True):
                if isinstance(ended, Exception) and not isinstance(ended, asyncio.CancelledError):
                    raise ended  # a plan that cannot be read, say: nothing that belongs to one session alone
        return self._result

    async def _first(self, everything: asyncio.Future[Any], seconds: float | None) -> None:
        """Waits for all slots (or what else is given), the interrupt, or the time, whichever comes first."""
        interrupt = asyncio.create_task(self._interrupt.wait())
        try:
            await asyncio.wait([everything, interrupt], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            interrupt.cancel()

    async def _until_answered(self, everything: asyncio.Future[list[object]]) -> None:
        """Until every slot's first request has begun to answer (or has failed), and planning no longer takes part of
        the machine."""
        events = (*self._answered.values(), self._work.ready)
        waiting = asyncio.ensure_future(asyncio.gather(*(e.wait() for e in events)))
        interrupt = asyncio.create_task(self._interrupt.wait())
        left = max(0.0, self._shape.limit_s - self._stage.now())
        try:
            await asyncio.wait([everything, waiting, interrupt], timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            interrupt.cancel()
            await asyncio.gather(waiting, return_exceptions=True)  # unread, asyncio prints it with a traceback

    async def _opening(self) -> float:
        """When the window opens: now, or when all processes are as far."""
        if self._gate is None:
            return self._stage.now()
        opening = asyncio.ensure_future(self._gate())
        await self._first(opening, max(0.0, self._shape.limit_s - self._stage.now()))
        if opening.done():
            return opening.result()
        opening.cancel()
        return self._stage.now()

    async def _window(self, everything: asyncio.Future[list[object]], start: float) -> None:
        shape = self._shape
        left = max(0.0, shape.limit_s - start)
        length = left if shape.window_s is None else min(shape.window_s, left)
        if self._interrupt.is_set() or left == 0.0:
            self._result.stopped = "interrupted" if self._interrupt.is_set() else "time limit"
            return
        self._stage.meter.begin("window", start + length if shape.window_s is not None else None)
        await self._first(everything, max(0.0, start + length - self._stage.now()))
        end = self._stage.now()
        if self._interrupt.is_set():
            self._result.stopped = "interrupted"
        elif shape.window_s is not None and length < shape.window_s and not everything.done():
            self._result.stopped = "time limit"
        if shape.window_s is None:
            return  # each session once, from start to end: there is no steady state to speak of
        self._result.window = (start, end)
        self._stage.recorder.window("agent", start, end)

    async def _slot(self, slot: int) -> None:
        shape = self._shape
        await asyncio.sleep(shape.ramp_s * slot / max(1, shape.slots))
        played = 0
        while (name := await self._next(slot, played)) is not None:
            if self._stage.stopping.is_set():
                return
            async with self._starts:
                pass
            # Reading a plan takes tens of milliseconds, which the loop has not.
            played_by = runner(self._stage, await asyncio.to_thread(self._work.load, name), slot)
            relay = asyncio.create_task(self._relay(played_by, slot))
            try:
                record = await played_by.run()
                self._result.unverified += record.verified is False and not record.failure_class
            finally:
                relay.cancel()
                self._answered[slot].set()
            self._result.sessions += 1
            played += 1
        if shape.window_s is not None and not self._stage.stopping.is_set():
            self._result.ran_dry += 1
        self._stage.meter.slot(slot).phase = "done"

    async def _next(self, slot: int, n: int) -> str | None:
        name = self._work.nth(slot, n)
        if name is None and not self._work.ready.is_set():
            await self._work.ready.wait()
            name = self._work.nth(slot, n)
        return name

    async def _relay(self, played_by: Seat, slot: int) -> None:
        await played_by.first_reply.wait()
        self._answered[slot].set()
