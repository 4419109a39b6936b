"""Some of a run's engines with the slots that they serve. Engines know nothing of each other, so a run may be dealt
out over processes; only the measured window joins them: it opens when the last slot of all has its first output.

Within a process each engine has a clock of its own, too, and is played a few simulated seconds at a time: its state
then stays in the processor's cache, and its queue of moments short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.core.scenario import Scenario
from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.replies import Replies
from simulator.virtual.agenda import Agenda
from simulator.virtual.agents import Agents
from simulator.virtual.fixed import Fixed
from simulator.virtual.library import Library
from simulator.virtual.log import Log
from simulator.virtual.replica import Replica
from simulator.virtual.sampling import SAMPLE_S, Samples, sample
from simulator.virtual.script import Script
from simulator.virtual.spool import Spool
from simulator.virtual.stage import Stage, Turnstile

#: simulated seconds that an engine is played before the next one's turn
TURN_S = 5.0


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


class _Engine:
    """One engine with its clock and its slots."""

    def __init__(self, stage: Stage, agents: Agents) -> None:
        self.stage, self.agents = stage, agents
        self.agenda = stage.agenda
        self.fixed: Fixed | None = None

    @property
    def begun(self) -> bool:
        return self.agents.all_begun

    @property
    def agents_over(self) -> bool:
        return self.agents.over

    @property
    def fixed_over(self) -> bool:
        return self.fixed is None or self.fixed.over


class Shard:
    """watch(now_s) is asked now and then; true interrupts the simulation for good. spool: an existing folder for
    records as they end; None holds them in memory."""

    def __init__(
        self, scenario: Scenario, params: EngineParams, scripts: Sequence[Sequence[Script]], share: Share,
        watch: Callable[[float], bool], spool: Path | None = None,
    ) -> None:  # fmt: skip
        self.interrupted = False
        self._scenario, self._share, self._watch = scenario, share, watch
        self._log = Log(spool=None if spool is None else Spool(spool, share.first))
        self._library = Library(scenario, scripts)
        self._samples = Samples(len(share.engines))
        self._engines = [self._engine(params, number) for number in share.engines]

    def _engine(self, params: EngineParams, number: int) -> _Engine:
        scenario, agenda = self._scenario, Agenda()
        stage = Stage(
            agenda=agenda,
            log=self._log,
            replica=Replica(agenda, params, scenario.seed + number),
            requests=Turnstile(_part(scenario.arrival.request_starts_per_s, self._share.replicas)),
            starts=Turnstile(_part(scenario.arrival.session_starts_per_s, self._share.replicas)),
            replies=None if scenario.output.forced else Replies(params.reply, seed=scenario.seed),
        )
        slots = self._share.slots(number, scenario.sessions)
        agents = Agents(stage, self._library, slots, scenario.sessions, scenario.ramp_s)
        agenda.at(0.0, self._sample, stage)
        return _Engine(stage, agents)

    def ramp(self, limit_s: float) -> float:
        """Plays until every slot's first reply has begun; when that was."""
        return self._run(limit_s, lambda engine: not engine.begun)

    def play(self, until_s: float) -> float:
        """Plays on, at most until all sessions are over; when that was."""
        return self._run(until_s, lambda engine: not engine.agents_over)

    def drain(self, end_s: float, until_s: float) -> float:
        """Starts no more requests from end_s on and awaits those in flight; the last are given up."""
        self._run(end_s, lambda _engine: True)
        if not self.interrupted:
            for engine in self._engines:
                engine.agents.stop()
            self._run(until_s, lambda engine: not engine.agents_over)
        for engine in self._engines:
            engine.agents.cancel()
        return self._now_s

    def fixed(self, start_s: float, limit_s: float) -> float:
        """The synthetic traffic, from start_s on; when it was over. Engines beyond the requests at once get none."""
        block = self._scenario.synthetic
        assert block is not None and block.concurrency is not None
        self._run(start_s, lambda _engine: True)
        n = min(self._share.replicas, block.concurrency, block.requests)
        for number, engine in zip(self._share.engines, self._engines, strict=True):
            if block.reset_caches:
                engine.stage.replica.reset()
            engine.fixed = Fixed(
                engine.agenda, self._log, engine.stage.replica, input_tok=block.input_tok, output_tok=block.output_tok,
                requests=_dealt(block.requests, n, number), at_once=_dealt(block.concurrency, n, number),
                first=sum(_dealt(block.requests, n, k) for k in range(min(number, n))),
                place=sum(_dealt(block.concurrency, n, k) for k in range(min(number, n))),
            )  # fmt: skip
        self._run(limit_s, lambda engine: not engine.fixed_over)
        for engine in self._engines:
            if engine.fixed is not None:
                engine.fixed.cancel()
        return self._now_s

    def finish(self, end_s: float) -> Left:
        self._run(end_s, lambda _engine: True)
        self._log.samples = self._samples.whole()
        self._log.samples.append(sample(self._now_s, [engine.stage.replica for engine in self._engines]))
        self._log.close()
        return Left(self._log, sum(engine.agents.dry for engine in self._engines), self._library.reused)

    @property
    def _now_s(self) -> float:
        return max(engine.agenda.now_s for engine in self._engines)

    def _run(self, until_s: float, go_on: Callable[[_Engine], bool]) -> float:
        """Plays each engine as long as go_on(engine) holds, at most up to and including until_s; when the last of them
        ended."""
        left = self._engines
        while left and not self.interrupted:
            turn_s = min(until_s, min(engine.agenda.now_s for engine in left) + TURN_S)
            for engine in left:
                if engine.agenda.now_s <= turn_s and not self._stopped(engine.agenda.now_s):
                    engine.agenda.run(turn_s, lambda engine=engine: go_on(engine), self._stopped)
            left = [engine for engine in left if engine.agenda.now_s < until_s and go_on(engine)]
        return self._now_s

    def _stopped(self, now_s: float) -> bool:
        self.interrupted = self.interrupted or self._watch(now_s)
        return self.interrupted

    def _sample(self, stage: Stage) -> None:
        now_s = stage.agenda.now_s
        self._samples.add(sample(now_s, [stage.replica]))
        stage.agenda.at(now_s + SAMPLE_S, self._sample, stage)


def _part(rate: float | None, parts: int) -> float | None:
    return None if rate is None else rate / parts


def _dealt(whole: int, parts: int, number: int) -> int:
    """What the number-th of `parts` gets of `whole`, dealt out evenly; nothing past the last part."""
    if number >= parts:
        return 0
    return whole // parts + int(number < whole % parts)
