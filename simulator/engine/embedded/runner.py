"""The step loop in real time: plan a step, sleep until its modelled end, hand out its tokens.

Steps are laid end to end on the modelled clock, so a late wake-up shortens the next sleep instead of slowing the engine
down. When Python cannot keep up at all, the lag is measured, exported and, past MAX_DEBT_S, written off.
"""

from __future__ import annotations

import asyncio
import contextlib

from simulator.engine.embedded.request import Request
from simulator.engine.embedded.scheduler import Scheduler
from simulator.engine.embedded.stats import Stats
from simulator.engine.embedded.stream import Sink

MAX_DEBT_S = 0.25
LAG_DECAY = 0.98  # a step; so a scrape once a second still sees a late step


class Runner:
    def __init__(self, scheduler: Scheduler, stats: Stats) -> None:
        self.scheduler = scheduler
        self.stats = stats
        self._sinks: dict[Request, Sink] = {}
        self._wake = asyncio.Event()

    def submit(self, request: Request, sink: Sink) -> None:
        self._sinks[request] = sink
        self.scheduler.add(request)
        self._wake.set()

    def abort(self, request: Request) -> None:
        """Frees what the request holds; nothing happens when it has ended."""
        sink = self._sinks.pop(request, None)
        if sink is not None and self.scheduler.abort(request):
            self.stats.aborted += 1

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
            self._hand_out(emissions)
            self.stats.step(plan, emissions)
            now_s = plan.end_s
            lag_s = loop.time() - now_s
            self.stats.lag_s = max(lag_s, LAG_DECAY * self.stats.lag_s)
            if lag_s > MAX_DEBT_S:
                self.stats.written_off_s += lag_s
                now_s += lag_s

    def _hand_out(self, emissions: list[tuple[Request, int]]) -> None:
        sinks = self._sinks
        for request, new in emissions:
            sink = sinks.get(request)
            if sink is None:
                continue
            end = request.emitted_tok
            if end == new:
                self.stats.ttft.add(request.first_s - sink.received_s)
            if not sink.push(end - new, end):
                self.abort(request)
                with contextlib.suppress(asyncio.InvalidStateError):
                    sink.done.set_exception(ConnectionResetError("the client is gone"))
            elif end == request.reply_tok:
                del sinks[request]
                self.stats.finish(request, sink)
