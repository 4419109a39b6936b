"""Some of a run's engines with the slots that they serve. Engines know nothing of each other, so a run may be dealt
out over processes; only the measured window joins them: it opens when the last slot of all has been answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simulator.core.scenario import Scenario
from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.replies import Replies
from simulator.virtual.agenda import Agenda
from simulator.virtual.agents import Agents
from simulator.virtual.fixed import Fixed
from simulator.virtual.library import Library
from simulator.virtual.log import Log
from simulator.virtual.replica import Replica
from simulator.virtual.sampling import SAMPLE_S, sample
from simulator.virtual.script import Script
from simulator.virtual.stage import Stage, Turnstile


@dataclass(frozen=True, slots=True)
class Share:
    """Engines [first], [first + every], ... of `replicas`; a slot belongs to the engine of its number modulo them."""

    first: int
    every: int
    replicas: int

    @property
    def engines(self) -> range:
        return range(self.first, self.replicas, self.every)

    def slots(self, engine: int, sessions: int) -> range:
        return range(engine, sessions, self.replicas)


@dataclass(frozen=True, slots=True)
class Left:
    """What a shard hands over. dry: slots without a session left in the window."""

    log: Log
    dry: int
    reused: int


class Shard:
    """watch(now_s) is asked now and then; true interrupts the simulation for good."""

    def __init__(
        self, scenario: Scenario, params: EngineParams, scripts: Sequence[Sequence[Script]], share: Share,
        watch: Callable[[float], bool],
    ) -> None:  # fmt: skip
        self.interrupted = False
        self._scenario, self._share, self._watch = scenario, share, watch
        self._agenda, self._log = Agenda(), Log()
        self._library = Library(scenario, scripts)
        self._stages = {engine: self._stage(params, engine) for engine in share.engines}
        self._agents = [
            Agents(stage, self._library, share.slots(engine, scenario.sessions), scenario.sessions, scenario.ramp_s)
            for engine, stage in self._stages.items()
        ]
        self._fixed: list[Fixed] = []
        self._agenda.at(0.0, self._sample)

    def _stage(self, params: EngineParams, engine: int) -> Stage:
        scenario = self._scenario
        return Stage(
            agenda=self._agenda,
            log=self._log,
            replica=Replica(self._agenda, params, scenario.seed + engine),
            requests=Turnstile(_part(scenario.arrival.request_starts_per_s, self._share.replicas)),
            starts=Turnstile(_part(scenario.arrival.session_starts_per_s, self._share.replicas)),
            replies=None if scenario.output.forced else Replies(params.reply, seed=scenario.seed),
        )

    def ramp(self, limit_s: float) -> float:
        """Plays until every slot's first request has been answered; when that was."""
        self._run(limit_s, lambda: not all(each.all_answered for each in self._agents))
        return self._agenda.now_s

    def play(self, until_s: float) -> float:
        """Plays on, at most until all sessions are over; when that was."""
        self._run(until_s, lambda: not all(each.over for each in self._agents))
        return self._agenda.now_s

    def drain(self, end_s: float, until_s: float) -> float:
        """Starts no more requests from end_s on and awaits those in flight; the last are given up."""
        if not self.interrupted:
            self._run(end_s, lambda: True)
            for agents in self._agents:
                agents.stop()
            self._run(until_s, lambda: not all(each.over for each in self._agents))
        for agents in self._agents:
            agents.cancel()
        return self._agenda.now_s

    def fixed(self, start_s: float, limit_s: float) -> float:
        """The synthetic traffic, from start_s on; when it was over."""
        block = self._scenario.synthetic
        assert block is not None and block.concurrency is not None
        self._run(start_s, lambda: True)
        n = self._share.replicas
        for engine, stage in self._stages.items():
            if block.reset_caches:
                stage.replica.reset()
            self._fixed.append(
                Fixed(
                    self._agenda, self._log, stage.replica, input_tok=block.input_tok, output_tok=block.output_tok,
                    requests=_dealt(block.requests, n, engine), at_once=_dealt(block.concurrency, n, engine),
                    first=sum(_dealt(block.requests, n, k) for k in range(engine)),
                    place=sum(_dealt(block.concurrency, n, k) for k in range(engine)),
                )
            )  # fmt: skip
        self._run(limit_s, lambda: not all(each.over for each in self._fixed))
        for each in self._fixed:
            each.cancel()
        return self._agenda.now_s

    def finish(self, end_s: float) -> Left:
        self._run(end_s, lambda: True)
        self._note()
        return Left(self._log, sum(each.dry for each in self._agents), self._library.reused)

    def _run(self, until_s: float, go_on: Callable[[], bool]) -> None:
        if not self.interrupted:
            self._agenda.run(until_s, go_on, self._stopped)

    def _stopped(self) -> bool:
        self.interrupted = self.interrupted or self._watch(self._agenda.now_s)
        return self.interrupted

    def _sample(self) -> None:
        self._note()
        self._agenda.at(self._agenda.now_s + SAMPLE_S, self._sample)

    def _note(self) -> None:
        self._log.samples.append(sample(self._agenda.now_s, [stage.replica for stage in self._stages.values()]))


def _part(rate: float | None, parts: int) -> float | None:
    return None if rate is None else rate / parts


def _dealt(whole: int, parts: int, number: int) -> int:
    """What the number-th of `parts` gets of `whole`, dealt out evenly."""
    return whole // parts + int(number < whole % parts)
