"""Sends one request and writes its record: the same path for agents and for synthetic traffic."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np
from asyncio_throttle import Throttler

from simulator.core.counts import spread
from simulator.core.event import Reading
from simulator.core.outcome import Expected, classify, clean, defect
from simulator.core.record import Request
from simulator.core.stream import StreamReader, read_stream
from simulator.drive.endpoint import Endpoint, Exchange
from simulator.drive.enough import Enough
from simulator.drive.meter import Meter, StreamCounter
from simulator.drive.recorder import Recorder
from simulator.drive.wire import OnRead

#: socket reads parsed before the loop gets its turn, a fifth of a millisecond to half of one
SLICE = 128
#: detail of a request that a limit of its own session cut
TIME_UP = "the session's time was up"


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be sent, and the names its record will carry. path: below the base URL. branch: 0, or which sub-agent
    of the session sends. stop_after_tok: close the stream once so many output tokens have come. expected: what a replay
    expects of the reply; None, whatever comes whole is right. begun: set when the reply begins to come in. enough: sees
    each read, and says when the client has what it wants and closes the stream. ends_s: run time at which the session's
    own time is up, so that a record of a request that was cancelled then does not blame the run's end. told: given the
    record and what was read, however the request ended. live: prompt_tok is a guess, to be
    shown while it runs; there is no plan that the record could be held against."""

    kind: str
    session: str
    slot: int
    turn: int
    purpose: str
    retry: int
    t_due_s: float
    path: str
    body: bytes
    prompt_tok: int
    output_tok: int
    branch: int = 0
    stop_after_tok: int | None = None
    expected: Expected | None = None
    begun: asyncio.Event | None = None
    enough: OnRead | None = None
    ends_s: float | None = None
    told: Callable[[Request, Reading], None] | None = None
    live: bool = False


@dataclass(slots=True)
class Reply:
    record: Request
    reading: Reading
    retry_after_s: float | None


class Sends(Protocol):
    """What a session needs of whatever carries its requests."""

    async def send(self, job: Job) -> Reply:
        """Never raises for a failed request; on cancellation the record is written first."""
        ...


def either(one: OnRead, other: OnRead) -> OnRead:
    """Both see every read; each may have had enough."""

    def both(data: bytes) -> bool:
        said = one(data), other(data)
        return any(said)

    return both


class Herald:
    """Tells of a reply's first bytes; what else wants to see the reads sees them."""

    __slots__ = ("_begun", "_then")

    def __init__(self, begun: asyncio.Event, then: OnRead | None) -> None:
        self._begun, self._then = begun, then

    def __call__(self, data: bytes) -> bool | None:
        self._begun.set()
        return None if self._then is None else self._then(data)


