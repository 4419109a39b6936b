"""One engine: front end, scheduler and the step loop, as engine/embedded/runner.py has it, on the agenda's clock."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.frontend import FrontEnd
from simulator.engine.embedded.request import Request, StepPlan
from simulator.engine.embedded.scheduler import Scheduler
from simulator.virtual.agenda import Agenda
from simulator.virtual.overhead import CHUNK_S, REQUEST_S

#: a scheduler that has work but can plan none is asked again after so long
AGAIN_S = 0.001


@dataclass(slots=True, eq=False)
class Sent(Request):
    """A request with what its client notes: when each chunk reached it, how many tokens it had. stop_at_tok: the client
    closes the stream once so many have come; began, ended: called when its first chunk and, with this request, when its
    last one is there; queued: the scheduler has had it."""

    sent_s: float = 0.0
    stop_at_tok: float = math.inf
    began: Callable[[], None] | None = None
    ended: Callable[[Sent], None] | None = None
    queued: bool = False
    times_s: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)


class Replica:
    """finished, aborted: requests so far; answered: those that have had a token; ttft_s: what it took them, in all."""

    def __init__(self, agenda: Agenda, params: EngineParams, seed: int) -> None:
        self.params = params
        self.scheduler = Scheduler(params, seed=seed)
        self.front_end = FrontEnd(params)
        self.finished = self.aborted = self.answered = 0
        self.ttft_s = 0.0
        self._agenda = agenda
        self._stepping = False

    def send(self, request: Sent) -> None:
        """From the client at this moment."""
        request.sent_s = self._agenda.now_s
        self._agenda.at(request.sent_s + REQUEST_S, self._receive, request)

    def abort(self, request: Sent) -> None:
        """The client closed the stream."""
        request.ended = None
        if request.queued and self.scheduler.abort(request):
            self.aborted += 1

    def reset(self) -> bool:
        """Drops the prefix cache; False while anything is in use."""
        return self.scheduler.pool.reset()

    def _receive(self, request: Sent) -> None:
        request.arrival_s = self.front_end.arrive(self._agenda.now_s, request.prompt_tok)
        self._agenda.at(request.arrival_s, self._arrive, request)

    def _arrive(self, request: Sent) -> None:
        if request.ended is None:
            return  # closed before it got here
        request.queued = True
        self.scheduler.add(request)
        if not self._stepping:
            self._step()

    def _step(self) -> None:
        self._stepping = self.scheduler.has_work
        if not self._stepping:
            return
        now_s = self._agenda.now_s
        plan = self.scheduler.step(now_s)
        if plan is None:
            self._agenda.at(now_s + AGAIN_S, self._step)
        else:
            self._agenda.at(plan.end_s, self._complete, plan)

    def _complete(self, plan: StepPlan) -> None:
        emissions: list[Any] = self.scheduler.complete(plan)
        out_s = self.front_end.emit_step(plan.end_s, emissions) + CHUNK_S
        for request, new in emissions:
            if not request.times_s:
                self.answered += 1
                self.ttft_s += out_s - CHUNK_S - request.sent_s - REQUEST_S
                if request.began is not None:
                    self._agenda.at(out_s, request.began)
            request.times_s.append(out_s)
            request.tokens.append(new)
            emitted = request.emitted_tok
            if emitted == request.reply_tok:
                self.finished += 1
                self._agenda.at(out_s, _end, request)
            elif emitted >= request.stop_at_tok:
                request.stop_at_tok = math.inf
                self._agenda.at(out_s, self._stop, request)
        self._step()

    def _stop(self, request: Sent) -> None:
        """The client has what it wanted; what was on its way then is not read."""
        ended = request.ended
        if ended is None:
            return
        self.abort(request)
        while request.times_s[-1] > self._agenda.now_s:
            request.times_s.pop()
            request.tokens.pop()
        ended(request)


def _end(request: Sent) -> None:
    if request.ended is not None:
        request.ended(request)
