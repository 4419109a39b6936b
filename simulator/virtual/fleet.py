"""Shards, here or in processes of their own, told the same thing at once."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from simulator.core.scenario import Scenario
from simulator.engine.embedded.config import EngineParams
from simulator.errors import SimError
from simulator.virtual.children import ignore, unheard
from simulator.virtual.script import Script
from simulator.virtual.shard import Shard, Share


class Fleet:
    """`replicas` engines over `processes` of them, the first here. watch(now_s): see Shard; asked here only."""

    def __init__(
        self, scenario: Scenario, params: EngineParams, scripts: Sequence[Sequence[Script]], *, replicas: int,
        processes: int, watch: Callable[[float], bool], spool: Path | None = None,
    ) -> None:  # fmt: skip
        self._pipes: list[Connection] = []
        self._workers: list[multiprocessing.process.BaseProcess] = []
        context = multiprocessing.get_context("spawn")
        self._stop: Event | None = context.Event() if processes > 1 else None
        for first in range(1, processes):
            ours, theirs = context.Pipe()
            task = (scenario, params, scripts, Share(first, processes, replicas), spool)
            worker = context.Process(target=_serve, args=(theirs, self._stop, task), daemon=True)
            with unheard():
                worker.start()
            theirs.close()
            self._pipes.append(ours)
            self._workers.append(worker)
        self._here = Shard(scenario, params, scripts, Share(0, processes, replicas), self._watched(watch), spool)

    def _watched(self, watch: Callable[[float], bool]) -> Callable[[float], bool]:
        def asked(now_s: float) -> bool:
            over = watch(now_s)
            if over and self._stop is not None:
                self._stop.set()
            return over

        return asked

    @property
    def interrupted(self) -> bool:
        return self._here.interrupted

    def tell(self, what: str, *arguments: float) -> list[Any]:
        """Calls a method of every shard; their answers in order."""
        for pipe in self._pipes:
            pipe.send((what, arguments))
        answers = [getattr(self._here, what)(*arguments)]
        for pipe in self._pipes:
            try:
                answer = pipe.recv()
            except EOFError:
                raise SimError(
                    "a process of the simulation died; see the system's log for memory, and run again"
                ) from None
            if isinstance(answer, BaseException):
                raise answer
            answers.append(answer)
        return answers

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for worker in self._workers:
            worker.kill()
            worker.join()


def _serve(
    pipe: Connection, stop: Event, task: tuple[Scenario, EngineParams, Sequence[Sequence[Script]], Share, Path | None]
) -> None:
    ignore(signal.SIGTERM, signal.SIGHUP)  # they are for the parent, which then says so
    try:
        scenario, params, scripts, share, spool = task
        shard = Shard(scenario, params, scripts, share, lambda _now_s: stop.is_set(), spool)
        while True:
            what, arguments = pipe.recv()
            pipe.send(getattr(shard, what)(*arguments))
    except EOFError:
        return
    except Exception as error:
        pipe.send(error)
