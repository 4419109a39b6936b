"""One live session: the model's replies carry it on, until it says that it is done, its client gives up or a limit is
reached. Then the task's check decides.

`Dialogue` is one conversation of it, its own or a sub-agent's; both end in the same ways.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from simulator.cline.guard import Guard
from simulator.cline.live.conversation import Beginning, LiveClient
from simulator.cline.live.path import Divergence, keys
from simulator.cline.live.spoken import Spoken
from simulator.cline.live.verdict import End, Ending, failure_class
from simulator.core.action import Delegate, Report, Reports
from simulator.core.live import LiveStart
from simulator.core.plan import SessionPlan
from simulator.core.record import Session
from simulator.drive.livehands import LiveHands
from simulator.drive.livetalk import Budget, LiveTalk
from simulator.drive.seat import Seat
from simulator.drive.stage import Stage
from simulator.drive.toolturn import Tally
from simulator.drive.wall import Wall

#: of a message of which nobody needs to know better before it is sent; replies are counted by the server
CHARS_PER_TOK = 4
#: what sub-agents' errors look like to their parent
FAILED = "Failed: "


def about(text: str) -> int:
    """Tokens of a text, roughly; counting them would hold the loop up."""
    return -(-len(text) // CHARS_PER_TOK)


class Dialogue:
    """ending: None while it goes on, or when the run stopped it. replies: from the model, summaries left out."""

    def __init__(self, client: LiveClient, talk: LiveTalk, hands: LiveHands, wall: Wall) -> None:
        self._client, self.talk, self._hands, self._wall = client, talk, hands, wall
        self._guard, self._malformed = Guard(), False
        self.replies, self.result = 0, ""
        self.ending: Ending | None = None

    async def turn(self, t_due_s: float, now_unix_s: Callable[[], float]) -> Spoken | None:
        """One reply and what it asks for; None: it is over, see `ending`."""
        index = self.talk.turn
        spoken = await self.talk.reply(t_due_s)
        if spoken is None:
            self.ending = self._ended(self.talk.end) if self.talk.end else None
            return None
        self.replies += 1
        self._watch(spoken)
        outcomes = await self._hands.carry_out(index, spoken.actions)
        if spoken.result is not None:
            self.result = spoken.result
            self.ending = self._ended("done")
        elif not spoken.calls and self._client.profile.client == "sdk":
            self.ending = self._ended("silent")
        else:
            self._client.results(outcomes, now_unix_s())
            self._wall.book("client")
            if self._client.ended:
                self.ending = self._ended(cast(End, self._client.ended))
        return spoken

    def _watch(self, spoken: Spoken) -> None:
        self._malformed = spoken.mistaken or (self._malformed and not spoken.acts)
        for key in keys(self._client.profile.name, spoken.actions):
            self._guard = self._guard.after(key)

    def _ended(self, end: End) -> Ending:
        return Ending(end, self._malformed or self.talk.garbled, self._guard.times)


class LiveRunner(Seat):
    """Plays one live session in one slot."""

    def __init__(
        self, stage: Stage, plan: SessionPlan, slot: int, start: LiveStart, t_due_s: float | None = None
    ) -> None:
        super().__init__(stage, plan, slot, t_due_s, start.limits.turns)
        self._start, self._branches = start, 0
        self._begin = Beginning(plan.profile, start, plan.cwd, about)
        self._divergence = Divergence(plan.profile, start.path)
        self._ending: Ending | None = None
        self._t_ready, self._budget = 0.0, Budget(start.limits, 0.0)

    async def _play(self) -> None:
        self._t_ready = self._s.now()
        self._budget.ends_s = self._t_ready + self._start.limits.session_s
        client = await asyncio.to_thread(self._begin.own)  # reads prompts and tools the first time
        self._wall.book("client")
        own = self._dialogue(client, self._wall, self._tally, 0)
        own.talk.begun = self.first_reply
        fault = ""
        try:
            await self._converse(own)
        except Exception as error:  # a fault of ours; the check says what had been done by then
            fault = f"{type(error).__name__}: {error}"[:300]
            own.ending = Ending("no_tool")
        self._ending = ending = own.ending
        if ending is None:
            return
        self._outcome = "failed" if fault or ending.end == "engine" else "completed"
        self._error = fault or own.talk.error or ("" if ending.end == "done" else f"ended by its client: {ending.end}")
        self._complaints = await self._s.tools.check(self._plan.session, self._plan.check)
        self._wall.book("client")

    async def _converse(self, own: Dialogue) -> None:
        while own.ending is None and not self._s.stopping.is_set():
            spoken = await own.turn(await self._due(own.talk.turn), self._now_unix_s)
            self._turn = self._s.meter.slot(self._slot).turn = own.talk.turn
            if spoken is None:
                return
            self._divergence.add(spoken.actions)

    def _turns_told(self) -> int:
        return self._turn  # nothing was planned, and the limit is not this session's

    async def _due(self, turn: int) -> float:
        pauses = self._start.pauses_s
        pause_s = pauses[turn % len(pauses)] if pauses else 0.0
        return await self._pause(pause_s, first=turn == 0, arrival=turn == 0)

    def _now_unix_s(self) -> float:
        return self._start.start_unix_s + self._s.now() - self._t_ready

    def _dialogue(self, client: LiveClient, wall: Wall, tally: Tally, branch: int) -> Dialogue:
        talk = LiveTalk(self._s, self._plan, self._slot, wall, client, self._budget, branch)
        send = None if branch else self._send_out
        hands = LiveHands(self._s, self._plan, self._slot, wall, tally, self._budget.ends_s, send, branch)
        return Dialogue(client, talk, hands, wall)

    async def _send_out(self, action: Delegate) -> Reports:
        """A call's sub-agents, all at once."""
        async with asyncio.TaskGroup() as group:
            tasks = []
            for prompt in action.prompts:
                self._branches += 1
                tasks.append(group.create_task(self._explore(prompt, self._branches)))
        return Reports(tuple(task.result() for task in tasks))

    async def _explore(self, prompt: str, branch: int) -> Report:
        """One that fails, or meets a fault of ours, fails alone: that is its report."""
        wall, tally = Wall(self._s.now), Tally()
        wall.cursor = self._s.now()
        one = self._dialogue(self._begin.subagent(prompt), wall, tally, branch)
        try:
            while one.ending is None and await one.turn(wall.cursor, self._now_unix_s) is not None:
                pass
            said = one.result or f"{FAILED}{one.talk.error or (one.ending.end if one.ending else 'stopped')}"
        except Exception as error:
            said = f"{FAILED}{type(error).__name__}: {error}"[:300]
        self._tally.tool_calls += tally.tool_calls
        self._tally.edits += tally.edits
        self._tally.commits += tally.commits
        return Report(prompt, said, one.replies, tally.tool_calls, one.talk.prompt_tok, one.talk.output_tok)

    def _record(self, t_start: float, t_ready: float) -> Session:
        record = super()._record(t_start, t_ready)
        if self._ending is not None and record.verified is not None:
            record.failure_class = failure_class(self._ending, solved=record.verified)
        record.diverged_turn, record.recorded_share = self._divergence.first, self._divergence.share
        return record
