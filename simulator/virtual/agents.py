"""The agents' part: slots that begin along the ramp, play session after session, and stop when the window is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.record import Session
from simulator.virtual.library import Cast, Library
from simulator.virtual.stage import Stage
from simulator.virtual.talk import Place, Talk


@dataclass(slots=True)
class _Life:
    """A session that is being played."""

    cast: Cast
    talk: Talk
    start_s: float
    first_turn: int


class Agents:
    """One engine's slots, of `n_slots` in all. begun_s: when each slot's first reply began."""

    def __init__(self, stage: Stage, library: Library, slots: Sequence[int], n_slots: int, ramp_s: float) -> None:
        self.begun_s: dict[int, float] = {}
        self.dry = 0
        self._stage, self._library = stage, library
        self._lives: dict[int, _Life] = {}
        self._open = len(slots)
        self._played = dict.fromkeys(slots, 0)
        for slot in slots:
            stage.agenda.at(stage.agenda.now_s + ramp_s * slot / max(1, n_slots), self._next, slot)

    @property
    def all_begun(self) -> bool:
        return len(self.begun_s) == len(self._played)

    @property
    def over(self) -> bool:
        """No slot has anything left to play."""
        return not self._open

    def stop(self) -> None:
        """No further request starts."""
        self._stage.stopping = True
        for life in list(self._lives.values()):
            life.talk.stop()

    def cancel(self) -> None:
        """Gives up what is still in flight."""
        self._stage.stopping = True
        for life in list(self._lives.values()):
            life.talk.cancel()

    def _next(self, slot: int) -> None:
        cast = None if self._stage.stopping else self._library.cast(slot, self._played[slot])
        if cast is None:
            self._open -= 1
            self.dry += not self._stage.stopping
            self.begun_s.setdefault(slot, self._stage.agenda.now_s)
            return
        self._played[slot] += 1
        self._stage.agenda.at(self._stage.starts.pass_s(self._stage.agenda.now_s), self._begin, slot, cast)

    def _begin(self, slot: int, cast: Cast) -> None:
        if self._stage.stopping:
            self._next(slot)
            return
        beats = cast.script.turns[cast.start_turn : cast.end_turn]
        place = Place(cast.session, slot, cast.salt)
        talk = Talk(
            self._stage, place, cast.script, beats, 0,
            lambda outcome, error: self._ended(slot, outcome, error), lambda: self._reply_began(slot),
        )  # fmt: skip
        self._lives[slot] = _Life(cast, talk, self._stage.agenda.now_s, cast.start_turn)
        talk.begin()

    def _reply_began(self, slot: int) -> None:
        self.begun_s.setdefault(slot, self._stage.agenda.now_s)

    def _ended(self, slot: int, outcome: str, error: str) -> None:
        life = self._lives.pop(slot)
        self._stage.log.sessions.append(_record(life, slot, outcome, error, self._stage.agenda.now_s))
        self._next(slot)


def _record(life: _Life, slot: int, outcome: str, error: str, now_s: float) -> Session:
    script, wall, tally = life.cast.script, life.talk.wall, life.talk.tally
    return Session(
        session=life.cast.session,
        slot=slot,
        task_template=script.template,
        task_kind=script.kind,
        task_size=script.size,
        task_name=script.name,
        profile=script.profile,
        start_turn=life.first_turn,
        end_turn=life.talk.turn,
        turns=len(script.turns),
        t_start_s=life.start_s,
        t_ready_s=life.start_s,
        t_end_s=now_s,
        setup_s=0.0,
        think_s=wall.think_s,
        model_s=wall.model_s,
        tool_run_s=0.0,
        tool_queue_s=0.0,
        tool_pace_s=wall.tool_pace_s,
        backoff_s=0.0,
        client_s=wall.client_s,
        tool_calls=tally.tool_calls,
        tool_mismatches=0,
        edits=tally.edits,
        commits=0,
        outcome=outcome,
        error=error,
        subagent_s=wall.subagent_s,
    )
