"""A live conversation's requests: one is sent until a reply stands that the client can work with, or it is over.

What a client does about a failed request is cline/recovery.py's to say; what it sends and how it reads a reply
cline/live's. Each send is a Request line of its own; a request for a summary is a turn of its own.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from simulator.cline.live.conversation import LiveClient, body
from simulator.cline.live.firstcall import FirstCall
from simulator.cline.live.spoken import Said, Spoken, looks_like_a_call
from simulator.cline.live.verdict import End
from simulator.cline.recovery import ON, Event, Move, Recovery
from simulator.cline.setup import Draft
from simulator.core.live import Limits
from simulator.core.outcome import Expected
from simulator.core.plan import SessionPlan
from simulator.drive.sender import Job, Reply
from simulator.drive.stage import Stage
from simulator.drive.talk import book, offered
from simulator.drive.transcript import Transcript
from simulator.drive.wall import Wall


@dataclass(slots=True)
class Budget:
    """What a session may still use. ends_s: run time; output_tok: generated so far."""

    limits: Limits
    ends_s: float
    output_tok: int = 0

    def spent(self, turns: int, now_s: float) -> str:
        """Which limit has been reached, "" while none is."""
        if turns >= self.limits.turns:
            return f"the limit of {self.limits.turns} turns"
        if now_s >= self.ends_s:
            return f"the limit of {self.limits.session_s:g} s"
        if self.output_tok >= self.limits.output_tok:
            return f"the limit of {self.limits.output_tok:,} output tokens"
        return ""


class LiveTalk:
    """branch: 0, the session's own; n, its n-th sub-agent. turn: index of the next request. begun: set when the first
    reply begins to come in, or its request has failed. end, error: why it is over, once reply() has given None; "" for
    the end of the run. garbled: the answer that ended it held a call where none is looked for. prompt_tok, output_tok:
    summed over its requests, as far as the server said."""

    def __init__(self, stage: Stage, plan: SessionPlan, slot: int, wall: Wall, client: LiveClient, budget: Budget,
                 branch: int = 0) -> None:  # fmt: skip
        self._s, self._plan, self._slot, self._wall = stage, plan, slot, wall
        self._client, self._budget, self._branch = client, budget, branch
        self._recovery, self._transcript = Recovery(plan.profile), Transcript(stage.recorder, client)
        self._offered = [offered(tail) for tail in client.tails]
        self.turn = self.prompt_tok = self.output_tok = 0
        self.begun = asyncio.Event()
        self.end: End | None = None
        self.garbled = False
        self.error = ""

    async def reply(self, t_due_s: float) -> Spoken | None:
        """What the model said, already part of the history; None: it is over, see `end`."""
        retry = 0
        while not self._over():
            draft = self._client.request()
            reply = await self._send(draft, t_due_s, retry)
            if reply is None or (self._s.stopping.is_set() and reply.record.outcome != "ok"):
                return None
            if draft.purpose == "compaction":
                self._client.summarised(reply.reading.text if reply.record.outcome == "ok" else "")
                self.turn, retry, t_due_s = self.turn + 1, 0, self._wall.cursor
                continue
            move = self._judge(reply)
            if not move.again:
                return self._heard(reply, draft) if move.go_on else self._given_up(reply, move)
            if self._s.stopping.is_set():
                return None
            self._change(move, reply)
            await self._back_off(move.delay_s)
            retry, t_due_s = retry + 1, self._wall.cursor
        return None

    def _over(self) -> bool:
        if self._s.stopping.is_set():
            return True
        if reached := self._budget.spent(self.turn, self._s.now()):
            self.end, self.error = "limit", reached
        return bool(reached)

    def _heard(self, reply: Reply, draft: Draft) -> Spoken:
        spoken = self._client.read(_said(reply))
        self._client.hear(spoken, draft)
        self.turn += 1
        self.error = ""
        self._wall.book("client")
        return spoken

    def _given_up(self, reply: Reply, move: Move) -> None:
        record = reply.record
        if record.error:
            ends: dict[str, End] = {"context_overflow": "overflow", "empty": "silent"}
            self.end = ends.get(record.error, "engine")
        else:
            self.end = "silent" if record.defect == "reasoning_only" else "cut_off"
            self.garbled = looks_like_a_call(reply.reading.reasoning)
        why = record.detail or move.why
        self.error = f"{record.error or record.defect}: {why}"[:300]

    def _judge(self, reply: Reply) -> Move:
        """What the client makes of it before it is read. Faults in what a whole reply says are none here: reading
        answers them."""
        record, classic = reply.record, self._client.profile.client == "classic"
        if classic and record.error == "cut" and record.chunks:
            return ON  # what came counts as the reply
        asked = ("reasoning_only",) if classic else ("length",)
        event = Event(
            error=record.error,
            defect=record.defect if record.defect in asked else "",
            spoke=bool(record.chunks),
            retry_after_s=reply.retry_after_s,
        )
        self._recovery, move = self._recovery.after(event)
        return move

    def _change(self, move: Move, reply: Reply) -> None:
        self._client.shorten(move.change)
        if move.complaint:
            self._client.cut_off(_said(reply))
        self._wall.book("client")

    async def _back_off(self, delay_s: float) -> None:
        if delay_s > 0:
            if not self._branch:
                self._s.meter.slot(self._slot).phase = "backoff"
            await self._s.pause(min(delay_s, max(0.0, self._budget.ends_s - self._s.now())))
            self._wall.book("backoff")

    async def _send(self, draft: Draft, t_due_s: float, retry: int) -> Reply | None:
        """None: the session's time was up before the reply was there."""
        left_s = max(0.0, self._budget.ends_s - self._s.now())
        try:
            async with asyncio.timeout(left_s):
                reply = await self._s.sender.send(self._job(draft, t_due_s, retry))
        except TimeoutError:
            self._wall.book("model")
            self._over()
            return None
        finally:
            self.begun.set()
        book(self._wall, reply.record)
        record = reply.record
        self.prompt_tok += record.prompt_tok or 0
        self.output_tok += record.output_tok or 0
        if not self._branch:
            self._budget.output_tok += record.output_tok or 0
        return reply

    def _job(self, draft: Draft, t_due_s: float, retry: int) -> Job:
        plan, limits = self._plan, self._budget.limits
        agent = draft.purpose == "agent"
        purpose = "subagent" if self._branch and agent else draft.purpose
        one_call = self._client.one_call and agent
        return Job(
            kind="agent",
            session=plan.session,
            slot=self._slot,
            turn=self.turn,
            purpose=purpose,
            retry=retry,
            t_due_s=t_due_s,
            path="/chat/completions",
            body=body(self._client, draft, limits.reply_tok),
            prompt_tok=draft.prompt_tok,
            output_tok=0,
            branch=self._branch,
            stop_after_tok=None if self._branch else max(1, limits.output_tok - self._budget.output_tok),
            expected=Expected(None, self._offered[draft.head]),
            begun=self.begun,
            ends_s=self._budget.ends_s,
            told=partial(self._transcript.add, draft),
            enough=FirstCall(xml=self._client.profile.calls == "xml") if one_call else None,
            live=True,
        )


def _said(reply: Reply) -> Said:
    """A client that has closed the stream never gets its usage."""
    reading, record = reply.reading, reply.record
    if record.stopped or record.error:
        return Said(reading.text, reading.reasoning, reading.tool_calls)
    counts = reading.prompt_tok, reading.output_tok, reading.cached_tok
    return Said(reading.text, reading.reasoning, reading.tool_calls, *counts)
