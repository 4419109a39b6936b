"""A conversation played turn by turn: a session's own, or a sub-agent's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simulator.core.record import ToolRun
from simulator.virtual.log import Stamp
from simulator.virtual.replica import Sent
from simulator.virtual.script import Beat, Script
from simulator.virtual.stage import Stage


@dataclass(slots=True)
class Wall:
    """Seconds of a session by part; every moment belongs to one."""

    think_s: float = 0.0
    model_s: float = 0.0
    subagent_s: float = 0.0
    tool_pace_s: float = 0.0
    client_s: float = 0.0


@dataclass(slots=True)
class Tally:
    tool_calls: int = 0
    edits: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation takes place: its session's name in this run, its slot, what marks its blocks."""

    session: str
    slot: int
    salt: bytes


class Talk:
    """done(outcome, error) is called once: "completed" | "stopped" | "failed". begun is called when a reply begins
    or is refused. wall and tally are the session's; a sub-agent's time is in its parent's wait."""

    def __init__(
        self, stage: Stage, place: Place, script: Script, beats: Sequence[Beat], branch: int,
        done: Callable[[str, str], None], begun: Callable[[], None],
    ) -> None:  # fmt: skip
        self.wall, self.tally, self.turn = Wall(), Tally(), beats[0].index
        self._stage, self._place, self._script = stage, place, script
        self._beats, self._branch, self._done, self._begun = beats, branch, done, begun
        self._n = 0
        self._phase = "idle"
        self._pause = 0  # counts pauses: the end of one that was cut short means nothing
        self._since_s = self._due_s = 0.0
        self._sent: Sent | None = None
        self._agents: list[Talk] = []

    def begin(self) -> None:
        self._send()

    def stop(self) -> None:
        """The run ends: pauses are cut short, a request in flight is still awaited."""
        if self._phase == "think":
            self._end_think()
        elif self._phase == "tool":
            self._end_tools()
        for agent in self._agents:
            agent.stop()

    def cancel(self) -> None:
        """Whatever is still in flight is given up."""
        for agent in list(self._agents):
            agent.cancel()
        sent, self._sent = self._sent, None
        if sent is not None and self._phase == "model":
            self._stage.replica.abort(sent)
            while sent.times_s and sent.times_s[-1] > self._now_s:  # on its way
                sent.times_s.pop()
                sent.tokens.pop()
            self._stage.log.reply(self._stamp(), sent, self._due_s, self._now_s, "cancelled")
        self._finish("stopped")

    @property
    def _now_s(self) -> float:
        return self._stage.agenda.now_s

    @property
    def _beat(self) -> Beat:
        return self._beats[self._n]

    def _finish(self, outcome: str, error: str = "") -> None:
        if self._phase != "done":
            self._phase = "done"
            self._done(outcome, error)

    def _enter(self, phase: str, seconds: float, then: Callable[[int], None]) -> None:
        self._phase, self._since_s, self._pause = phase, self._now_s, self._pause + 1
        self._stage.agenda.at(self._now_s + seconds, then, self._pause)

    def _next(self) -> None:
        self._n += 1
        if self._n == len(self._beats):
            self._finish("completed")
        elif self._stage.stopping:
            self._finish("stopped")
        elif self._beat.think_s > 0:
            self._enter("think", self._beat.think_s, self._end_think)
        else:
            self._send()

    def _end_think(self, pause: int | None = None) -> None:
        if pause is not None and (pause != self._pause or self._phase != "think"):
            return
        self.wall.think_s += self._now_s - self._since_s
        self.turn = self._beat.index
        if self._stage.stopping:
            self._finish("stopped")
        else:
            self._send()

    def _stamp(self) -> Stamp:
        beat, place = self._beat, self._place
        return Stamp(
            "agent", place.session, place.slot, beat.index, beat.purpose, beat.planned_prompt_tok, beat.output_tok,
            self._branch,
        )  # fmt: skip

    def _send(self) -> None:
        self._phase, self._due_s = "model", self._now_s
        self.turn = self._beat.index
        request = self._stage.request(self._beat, self._place.salt, self._reply)
        if isinstance(request, str):
            self._stage.log.refuse(self._stamp(), self._now_s, request)
            self._begun()
            self._finish("failed", f"context_overflow: {request}")
            return
        request.began = self._begun
        self._sent = request
        self._stage.agenda.at(self._stage.requests.pass_s(self._now_s), self._hand_over, request)

    def _hand_over(self, request: Sent) -> None:
        if self._sent is not request:
            return  # cancelled while it waited for its turn
        self.wall.client_s += self._now_s - self._due_s
        self._stage.replica.send(request)

    def _reply(self, request: Sent) -> None:
        self._sent = None
        self._stage.log.reply(self._stamp(), request, self._due_s, self._now_s)
        self.wall.model_s += self._now_s - request.sent_s
        self._enter("tool", sum(call.recorded_s for call in self._beat.calls), self._end_tools)
        if self._stage.stopping:
            self._end_tools()

    def _end_tools(self, pause: int | None = None) -> None:
        """All calls of a turn are over; when the run's end cut them short, the rest answered at once."""
        if pause is not None and (pause != self._pause or self._phase != "tool"):
            return
        at_s, now_s, place = self._since_s, self._now_s, self._place
        for number, call in enumerate(self._beat.calls):
            start_s, at_s = min(at_s, now_s), min(at_s + call.recorded_s, now_s)
            self._stage.log.tool(
                ToolRun(
                    place.session, place.slot, self._beat.index, number, call.tool, start_s, start_s, start_s, at_s,
                    call.recorded_s, call.result_chars, None, True, branch=self._branch,
                )
            )  # fmt: skip
            self.tally.tool_calls += 1
            self.tally.edits += call.edits
        self.wall.tool_pace_s += now_s - self._since_s
        self._spawn()

    def _spawn(self) -> None:
        """Sub-agents all at once; the next turn waits for the last of them."""
        self._since_s = self._now_s
        chosen = [i for i in self._beat.spawns if self._script.branches[i]] if not self._stage.stopping else []
        if not chosen:
            self.turn = self._beat.index + 1
            self._next()
            return
        self._phase = "agents"
        self._agents = [
            Talk(self._stage, self._place, self._script, self._script.branches[i], 1 + i, self._agent_done, _nothing)
            for i in chosen
        ]
        for agent in list(self._agents):
            agent.begin()

    def _agent_done(self, _outcome: str, _error: str) -> None:
        for agent in self._agents:
            if agent._phase != "done":
                return
        self.tally.tool_calls += sum(agent.tally.tool_calls for agent in self._agents)
        self._agents = []
        self.wall.subagent_s += self._now_s - self._since_s
        if self._phase == "agents":
            self.turn = self._beat.index + 1
            self._next()


def _nothing() -> None:
    return None
