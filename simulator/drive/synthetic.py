"""The traffic everybody tunes on: fixed-shape random token-id prompts on /v1/completions, forced length; in a closed
loop, or each at its own due time.

Same endpoint, same transport, same records as the agents, so that the two can stand side by side.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import orjson

from simulator.core.share import WHOLE, Share
from simulator.core.usage import UsageAsked, stream_options
from simulator.drive.clock import ROUNDING_S
from simulator.drive.meter import Meter
from simulator.drive.recorder import Recorder
from simulator.drive.sender import Job, Sender


@dataclass(frozen=True, slots=True)
class SyntheticShape:
    """The traffic of all processes, and in `share` which part of it is sent here. first_id, last_id: range of ordinary
    token ids that prompts are drawn from. limit_s: run time to stop at. due_s: an open loop's due times, seconds from
    the start of the traffic, one a request; `concurrency` is then only a cap, and None is none."""

    input_tok: int
    output_tok: int
    concurrency: int | None
    requests: int
    warmup_requests: int
    seed: int
    model: str
    first_id: int
    last_id: int
    limit_s: float
    share: Share = WHOLE
    usage: UsageAsked = "end"
    due_s: tuple[float, ...] = ()


@dataclass(slots=True)
class SyntheticResult:
    window: tuple[float, float] | None = None
    stopped: str = ""


class Synthetic:
    def __init__(
        self,
        sender: Sender,
        recorder: Recorder,
        meter: Meter,
        now: Callable[[], float],
        shape: SyntheticShape,
        interrupt: asyncio.Event,
    ) -> None:
        self._sender, self._recorder, self._meter, self._now = sender, recorder, meter, now
        self._shape, self._interrupt = shape, interrupt
        self._waiting = deque(shape.share.requests(shape.requests, shape.concurrency or shape.requests))
        # Drawn before the clock starts: building 256 bodies takes as long as a fast engine's first token.
        self._bodies = {number: self.body(number) for number in self._waiting}

    async def run(self, reset_caches: Callable[[], object] | None = None) -> SyntheticResult:
        """Warm-up, then all requests, `concurrency` at once or when due. The window is the whole run: from first send
        to last token, which is what `vllm bench serve` divides by."""
        shape, result = self._shape, SyntheticResult()
        self._meter.begin("warmup", kind="synthetic")
        warm = [self._send(-1 - i, "warmup") for i in shape.share.numbers(shape.warmup_requests)]
        await self.bounded(asyncio.gather(*warm))
        if reset_caches is not None:
            await reset_caches()  # type: ignore[misc]
        if self._interrupt.is_set():
            result.stopped = "interrupted"
            return result
        start = self._now()
        self._meter.begin("synthetic")
        finished = await self.bounded(asyncio.gather(*self._traffic(start)))
        result.window = (start, self._now())
        if not finished:
            result.stopped = "interrupted" if self._interrupt.is_set() else "time limit"
        self._recorder.window("synthetic", *result.window)
        return result

    async def bounded(self, work: asyncio.Future[list[Any]]) -> bool:
        """Waits for `work`, the interrupt or the time limit; cancels what is left. True when all was done."""
        interrupt = asyncio.create_task(self._interrupt.wait())
        left = max(0.0, self._shape.limit_s - self._now())
        try:
            await asyncio.wait([work, interrupt], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
                return True
            return False
        finally:
            interrupt.cancel()
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)  # unread, asyncio prints it with a traceback

    def _traffic(self, start_s: float) -> list[Coroutine[Any, Any, None]]:
        shape = self._shape
        places = shape.share.numbers(min(shape.concurrency or shape.requests, shape.requests))
        if shape.due_s:
            return [self._arrivals(start_s, len(places))]
        return [self._worker(i) for i in places]

    async def _arrivals(self, start_s: float, places: int) -> None:
        """Each request when it is due; a late one shifts no other."""
        free = asyncio.Semaphore(places)
        async with asyncio.TaskGroup() as requests:
            for number in self._waiting:
                due_s = start_s + self._shape.due_s[number]
                await asyncio.sleep(max(0.0, due_s + ROUNDING_S - self._now()))
                requests.create_task(self._arrival(number, due_s, free))

    async def _arrival(self, number: int, due_s: float, free: asyncio.Semaphore) -> None:
        async with free:
            await self._send(number, "synthetic", 0, due_s)

    async def _worker(self, slot: int) -> None:
        while self._waiting:
            await self._send(self._waiting.popleft(), "synthetic", slot)

    async def _send(self, number: int, purpose: str, slot: int = 0, due_s: float | None = None) -> None:
        shape = self._shape
        await self._sender.send(
            Job(
                kind="synthetic",
                session=f"syn{number}" if number >= 0 else f"warm{-1 - number}",
                slot=slot,
                turn=0,
                purpose=purpose,
                retry=0,
                t_due_s=self._now() if due_s is None else due_s,
                path="/completions",
                body=self._bodies[number] if number >= 0 else self.body(number),
                prompt_tok=shape.input_tok,
                output_tok=shape.output_tok,
            )
        )

    def body(self, number: int) -> bytes:
        """The request's JSON; the prompt depends on seed and number alone."""
        shape = self._shape
        draw = random.Random(f"{shape.seed}/{number}")
        prompt = [draw.randrange(shape.first_id, shape.last_id + 1) for _ in range(shape.input_tok)]
        return orjson.dumps(
            {
                "model": shape.model,
                "prompt": prompt,
                "max_tokens": shape.output_tok,
                "ignore_eos": True,
                "temperature": 0,
                "stream": True,
                "stream_options": stream_options(shape.usage),
            }
        )
