"""One agent session: request, tools, pause, and again, until its plan is played, the run stops or its client gives
up."""

from __future__ import annotations

from simulator.core.plan import SessionPlan, Turn
from simulator.drive.seat import Seat
from simulator.drive.stage import Stage
from simulator.drive.subagents import run_subagents
from simulator.drive.talk import Talk
from simulator.drive.toolturn import Hands
from simulator.drive.wall import PARTS

__all__ = ["PARTS", "SessionRunner", "Stage"]


class SessionRunner(Seat):
    """Plays one SessionPlan: each reply counts as the recorded one."""

    def __init__(self, stage: Stage, plan: SessionPlan, slot: int, t_due_s: float | None = None) -> None:
        super().__init__(stage, plan, slot, t_due_s, len(plan.turns))
        self._talk = Talk(stage, plan, slot, self._wall, plan.turns)
        self._hands = Hands(stage, plan, slot, self._wall, self._tally)
        self.first_reply = self._talk.begun

    async def _play(self) -> None:
        plan = self._plan
        previous = plan.turns[plan.start_turn - 1] if plan.start_turn else None
        state = self._s.meter.slot(self._slot)
        for turn in plan.turns[plan.start_turn : plan.last_turn]:
            if self._s.stopping.is_set():
                return
            self._turn = state.turn = turn.index
            t_due = await self._pause(turn.think_s, first=previous is None, arrival=turn.index == plan.start_turn)
            if self._s.stopping.is_set():
                return
            if not await self._talk.reply(turn, t_due):
                self._outcome, self._error = "failed" if self._talk.failed else "stopped", self._talk.error
                return
            await self._hands.carry_out(turn)
            if turn.spawns:
                await self._subagents(turn)
            previous = turn
            self._turn = state.turn = turn.index + 1
        self._outcome = "completed"
        if plan.whole:
            self._complaints = await self._s.tools.check(plan.session, plan.check)
            self._wall.book("client")

    async def _subagents(self, turn: Turn) -> None:
        """The slot's row shows its session in a tool, which is what sub-agents are to their parent."""
        self._s.meter.slot(self._slot).phase = "tool"
        try:
            errors = await run_subagents(self._s, self._plan, self._slot, turn, self._tally)
            if any(errors):
                self._talk.answer_failures(turn, errors)
        finally:
            self._wall.book("subagent")
