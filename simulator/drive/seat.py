"""One agent session's frame, whatever carries it on: a workspace, its part of the clock, one line at its end.

Every moment between `t_ready` and the end belongs to exactly one of the parts in core/record.Session (wall.py).
"""

from __future__ import annotations

import asyncio

from simulator.core.plan import SessionPlan
from simulator.core.record import Session
from simulator.drive.clock import ROUNDING_S
from simulator.drive.stage import Stage
from simulator.drive.toolturn import Tally
from simulator.drive.wall import Wall


class Seat:
    """Takes one plan in one slot. `first_reply` is set when its first request has produced output or failed. t_due_s:
    when an open loop wants it to arrive; its first request is due then, however late its slot was free. turns: the most
    that it may take."""

    def __init__(self, stage: Stage, plan: SessionPlan, slot: int, t_due_s: float | None, turns: int) -> None:
        self._s, self._plan, self._slot, self._t_due_s, self._turns = stage, plan, slot, t_due_s, turns
        self._wall, self._tally = Wall(stage.now), Tally()
        self._turn = plan.start_turn
        self._outcome, self._error = "stopped", ""
        self._complaints: list[str] | None = None
        self.first_reply = asyncio.Event()

    async def run(self) -> Session:
        """Plays, and writes the session's line whatever happens; cancellation is passed on after that."""
        t_start = self._s.now()
        state = self._s.meter.slot(self._slot)
        state.session, state.task = self._plan.session, f"{self._plan.task_kind}/{self._plan.task_name}"
        state.turn, state.turns, state.phase = self._turn, self._turns, "setup"
        state.ttft_s, state.tok_s = None, 0.0
        ready = False
        try:
            earlier = [c.action for t in self._plan.turns[: self._plan.start_turn] for c in t.calls]
            await self._s.tools.setup(self._plan, earlier)
            if self._t_due_s is not None:
                await self._s.pause(self._t_due_s + ROUNDING_S - self._s.now())
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
        """Carries it on until it has ended or the run stops; says so in `_outcome`, `_error` and `_complaints`."""
        raise NotImplementedError

    async def _pause(self, seconds: float, *, first: bool, arrival: bool) -> float:
        """Waits the pause before a turn; when it is over is when the request is due. first: nothing was said before;
        arrival: it is the one with which the session arrives."""
        if self._t_due_s is not None and arrival:
            return self._t_due_s
        if seconds > 0 and not first:
            self._s.meter.slot(self._slot).phase = "think"
            await self._s.pause(seconds)
            self._wall.book("think")
        return self._wall.cursor

    def _turns_told(self) -> int:
        """What its line calls its turns: those of its plan."""
        return self._turns

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
            turns=self._turns_told(),
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
