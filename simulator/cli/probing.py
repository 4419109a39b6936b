"""Probes of one scenario at different loads, in one life of the engine: each a run folder of its own, plans shared,
caches dropped in between; what an earlier search left is read instead of measured again.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from rich.console import Console

from simulator.cli.closing import closing
from simulator.cli.conduct import Conductor, signals_kept
from simulator.cli.live import sandboxed
from simulator.cli.procs import choose
from simulator.cli.report import current, write_report
from simulator.cli.run import Options, planned, run_manifest
from simulator.cli.same_engine import differences, named, provable
from simulator.cli.screen import PlanningScreen
from simulator.cli.target import Opened
from simulator.core.arrival import session_times
from simulator.core.scenario import Scenario, scenario_hash
from simulator.errors import UsageError
from simulator.store.folder import Run, RunFolder
from simulator.tasks.breadth import shared

if TYPE_CHECKING:
    from simulator.cli.planning import Planning

PROBES = "probes"
#: keys of the identity of an engine that was started for the search
OWN_MARKS = {"params_sha256", "config_sha256"}
#: a probe that ended so has said what it could; others are tried again
WHOLE = ("", "time limit")


@dataclass(frozen=True, slots=True)
class Loads:
    """The scenario at a load: as many agents, or sessions a second when `rate`. base is checked by `loads`. capped:
    the scenario states the places of its open loop; else there is one for each arrival."""

    base: Scenario
    rate: bool
    capped: bool

    def at(self, point: float) -> Scenario:
        if not self.rate:
            return Scenario.model_validate(self.base.model_dump() | {"sessions": int(point)})
        arrival = {**self.base.arrival.model_dump(), "sessions_per_s": point}
        found = Scenario.model_validate(self.base.model_dump() | {"arrival": arrival})
        return found if self.capped else found.model_copy(update={"sessions": len(session_times(found))})

    def slots(self, point: float) -> int:
        """How many slots' sessions have to be planned for it."""
        return len(session_times(self.at(point))) if self.rate else int(point)

    def planned_as(self, point: float) -> Scenario:
        """Closed loops draw from the largest scenario there can be, so that a larger load contains a smaller one."""
        return self.at(point) if self.rate else shared(self.at(point))


def loads(scenario: Scenario, *, rate: bool, window_s: float | None) -> Loads:
    """The scenario as it is probed: agents alone, refilled, for a window. UsageError when it cannot be."""
    if not scenario.sessions:
        raise UsageError(
            f"{scenario.name} has no agents: give it `sessions`, or tune on `sim run` for synthetic traffic"
        )
    window = window_s or scenario.window_s
    if window is None:
        raise UsageError(f"{scenario.name} has no `window_s`: say with --window how many seconds a probe measures")
    if not 0 < window < float("inf"):
        raise UsageError(f"--window {window:g}: give the seconds that a probe measures")
    change: dict[str, Any] = {"synthetic": None, "window_s": window, "refill": True}
    arrival = scenario.arrival
    if rate and arrival.kind == "trace":
        raise UsageError("--rate needs arrivals by rate; a trace has its own: use `kind: poisson` or `kind: constant`")
    if rate and not arrival.open:
        change |= {"arrival": {"kind": "poisson", "sessions_per_s": 1.0}}
    if not rate and arrival.open:
        raise UsageError(f"{scenario.name} is an open loop, whose load is a rate: give --rate, or another scenario")
    return Loads(Scenario.model_validate(scenario.model_dump() | change), rate, capped=arrival.open)


