"""The run at this moment: counters that sessions bump, and the client's own health. Read twice a second as a Pulse."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from simulator.core.certify import LAG_MARKS_MS
from simulator.core.record import Pulse, SlotState

LAG_PERIOD_S = 0.01


class Meter:
    """One a run, used on the event loop only. Slots are created on first use."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.stage, self.ends_s, self.kind = "setup", None, "agent"
        self.output_tok = self.requests_done = self.requests_failed = 0
        self.sessions_done = self.in_flight = self.tools_running = 0
        self.slots: dict[int, SlotState] = {}
        self._lag_s = 0.0
        self._lag_ticks, self._lag_over = 0, [0] * len(LAG_MARKS_MS)
        self._cpu = (time.monotonic(), time.process_time())
        self._told = [0, 0]  # tokens and chunks of replies whose tokens the server told, of this traffic
        self.counters: set[StreamCounter] = set()

    def begin(self, stage: str, ends_s: float | None = None, kind: str | None = None) -> None:
        """A new stage; a change of traffic starts its counters afresh."""
        if kind is not None and kind != self.kind:
            self.kind, self.output_tok = kind, 0
            self.requests_done = self.requests_failed = self.sessions_done = 0
            self.slots.clear()
            self._told = [0, 0]
        self.stage, self.ends_s = stage, ends_s

    def scaled(self, chunks: int) -> int | None:
        """Tokens in so many chunks, by the mean of the replies whose tokens the server told; None before the first."""
        tok, of = self._told
        return round(chunks * tok / of) if of else None

    def learn(self, output_tok: int, chunks: int) -> None:
        """Of a reply whose tokens the server told."""
        self._told[0] += output_tok
        self._told[1] += chunks

    def slot(self, slot: int) -> SlotState:
        state = self.slots.get(slot)
        if state is None:
            state = self.slots[slot] = SlotState(slot, "", "", 0, 0, "idle", 0, None, 0.0)
        return state

    def pulse(self) -> Pulse:
        for counter in self.counters:
            counter.catch_up()
        wall, cpu = time.monotonic(), time.process_time()
        share = (cpu - self._cpu[1]) / max(1e-9, wall - self._cpu[0])
        self._cpu = (wall, cpu)
        lag, self._lag_s = self._lag_s, 0.0
        ticks, self._lag_ticks = self._lag_ticks, 0
        over, self._lag_over = self._lag_over, [0] * len(LAG_MARKS_MS)
        return Pulse(
            t_s=self._now(),
            stage=self.stage,
            ends_s=self.ends_s,
            kind=self.kind,
            output_tok=self.output_tok,
            requests_done=self.requests_done,
            requests_failed=self.requests_failed,
            sessions_done=self.sessions_done,
            in_flight=self.in_flight,
            tools_running=self.tools_running,
            loop_lag_s=lag,
            cpu_share=share,
            slots=list(self.slots.values()),
            lag_ticks=ticks,
            **{f"lag_over_{mark}ms": n for mark, n in zip(LAG_MARKS_MS, over, strict=True)},
        )

    async def watch_loop(self) -> None:
        """How late the loop calls what is due, measured forever; a timer costs half of what a sleeping task does."""
        loop = asyncio.get_running_loop()

        def tick(due: float) -> None:
            nonlocal timer
            now = time.monotonic()
            # uvloop rounds timers to a millisecond; what is below that is not lag.
            self.note_lag(max(0.0, now - due - 0.001))
            timer = loop.call_later(LAG_PERIOD_S, tick, now + LAG_PERIOD_S)

        timer = loop.call_later(LAG_PERIOD_S, tick, time.monotonic() + LAG_PERIOD_S)
        try:
            await loop.create_future()
        finally:
            timer.cancel()

    def note_lag(self, lag_s: float) -> None:
        """A stall of 200 ms is one late wake-up, but everything that was due in it was late: each period that fell into
        it counts, with what was left of the stall then."""
        self._lag_s = max(self._lag_s, lag_s)
        while True:
            self._lag_ticks += 1
            for n, mark in enumerate(LAG_MARKS_MS):
                if lag_s * 1e3 <= mark:
                    break
                self._lag_over[n] += 1
            lag_s -= LAG_PERIOD_S
            if lag_s <= 0:
                return


class StreamCounter:
    """Counts one reply as it arrives, without parsing: events times the mean tokens a chunk seen so far. The estimate
    is replaced by the truth when the reply has been read.

    It looks at what has come in since it last looked, which costs less than being called at each arrival. times_s,
    pieces: the arrivals, which grow."""

    __slots__ = ("_chunks", "_counted", "_meter", "_now", "_pieces", "_seen", "_state", "_times_s")

    def __init__(
        self,
        meter: Meter,
        state: SlotState | None,
        now: Callable[[], float],
        times_s: Sequence[float],
        pieces: Sequence[bytes],
    ) -> None:
        self._meter, self._state, self._now = meter, state, now
        self._times_s, self._pieces = times_s, pieces
        self._chunks = self._counted = self._seen = 0
        meter.counters.add(self)

    def catch_up(self) -> None:
        pieces, seen = self._pieces, len(self._pieces)
        if seen == self._seen:
            return
        self._chunks += b"".join(pieces[self._seen : seen]).count(b"data: {")
        self._seen = seen
        total = self._meter.scaled(self._chunks) or self._chunks
        self._meter.output_tok += total - self._counted
        self._counted = total
        state = self._state
        if state is None:
            return
        if state.phase == "queue":
            state.phase = "decode"
        elapsed = self._now() - self._times_s[0]
        state.tok_s = self._counted / elapsed if elapsed > 0.05 else 0.0

    @property
    def output_tok(self) -> int:
        """Tokens so far, as estimated."""
        return self._counted

    def scaled(self, chunks: int) -> int | None:
        """As the meter's."""
        return self._meter.scaled(chunks)

    def settle(self, output_tok: int) -> None:
        self._meter.counters.discard(self)
        self._meter.output_tok += output_tok - self._counted
        self._counted = output_tok