class Sender:
    """count: tokens of a text, used only when the server sends no usage. starts_per_s: cap on request starts, so that
    a burst cannot overrun an endpoint; no arrival process. secret: never part of a record, whoever says it. model: the
    name that is asked for, "" where none is known."""

    def __init__(
        self,
        endpoint: Endpoint,
        recorder: Recorder,
        meter: Meter,
        now: Callable[[], float],
        run: str,
        count: Callable[[str], int],
        starts_per_s: float | None = None,
        secret: str = "",
        model: str = "",
    ) -> None:
        self._secret, self._model = secret, model
        self._endpoint, self._recorder, self._meter = endpoint, recorder, meter
        self._now, self._run, self._count = now, run, count
        self._throttle = Throttler(1, 1.0 / starts_per_s, retry_interval=0.005) if starts_per_s else nullcontext()
        self._number = 0
        self._reading = asyncio.Lock()
        self._turnstile = asyncio.Lock()
        self.answered = self.failed = 0

    async def send(self, job: Job) -> Reply:
        """Never raises for a failed request; on cancellation the record is written first."""
        async with self._throttle:
            pass
        async with self._turnstile:
            # One request is built in each turn of the loop: a burst of 256 must not keep replies from being stamped.
            await asyncio.sleep(0)
        number, self._number = self._number, self._number + 1
        # Only agents have a row in the live view; synthetic traffic is shown as a sum.
        # A slot's row follows its session's own conversation, not its sub-agents.
        rowed = job.kind == "agent" and job.slot >= 0 and job.branch == 0
        state = self._meter.slot(job.slot) if rowed else None
        exchange = Exchange()
        counter = StreamCounter(self._meter, state, self._now, exchange.times_s, exchange.pieces)
        on_read: OnRead | None = None
        if job.stop_after_tok is not None:
            on_read = Enough(counter, job.stop_after_tok, self._count)
        if job.enough is not None:
            on_read = job.enough if on_read is None else either(job.enough, on_read)
        if job.begun is not None and not job.begun.is_set():
            on_read = Herald(job.begun, on_read)
        if state is not None:
            state.phase, state.tok_s, state.context_tok = "queue", 0.0, job.prompt_tok
        self._meter.in_flight += 1
        try:
            try:
                await self._endpoint.post(job.path, job.body, on_read, exchange)
            finally:
                self._meter.in_flight -= 1
            reading = await self._read(exchange)
        except asyncio.CancelledError:
            if job.ends_s is not None and self._now() >= job.ends_s:
                exchange.detail = TIME_UP
            self._finish(job, number, exchange, read_stream(exchange.bodies()), counter)
            raise
        return self._finish(job, number, exchange, reading, counter)

    async def _read(self, exchange: Exchange) -> Reading:
        """Parses in small slices, one stream at a time: when a whole wave of replies ends at once, reading them must
        not keep the loop from stamping what still arrives."""
        reader = StreamReader()
        async with self._reading:
            bodies = exchange.bodies()
            while some := list(islice(bodies, SLICE)):
                reader.feed_all(*zip(*some, strict=True))
                if len(some) == SLICE:
                    await asyncio.sleep(0)
            return reader.finish()

    def _finish(self, job: Job, number: int, exchange: Exchange, reading: Reading, counter: StreamCounter) -> Reply:
        if reading.output_tok is None and reading.times_s and reading.source == "none":
            self._estimate(reading)
        began = next((data[:200] for _, data in exchange.bodies()), b"")
        outcome, error, detail = classify(
            exchange.status, exchange.failure, exchange.detail, exchange.error_body, reading, began,
            stopped=exchange.stopped,
        )  # fmt: skip
        if self._secret:
            detail = detail.replace(self._secret, "***")
        judged = outcome == "ok" and job.expected is not None and not exchange.stopped
        times = reading.times_s
        record = Request(
            run=self._run,
            kind=job.kind,
            session=job.session,
            slot=job.slot,
            turn=job.turn,
            request=number,
            purpose=job.purpose,
            retry=job.retry,
            t_due_s=job.t_due_s,
            t_call_s=exchange.t_call_s,
            t_sent_s=exchange.t_sent_s,
            t_first_s=times[0] if times else None,
            t_first_answer_s=reading.first_answer_s,
            t_last_s=times[-1] if times else None,
            t_end_s=exchange.t_end_s,
            status=exchange.status,
            prompt_tok=reading.prompt_tok,
            cached_tok=reading.cached_tok,
            output_tok=reading.output_tok if reading.output_tok is not None else (sum(reading.tokens) or None),
            reasoning_tok=reading.reasoning_tok,
            output_source=reading.source,
            planned_prompt_tok=0 if job.live else job.prompt_tok,
            planned_output_tok=job.output_tok,
            chunks=len(times),
            chunks_at=-1,
            finish=reading.finish,
            outcome=outcome,
            error=error,
            detail=detail,
            server_ttft_s=reading.server_ttft_s,
            branch=job.branch,
            stopped=exchange.stopped,
            defect=defect(reading, job.expected) if judged else "",
            other_model=clean(reading.model) if self._model and reading.model != self._model else "",
        )
        self._recorder.request(record, _deltas_us(exchange.t_sent_s, times), reading.tokens)
        self._note(job, record, counter)
        if job.told is not None:
            job.told(record, reading)
        return Reply(record, reading, exchange.retry_after_s)

    def _estimate(self, reading: Reading) -> None:
        """Tokens of a reply of which the server told none. One that was cut off before it could has as many as other
        replies have in so many chunks; where that is unknown, or a whole reply came without, its text is counted."""
        scaled = self._meter.scaled(len(reading.times_s))
        if scaled is not None and not reading.finish and not reading.done:
            reading.output_tok, reading.source = scaled, "scaled"
        else:
            reading.output_tok, reading.source = self._count(reading.said), "counted"
        reading.tokens = spread(reading.output_tok, len(reading.times_s))

    def _note(self, job: Job, record: Request, counter: StreamCounter) -> None:
        counter.settle(record.output_tok or 0)
        if record.outcome == "ok" and record.output_source in ("usage", "continuous"):
            self._meter.learn(record.output_tok or 0, record.chunks)
        if job.purpose == "warmup":
            return
        self.answered += record.outcome == "ok"
        self.failed += record.outcome == "failed"
        self._meter.requests_done += record.outcome == "ok"
        self._meter.requests_failed += record.outcome == "failed"
        if job.kind == "agent" and job.branch == 0 and record.t_first_s is not None and record.t_sent_s is not None:
            self._meter.slot(job.slot).ttft_s = record.t_first_s - record.t_sent_s


def _deltas_us(t_sent_s: float | None, times_s: list[float]) -> list[int]:
    """Microseconds between output chunks, the first since t_sent_s. Rounded from absolute times, so that errors do not
    add up."""
    if not times_s or t_sent_s is None:
        return []
    marks = np.rint((np.array(times_s) - t_sent_s) * 1e6).astype(np.int64)
    deltas: list[int] = np.diff(marks, prepend=0).tolist()
    return deltas
