"""One agent session: request, tools, pause, and again, until its plan is played, the run stops or the profile gives up.

Every moment between `t_ready` and the end belongs to exactly one of the parts in core/record.Session, by construction:
a cursor moves forward and each stretch is booked once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.cline.retry import next_try
from simulator.core.plan import SessionPlan, Turn
from simulator.core.record import Session, ToolRun
from simulator.drive.meter import Meter
from simulator.drive.recorder import Recorder
from simulator.drive.sender import Job, Reply, Sender
from simulator.drive.tools import Tools, edits, tool_name

PARTS = ("think", "model", "subagent", "tool_run", "tool_queue", "tool_pace", "backoff", "client")


@dataclass(frozen=True, slots=True)
class Stage:
    """What every session of a run shares. paced: hold a tool's answer until its recorded latency has passed.
    stopping: set when no further request may start; a session then ends after the turn in hand."""

    sender: Sender
    tools: Tools
    recorder: Recorder
    meter: Meter
    now: Callable[[], float]
    at: Callable[[float], float]
    stopping: asyncio.Event
    paced: bool
    forced: bool


@dataclass(slots=True)
class Wall:
    """Books each stretch of a session's time to one part."""

    now: Callable[[], float]
    cursor: float = 0.0
    parts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))

    def book(self, part: str, until_s: float | None = None) -> None:
        until = self.now() if until_s is None else max(self.cursor, until_s)
        self.parts[part] += until - self.cursor
        self.cursor = until


@dataclass(slots=True)
class _Tally:
    tool_calls: int = 0
    mismatches: int = 0
    edits: int = 0
    commits: int = 0


