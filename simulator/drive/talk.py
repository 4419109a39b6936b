"""One conversation with the engine: a turn's request is sent until its reply stands, or its client gives up.

What a client does about a failure is cline/recovery.py's to say, how the history changes with it cline/overlay.py's;
here it is waited, sent and booked. Each send is a Request line of its own, `retry` counting from 0 within the turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import orjson

from simulator.cline.complaints import complain
from simulator.cline.failed_reports import with_errors
from simulator.cline.overlay import Overlay
from simulator.cline.recovery import ON, Event, Move, Recovery
from simulator.core.outcome import Expected
from simulator.core.plan import SessionPlan, Turn
from simulator.core.record import Request
from simulator.drive.sender import Job, Reply
from simulator.drive.stage import Stage
from simulator.drive.wall import Wall

#: by which a history that left its plan is planned on
BYTES_PER_TOK = 4.0


class Talk:
    """turns: the conversation's. branch: 0, the session's own; n, its n-th sub-agent. begun: set when the first reply
    begins to come in, or its request has failed. failed, error: whether the client gave up, and the last thing that
    went wrong."""

    def __init__(self, stage: Stage, plan: SessionPlan, slot: int, wall: Wall, turns: Sequence[Turn],
                 branch: int = 0) -> None:  # fmt: skip
        self._s, self._plan, self._slot, self._wall, self._branch = stage, plan, slot, wall, branch
        self._overlay = Overlay(plan.pool, turns)
        self._recovery = Recovery(plan.profile)
        self._offered = tuple(offered(tail) for tail in (plan.tails or (plan.tail,)))
        self.begun = asyncio.Event()
        self.failed, self.error = False, ""

    async def reply(self, turn: Turn, t_due_s: float) -> bool:
        """False: the session ends here, because the client gave up or because the run stops."""
        retry = 0
        while True:
            reply = await self._s.sender.send(self._job(turn, t_due_s, retry))
            book(self._wall, reply.record)
            self.begun.set()
            move = self._judge(turn, reply)
            if not move.again:
                self.failed = not move.go_on
                return move.go_on
            if self._s.stopping.is_set():
                return False
            self._change(turn, move, reply)
            await self._back_off(move.delay_s)
            if self._s.stopping.is_set():
                return False
            retry, t_due_s = retry + 1, self._wall.cursor

    def answer_failures(self, turn: Turn, errors: Sequence[str]) -> None:
        """Sub-agents of the turn that failed give their errors as results. errors: one each, "" for none."""
        planned = self._overlay.results(turn)
        said = with_errors(self._plan.profile, list(planned.values()), errors)
        self._overlay.replace(dict(zip(planned, said, strict=True)))

    def _judge(self, turn: Turn, reply: Reply) -> Move:
        record, calls = reply.record, reply.reading.tool_calls
        event = Event(
            error=record.error,
            # the text of a summary is the client's own business, whatever it looks like
            defect="" if turn.purpose == "compaction" else record.defect,
            spoke=bool(record.chunks),
            call=f"{calls[0]['name']} {calls[0]['arguments']}" if calls else "",
            retry_after_s=reply.retry_after_s,
        )
        self._recovery, move = self._recovery.after(event)
        if move != ON:
            why = record.detail or move.why or "the client objects to the reply"
            self.error = f"{record.error or record.defect}: {why}"[:300]
        else:
            self.error = ""
        return move

    def _change(self, turn: Turn, move: Move, reply: Reply) -> None:
        if turn.purpose == "compaction":
            return
        if move.change == "truncate":
            self._overlay.truncate(turn)
        elif move.change == "compact":
            self._overlay.compact(turn)
        if move.complaint:
            said = reply.reading
            last = self._overlay.last(turn)
            messages = complain(self._plan.profile, move.complaint, said.text, said.tool_calls, last)
            self._overlay.add(turn, messages)
        self._wall.book("client")

    async def _back_off(self, delay_s: float) -> None:
        if delay_s <= 0:
            return
        if not self._branch:
            self._s.meter.slot(self._slot).phase = "backoff"
        await self._s.pause(delay_s)
        self._wall.book("backoff")

    def _job(self, turn: Turn, t_due_s: float, retry: int) -> Job:
        plan, forced = self._plan, self._s.forced
        live = None if turn.purpose == "compaction" else self._overlay.live(turn)
        prompt_tok = turn.prompt_tok
        if live is not None:
            more = sum(map(len, live)) - sum(len(plan.pool[i]) for i in turn.view)
            prompt_tok = max(1, prompt_tok + round(more / BYTES_PER_TOK))
        return Job(
            kind="agent",
            session=plan.session,
            slot=self._slot,
            turn=turn.index,
            purpose=turn.purpose,
            retry=retry,
            t_due_s=t_due_s,
            path="/chat/completions",
            body=plan.body(turn, forced=forced, live=live),
            prompt_tok=prompt_tok,
            output_tok=turn.output_tok,
            branch=self._branch,
            stop_after_tok=turn.stop_after_tok,
            expected=Expected(
                turn.output_tok if forced else None, self._offered[turn.head if plan.tails else 0]
            ),
            begun=self.begun,
        )  # fmt: skip


def book(wall: Wall, record: Request) -> None:
    """Up to the send is ours, from there to the end of the stream is the model's, reading it is ours again."""
    if record.t_sent_s is not None:
        wall.book("client", record.t_sent_s)
    wall.book("model", record.t_end_s)
    wall.book("client")


def offered(tail: bytes) -> frozenset[str]:
    """Names of the tools in a body's tail."""
    fields = orjson.loads(b'{"messages":[' + tail + b"}")
    # a recorded body may hold tools of other kinds, whose name stands elsewhere
    functions = (tool.get("function") or tool for tool in fields.get("tools") or ())
    return frozenset(each["name"] for each in functions if "name" in each)