class Prober:
    """say: told what goes on, one phrase. console: what lasts, line by line."""

    def __init__(
        self, loads: Loads, opened: Opened, options: Options, text: str, out: Path, say: Callable[[str], None],
        console: Console,
    ) -> None:  # fmt: skip
        self._loads, self._opened, self._options, self._text = loads, opened, options, text
        self._tries = 0
        self._target = target = opened.target
        self._folder, self._say, self._console = out / PROBES, say, console
        self._own_engine = bool(OWN_MARKS & target.identity.keys()) or bool(target.identity.get("virtual"))
        engine = run_manifest(options, loads.base, text, target)["engine"]
        self._engine: Mapping[str, Any] = orjson.loads(orjson.dumps(engine))  # as a manifest gives it back
        self.foreign = 0

    @property
    def provable(self) -> bool:
        """Whether the engine tells enough to know the probes of `known` for its own."""
        return provable(self._engine, own=self._own_engine)

    def known(self) -> list[tuple[float, Path, Mapping[str, Any]]]:
        """(load, folder, summary) of the probes that are there already, in the order in which they were made.
        UsageError when some are of another engine, or of the same under another label: they answer another question."""
        found: list[tuple[float, float, Path, Mapping[str, Any]]] = []
        for path in sorted(self._folder.glob("*")) if self._folder.is_dir() else ():
            try:
                run = RunFolder.open(path)
            except UsageError:
                continue
            point = self._mine(run)
            if point is None:
                self.foreign += run.ended
            elif run.summary is not None and run.ended and run.manifest.get("stopped") in WHOLE:
                found.append((float(run.manifest.get("t0_unix_s", 0.0)), point, path, current(run)))
        return [(point, path, summary) for _, point, path, summary in sorted(found, key=lambda each: each[0])]

    def _mine(self, run: Run) -> float | None:
        """The load that a run folder is a probe of; None when it belongs to another scenario. UsageError when to
        another engine."""
        stated, engine = run.manifest.get("probe"), run.manifest.get("engine")
        point = stated.get("point") if isinstance(stated, dict) else None
        if not isinstance(point, int | float) or not isinstance(engine, dict):
            return None
        if run.ended:
            self._same_engine(engine, str(run.manifest.get("label", "")), run.path)
        try:
            wanted = scenario_hash(self._loads.at(float(point)))
        except (ValueError, OverflowError, UsageError):  # a load that this scenario cannot have
            return None
        return float(point) if run.manifest.get("scenario_hash") == wanted else None

    def _same_engine(self, then: Mapping[str, Any], label: str, path: Path) -> None:
        found = differences(then, self._engine, own=self._own_engine)
        if label != self._options.label:
            found = [f"label `{label}` then, `{self._options.label}` now", *found]
        if found:
            raise UsageError(
                f"{path} is a probe of another engine ({named(found)}); its answer is not this engine's: "
                "give another --out"
            )

    async def run(self, point: float) -> tuple[Path, str, Mapping[str, Any]]:
        """(folder, how it was stopped, summary) of a new probe."""
        gc.unfreeze()  # what the last probe kept from the collector
        path = self._fresh(point)
        planning = await self._plans(point)
        try:
            self._say("measuring")
            stopped = await self._measure(point, planning, path)
        finally:
            await asyncio.to_thread(planning.close)
        write_report(path, show=False)
        return path, stopped, RunFolder.open(path).summary or {}

    async def _measure(self, point: float, planning: Planning, path: Path) -> str:
        """How it was stopped."""
        scenario = self._loads.at(point)
        procs = choose(scenario, self._options.procs, embedded=self._own_engine)
        client = {"processes": procs.count, "why": procs.why}
        with signals_kept() as kept:
            await asyncio.sleep(0)  # a Ctrl-C just before is heard here, where nothing has begun
            writer = RunFolder.create(path, {**self._manifest(point), "client": client})
            try:
                conductor = Conductor(
                    scenario, self._target, planning, writer, keep=False, procs=procs.count,
                    sandboxed=sandboxed(scenario), lives=self._opened.lives, kept=kept,
                )  # fmt: skip
                ending = await conductor.run()
                writer.finish(await closing(ending, self._opened))
            finally:
                writer.finish({"stopped": "failed"})
        return ending.stopped

    def _fresh(self, point: float) -> Path:
        name = f"{point:.4g}" if self._loads.rate else f"{point:04.0f}"
        number = 1
        while (self._folder / f"{name}-{number}").exists():
            number += 1
        return self._folder / f"{name}-{number}"

    def _slots(self, point: float) -> int:
        return self._loads.slots(point)

    async def _plans(self, point: float) -> Planning:
        """All of them, before anything is sent: planning never takes part of the machine from a probe."""
        self._say("planning sessions")
        emulated = self._target.kind == "emulated"
        with PlanningScreen(plain=True, emulated=emulated, console=self._console) as screen:
            return await self._planned(point, screen.progress)

    async def _planned(self, point: float, progress: Callable[[int, int], None]) -> Planning:
        from simulator.cli.planning import Planning  # pulls in document libraries

        loads = self._loads
        return await planned(
            lambda: Planning(loads.planned_as(point), self._target.model, progress, self._slots(point)),
            lambda planning: planning.wait(),
            "interrupted while planning",
        )

    def _manifest(self, point: float) -> dict[str, Any]:
        scenario = self._loads.at(point)
        made = run_manifest(self._options, scenario, self._text, self._target)
        if self._tries:  # the command was given before the first one alone
            del made["asked_unix_s"]
        self._tries += 1
        return {**made, "probe": {"point": point, "rate": self._loads.rate}}
