"""A turn's tool calls, one after the other, in the session's workspace."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.plan import PlannedCall, SessionPlan, Turn
from simulator.core.record import ToolRun
from simulator.drive.stage import Stage
from simulator.drive.tools import edits, tool_name
from simulator.drive.wall import Wall


@dataclass(slots=True)
class Tally:
    tool_calls: int = 0
    mismatches: int = 0
    edits: int = 0
    commits: int = 0


class Hands:
    """Carries out the calls of one conversation (branch: 0, the session's own; n, its n-th sub-agent)."""

    def __init__(self, stage: Stage, plan: SessionPlan, slot: int, wall: Wall, tally: Tally, branch: int = 0) -> None:
        self._s, self._plan, self._slot = stage, plan, slot
        self._wall, self._tally, self._branch = wall, tally, branch

    async def carry_out(self, turn: Turn) -> None:
        """All calls of the turn, and a commit when one of them changed a file."""
        before = self._tally.edits
        for number, call in enumerate(turn.calls):
            if not self._branch:
                self._s.meter.slot(self._slot).phase = "tool"
            await self._call(turn, number, call)
        if self._tally.edits != before:
            self._tally.commits += await self._s.tools.commit(self._plan.session, f"Turn {turn.index}")
            self._wall.book("client")

    async def _call(self, turn: Turn, number: int, call: PlannedCall) -> None:
        stage, wall, tally = self._s, self._wall, self._tally
        stage.meter.tools_running += 1
        t_ready = stage.now()
        try:
            done = await stage.tools.replay(self._plan.session, call.action, call.recorded)
        finally:
            stage.meter.tools_running -= 1
        start, end = stage.at(done.t_start), stage.at(done.t_end)
        wall.book("tool_queue", start)
        wall.book("tool_run", end)
        if stage.paced:
            await stage.pause(t_ready + call.recorded_s - stage.now())
            wall.book("tool_pace")
        wall.book("client")
        tally.tool_calls += 1
        tally.mismatches += not done.matched
        tally.edits += edits(call.action)
        stage.recorder.tool(
            ToolRun(
                session=self._plan.session,
                slot=self._slot,
                turn=turn.index,
                call=number,
                tool=tool_name(call.action),
                t_ready_s=t_ready,
                t_start_s=start,
                t_end_s=end,
                t_release_s=wall.cursor,
                recorded_s=call.recorded_s,
                result_chars=done.result_chars,
                exit_code=done.exit_code,
                matched=done.matched,
                difference=done.difference,
                branch=self._branch,
            )
        )
