"""A live reply's tool calls, carried out one after the other in the session's workspace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from simulator.cline.profiles import profile as profile_of
from simulator.core.action import (
    Action,
    Command,
    Complete,
    Declined,
    Delegate,
    Finished,
    Outcome,
    Ran,
    Refused,
    Reports,
)
from simulator.core.normalise import outcome_text
from simulator.core.plan import SessionPlan
from simulator.core.record import ToolRun
from simulator.drive.stage import Stage
from simulator.drive.timelimit import time_limit_s
from simulator.drive.tools import Done, edits, tool_name
from simulator.drive.toolturn import Tally
from simulator.drive.wall import Wall

#: seconds that a command has in any case
LEAST_S = 1.0
#: for a command that was ended at its own limit to be put away
GRACE_S = 3.0
#: sends sub-agents out: a call's prompts -> their reports
Send = Callable[[Delegate], Awaitable[Reports]]


class LiveHands:
    """ends_s: run time at which the session's time is up, whatever a command was allowed. send: None, whoever calls has
    no sub-agents. branch: 0, the session's own; n, its n-th sub-agent."""

    def __init__(self, stage: Stage, plan: SessionPlan, slot: int, wall: Wall, tally: Tally, ends_s: float,
                 send: Send | None, branch: int = 0) -> None:  # fmt: skip
        self._s, self._plan, self._slot, self._wall, self._tally = stage, plan, slot, wall, tally
        self._ends_s, self._send, self._branch = ends_s, send, branch
        self._client = profile_of(plan.profile).client

    async def carry_out(self, turn: int, actions: Sequence[Action]) -> list[Outcome]:
        """One outcome an action, and a commit when one of them changed a file."""
        before, out = self._tally.edits, []
        for number, action in enumerate(actions):
            if not self._branch:
                self._s.meter.slot(self._slot).phase = "tool"
            match action:
                case Declined(reason=reason):
                    out.append(Refused(reason))
                case Delegate():
                    out.append(await self._delegate(action))
                case Complete() if self._client == "sdk":
                    out.append(Finished())  # the words of its answer, and no call
                case _:
                    out.append(await self._do(turn, number, action))
        if self._tally.edits != before:
            self._tally.commits += await self._s.tools.commit(self._plan.session, f"Turn {turn}")
            self._wall.book("client")
        return out

    async def _delegate(self, action: Delegate) -> Outcome:
        if self._send is None:
            return Refused("A sub-agent cannot send out others.")
        try:
            return await self._send(action)
        finally:
            self._wall.book("subagent")

    def _in_time(self, action: Action) -> Action:
        """A command may have more time than there is."""
        left_s = max(LEAST_S, self._ends_s - self._s.now())
        if isinstance(action, Command) and time_limit_s(action, patterns=self._client == "classic") > left_s:
            return replace(action, timeout_s=left_s)
        return action

    async def _done(self, action: Action) -> Done:
        """What came of it; a refusal when it is still at work after the session's time."""
        began = time.monotonic()
        left_s = max(LEAST_S, self._ends_s - self._s.now())
        try:
            async with asyncio.timeout(left_s + GRACE_S):
                return await self._s.tools.do(self._plan.session, self._in_time(action))
        except TimeoutError:
            return Done(Refused("The session's time was up before this was done."), began, time.monotonic())

    async def _do(self, turn: int, number: int, action: Action) -> Outcome:
        stage, wall = self._s, self._wall
        stage.meter.tools_running += 1
        t_ready = stage.now()
        try:
            done = await self._done(action)
        finally:
            stage.meter.tools_running -= 1
        start, end = stage.at(done.t_start), stage.at(done.t_end)
        wall.book("tool_queue", start)
        wall.book("tool_run", end)
        wall.book("client")
        self._tally.tool_calls += 1
        self._tally.edits += edits(action)
        outcome = done.outcome
        stage.recorder.tool(
            ToolRun(
                session=self._plan.session,
                slot=self._slot,
                turn=turn,
                call=number,
                tool=tool_name(action),
                t_ready_s=t_ready,
                t_start_s=start,
                t_end_s=end,
                t_release_s=wall.cursor,
                recorded_s=0.0,
                result_chars=len(outcome_text(outcome)),
                exit_code=outcome.exit_code if isinstance(outcome, Ran) else None,
                matched=True,
                branch=self._branch,
            )
        )
        return outcome
