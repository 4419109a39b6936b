"""The step loop in real time: plan a step, sleep until its modelled end, hand out its tokens; on both sides of it the
front end's modelled time.

Steps are laid end to end on the modelled clock, so a late wake-up shortens the next sleep instead of slowing the engine
down. When Python cannot keep up at all, the lag is measured, exported and, past MAX_DEBT_S, written off.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque

from simulator.engine.embedded.frontend import FrontEnd
from simulator.engine.embedded.request import Request
from simulator.engine.embedded.scheduler import Scheduler
from simulator.engine.embedded.stats import Stats
from simulator.engine.embedded.stream import Sink

MAX_DEBT_S = 0.25
TIMER_S = 0.001  # the event loop's timers are as coarse as this
LAG_DECAY = 0.98  # a step; so a scrape once a second still sees a late step


class Runner:
    def __init__(self, scheduler: Scheduler, stats: Stats) -> None:
        self.scheduler = scheduler
        self.stats = stats
        self.front_end = FrontEnd(scheduler.params)
        self._sinks: dict[Request, Sink] = {}
        self._arriving: dict[Request, asyncio.TimerHandle] = {}
        #: steps whose output the front end still has in hand: (when it is out, [(request, start, end of its tokens)])
        self._leaving: deque[tuple[float, list[tuple[Request, int, int]]]] = deque()
        self._wake = asyncio.Event()

    def submit(self, request: Request, sink: Sink) -> None:
        """The scheduler gets the request, and its arrival_s, once the front end has read it."""
        self._sinks[request] = sink
        loop = asyncio.get_running_loop()
        request.arrival_s = self.front_end.arrive(loop.time(), request.prompt_tok)
        self._arriving[request] = loop.call_at(request.arrival_s, self._arrived, request)

    def _arrived(self, request: Request) -> None:
        del self._arriving[request]
        self.scheduler.add(request)
        self._wake.set()

    def abort(self, request: Request) -> None:
        """Frees what the request holds; nothing happens when it has ended."""
        sink, arriving = self._sinks.pop(request, None), self._arriving.pop(request, None)
        if arriving is not None:
            arriving.cancel()
            self.stats.aborted += 1
        elif sink is not None and self.scheduler.abort(request):
            self.stats.aborted += 1

    def front_end_backlog_s(self) -> float:
        return self.front_end.backlog_s(asyncio.get_running_loop().time())

    async def run(self) -> None:
        """For ever; the server's start makes it a task and its end cancels it."""
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        while True:
            if not self.scheduler.has_work:
                self._wake.clear()
                await self._wake.wait()
                now_s = max(now_s, loop.time())
            plan = self.scheduler.step(now_s)
            if plan is None:  # arrived after the modelled moment: bring the clock up to it
                now_s = max(now_s, loop.time())
                await asyncio.sleep(0)
                continue
            await asyncio.sleep(max(0.0, plan.end_s - loop.time()))
            emissions = self.scheduler.complete(plan)
            self.stats.step(emissions)
            self._leave(plan.end_s, emissions)
            now_s = plan.end_s
            lag_s = loop.time() - now_s
            self.stats.lag_s = max(lag_s, LAG_DECAY * self.stats.lag_s)
            if lag_s > MAX_DEBT_S:
                self.stats.written_off_s += lag_s
                now_s += lag_s

    def _leave(self, now_s: float, emissions: list[tuple[Request, int]]) -> None:
        if not emissions:
            return
        out_s = self.front_end.emit_step(now_s, emissions)
        tokens = [(request, request.emitted_tok - new, request.emitted_tok) for request, new in emissions]
        self._leaving.append((out_s, tokens))
        asyncio.get_running_loop().call_at(out_s, self._hand_out)

    def _hand_out(self) -> None:
        """Everything that is due: a timer may fire with its neighbour's."""
        due_s = asyncio.get_running_loop().time() + TIMER_S
        while self._leaving and self._leaving[0][0] <= due_s:
            out_s, tokens = self._leaving.popleft()
            for request, start, end in tokens:
                self._push(request, start, end, out_s)

    def _push(self, request: Request, start: int, end: int, out_s: float) -> None:
        sink = self._sinks.get(request)
        if sink is None:
            return
        if start == 0:
            self.stats.ttft.add(out_s - sink.received_s)
        if not sink.push(start, end):
            self.abort(request)
            with contextlib.suppress(asyncio.InvalidStateError):
                sink.done.set_exception(ConnectionResetError("the client is gone"))
        elif end == request.reply_tok:
            del self._sinks[request]
            self.stats.finish(request, sink, out_s)