class SessionRunner:
    """Plays one SessionPlan in one slot. `first_reply` is set when its first request has produced output or failed.
    t_due_s: when an open loop wants it to arrive; its first request is due then, however late its slot was free."""

    def __init__(self, stage: Stage, plan: SessionPlan, slot: int, t_due_s: float | None = None) -> None:
        self._s, self._plan, self._slot, self._t_due_s = stage, plan, slot, t_due_s
        self._wall = Wall(stage.now)
        self._tally = _Tally()
        self._turn = plan.start_turn
        self._outcome, self._error = "stopped", ""
        self._complaints: list[str] | None = None
        self.first_reply = asyncio.Event()

    async def run(self) -> Session:
        """Plays, and writes the session's line whatever happens; cancellation is passed on after that."""
        t_start = self._s.now()
        state = self._s.meter.slot(self._slot)
        state.session, state.task = self._plan.session, f"{self._plan.task_kind}/{self._plan.task_name}"
        state.turn, state.turns, state.phase = self._turn, len(self._plan.turns), "setup"
        state.ttft_s, state.tok_s = None, 0.0
        ready = False
        try:
            earlier = [c.action for t in self._plan.turns[: self._plan.start_turn] for c in t.calls]
            await self._s.tools.setup(self._plan, earlier)
            if self._t_due_s is not None:
                await self._pause(self._t_due_s - self._s.now())
            ready = True
            self._wall.cursor = t_ready = self._s.now()
            await self._play()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # one session's fault must never disturb another; it is recorded and shown
            self._outcome, self._error = "failed", f"{type(error).__name__}: {error}"[:300]
        finally:
            if not ready:
                self._wall.cursor = t_ready = self._s.now()
            self.first_reply.set()
            state.phase, state.tok_s = "idle", 0.0
            record = self._record(t_start, t_ready)
            try:
                patch, record.diff_stat = await asyncio.wait_for(self._s.tools.finish(self._plan.session), 20)
                self._s.recorder.diff(self._plan.session, patch)
            except Exception as error:
                record.error = record.error or f"workspace clean-up: {error}"[:300]
            self._s.recorder.session(record)
        return record

    async def _play(self) -> None:
        plan = self._plan
        previous = plan.turns[plan.start_turn - 1] if plan.start_turn else None
        state = self._s.meter.slot(self._slot)
        for turn in plan.turns[plan.start_turn : plan.last_turn]:
            if self._s.stopping.is_set():
                return
            self._turn = state.turn = turn.index
            t_due = await self._think(turn, first=previous is None)
            if self._s.stopping.is_set():
                return
            if not await self._model(turn, t_due):
                return
            await self._tools(turn)
            previous = turn
            self._turn = state.turn = turn.index + 1
        self._outcome = "completed"
        if plan.whole:
            self._complaints = await self._s.tools.check(plan.session, plan.check)
            self._wall.book("client")

    async def _think(self, turn: Turn, *, first: bool) -> float:
        """Waits the pause before the turn; when it is over is when the request is due."""
        if self._t_due_s is not None and turn.index == self._plan.start_turn:
            return self._t_due_s
        if turn.think_s > 0 and not first:
            self._s.meter.slot(self._slot).phase = "think"
            await self._pause(turn.think_s)
            self._wall.book("think")
        return self._wall.cursor

    async def _pause(self, seconds: float) -> None:
        """Sleeps, but not past the run's end."""
        try:
            await asyncio.wait_for(self._s.stopping.wait(), seconds)
        except TimeoutError:
            return

    async def _model(self, turn: Turn, t_due: float) -> bool:
        """Sends until a reply stands or the profile gives up; False ends the session."""
        body = self._plan.body(turn, forced=self._s.forced)
        retry = 0
        while True:
            reply = await self._s.sender.send(self._job(turn, t_due, body, retry))
            self._book(reply)
            self.first_reply.set()
            if reply.record.outcome == "ok":
                return True
            error = reply.record.error
            again = next_try(self._plan.profile, error, retry + 1)
            # A replay's history is fixed, so a retry that would first cut it is not made: the session ends here.
            if again is None or again.change or self._s.stopping.is_set():
                self._outcome, self._error = "failed", f"{error}: {reply.record.detail}"[:300]
                return False
            self._s.meter.slot(self._slot).phase = "backoff"
            await self._pause(max(again.delay_s, reply.retry_after_s or 0.0))
            self._wall.book("backoff")
            if self._s.stopping.is_set():
                self._error = f"{error}: {reply.record.detail}"[:300]
                return False
            retry, t_due = retry + 1, self._wall.cursor

    def _job(self, turn: Turn, t_due: float, body: bytes, retry: int) -> Job:
        return Job(
            kind="agent",
            session=self._plan.session,
            slot=self._slot,
            turn=turn.index,
            purpose=turn.purpose,
            retry=retry,
            t_due_s=t_due,
            path="/chat/completions",
            body=body,
            prompt_tok=turn.prompt_tok,
            output_tok=turn.output_tok,
        )

    def _book(self, reply: Reply) -> None:
        """Up to the send is ours, from there to the end of the stream is the model's, reading it is ours again."""
        sent = reply.record.t_sent_s
        if sent is not None:
            self._wall.book("client", sent)
        self._wall.book("model", reply.record.t_end_s)
        self._wall.book("client")

    async def _tools(self, turn: Turn) -> None:
        state, meter = self._s.meter.slot(self._slot), self._s.meter
        changed = False
        for number, call in enumerate(turn.calls):
            state.phase = "tool"
            meter.tools_running += 1
            t_ready = self._s.now()
            try:
                done = await self._s.tools.replay(self._plan.session, call.action, call.recorded)
            finally:
                meter.tools_running -= 1
            start, end = self._s.at(done.t_start), self._s.at(done.t_end)
            self._wall.book("tool_queue", start)
            self._wall.book("tool_run", end)
            if self._s.paced:
                await self._pause(t_ready + call.recorded_s - self._s.now())
                self._wall.book("tool_pace")
            self._wall.book("client")
            changed |= edits(call.action)
            self._count(call.action, done.matched)
            self._s.recorder.tool(
                ToolRun(
                    session=self._plan.session,
                    slot=self._slot,
                    turn=turn.index,
                    call=number,
                    tool=tool_name(call.action),
                    t_ready_s=t_ready,
                    t_start_s=start,
                    t_end_s=end,
                    t_release_s=self._wall.cursor,
                    recorded_s=call.recorded_s,
                    result_chars=done.result_chars,
                    exit_code=done.exit_code,
                    matched=done.matched,
                    difference=done.difference,
                )
            )
        if changed:
            self._tally.commits += await self._s.tools.commit(self._plan.session, f"Turn {turn.index}")
            self._wall.book("client")

    def _count(self, action: object, matched: bool) -> None:
        self._tally.tool_calls += 1
        self._tally.mismatches += not matched
        self._tally.edits += edits(action)  # type: ignore[arg-type]

    def _record(self, t_start: float, t_ready: float) -> Session:
        plan, parts, tally = self._plan, self._wall.parts, self._tally
        complaints = self._complaints
        if self._outcome == "completed":
            self._s.meter.sessions_done += 1
        return Session(
            session=plan.session,
            slot=self._slot,
            task_template=plan.task_template,
            task_kind=plan.task_kind,
            task_size=plan.task_size,
            task_name=plan.task_name,
            profile=plan.profile,
            start_turn=plan.start_turn,
            end_turn=self._turn,
            turns=len(plan.turns),
            t_start_s=t_start,
            t_ready_s=t_ready,
            t_end_s=self._wall.cursor,
            setup_s=t_ready - t_start,
            think_s=parts["think"],
            model_s=parts["model"],
            tool_run_s=parts["tool_run"],
            tool_queue_s=parts["tool_queue"],
            tool_pace_s=parts["tool_pace"],
            backoff_s=parts["backoff"],
            client_s=parts["client"],
            tool_calls=tally.tool_calls,
            tool_mismatches=tally.mismatches,
            edits=tally.edits,
            commits=tally.commits,
            outcome=self._outcome,
            error=self._error,
            verified=None if complaints is None else not complaints,
            check=complaints[0][:300] if complaints else "",
            subagent_s=parts["subagent"],
            t_due_s=self._t_due_s,
        )
