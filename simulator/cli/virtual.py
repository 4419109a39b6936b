"""`sim run --virtual`: the scenario on the embedded engine's scheduler in virtual time, into an ordinary run folder."""

from __future__ import annotations

import hashlib
import os
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path
from typing import Any

from rich.console import Console

from simulator.cli.absent import sentences
from simulator.cli.report import write_report
from simulator.cli.screen import PlanningScreen
from simulator.cli.scripts import planned, scripts
from simulator.cli.target import Target
from simulator.core.scenario import Scenario
from simulator.engine.embedded.config import DEFAULT_PARAMS, EngineParams, load_params
from simulator.errors import Interrupted
from simulator.store.folder import RunFolder, RunWriter
from simulator.virtual.folder import write
from simulator.virtual.script import Script
from simulator.virtual.simulate import check, simulate

EVERY_S = 3.0
#: how long a simulation may go on after a signal; it looks many times a second unless something is amiss
PATIENCE_S = 10.0
MARK = "[EMULATED, virtual time]"


def main(
    scenario: Scenario, params_path: Path | None, replicas: int, out: Path, *, plain: bool,
    manifest: Callable[[Target], dict[str, Any]],
) -> int:  # fmt: skip
    """The exit code. `out` is an empty folder; manifest(target): what the run's manifest says of it."""
    params = load_params(params_path or DEFAULT_PARAMS)
    check(scenario, params, replicas)
    played, facts = prepare(scenario, params, plain=plain)
    writer = RunFolder.create(out, manifest(target_of(params_path, scenario, replicas)) | facts)
    progress = Progress(plain=plain)
    ending = play(scenario, params, played, replicas, writer, progress)
    say("folding the records")
    written = write_report(out, show=True)
    print(f"report: {out / 'report.md'}; with charts: sim report {shlex.quote(str(out))} --html")
    return 130 if ending["stopped"] == "interrupted" else 3 if written.summary["unanswered"] else 0


def say(what: str) -> None:
    """What goes on beside simulating, on standard error."""
    sys.stderr.write(f"{MARK} {what}\n")


def play(
    scenario: Scenario, params: EngineParams, played: list[list[Script]], replicas: int, writer: RunWriter,
    progress: Callable[[float], object],
) -> Mapping[str, Any]:  # fmt: skip
    """Simulates, writes the run folder to its end and returns what its manifest says of the ending. Ctrl-C is ours
    meanwhile."""
    ending: Mapping[str, Any] = {"stopped": "failed"}
    try:
        with tempfile.TemporaryDirectory(prefix=".spool-", dir=writer.path) as spool, interruptible() as asked:
            result = simulate(
                scenario, params, played, replicas=replicas, processes=os.cpu_count() or 1,
                watch=lambda now_s: bool(progress(now_s)) or asked(), spool=Path(spool),
            )  # fmt: skip
            asked.over()
            if isinstance(progress, Progress):
                progress.done(result.end_s)
            say("writing records")
            write(result, writer)
        loads = result.log.loads.values()
        answered, failed = (sum(map(len, each)) for each in ([x.ok_s for x in loads], [x.failed_s for x in loads]))
        writer.amend({"reused_sessions": result.reused})
        ending = _ending(result.stopped, result.ran_dry, answered, failed)
    except Interrupted:
        ending = {"stopped": "interrupted"}
        raise
    finally:
        writer.finish(ending)
    return ending


def prepare(scenario: Scenario, params: EngineParams, *, plain: bool) -> tuple[list[list[Script]], dict[str, Any]]:
    """Scripts by slot, and what a manifest says of them."""
    if not scenario.sessions:
        return [], {}
    for line in sentences(scenario):
        say(line)
    with PlanningScreen(plain=plain, emulated=True) as screen:
        folder = planned(scenario, params.model, screen.progress)
    say(f"loading {len(folder.sessions)} plans")
    played = scripts(folder, scenario.sessions, params.block_size)
    said = {
        "scripts": sum(map(len, played)),
        "tools": "not carried out: each call answers after its recorded latency",
        "reuse": "sessions past the planned ones play a planned script of their kind again, as sessions of their own: "
        "names and blocks differ, except blocks that stand in several plans, such as the system prompt's",
    }
    return played, {"plan_hash": folder.hash, "planned_sessions": len(folder.sessions), "virtual": said}


def target_of(params_path: Path | None, scenario: Scenario, replicas: int) -> Target:
    """The engine of a simulated run: settings of the emulated one, the default ones without a path."""
    path = params_path or DEFAULT_PARAMS
    params = load_params(path)
    identity = {
        "virtual": True,
        "replicas": replicas,
        "params": path.name,
        "hardware": params.hardware.name,
        "resolved_sha256": hashlib.sha256(params.model_dump_json().encode()).hexdigest(),  # hardware file and all
        "seed": scenario.seed,
        "settings": params.model_dump(exclude={"hardware", "reply"}, exclude_none=True),
    }
    return Target("virtual", params.model, "", "emulated", identity, scenario.request_timeout_s)


def _ending(stopped: str, ran_dry: int, answered: int, failed: int) -> Mapping[str, Any]:
    return {"stopped": stopped, "caches_reset": True, "ran_dry": ran_dry, "answered": answered, "failed": failed}


class Interruption:
    """Whether somebody wants the simulation to end. It is asked now and then; should it not be for patience_s after
    the signal (a step that takes very long, a machine without memory), Interrupted is raised wherever it is."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._wanted = self._over = False

    def __call__(self) -> bool:
        if self._wanted:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return self._wanted

    def over(self) -> None:
        """The simulation has ended; what follows is only written."""
        self._over = True
        signal.setitimer(signal.ITIMER_REAL, 0)

    def hear(self, _number: int, _frame: object) -> None:
        if self._wanted:
            for worker in active_children():
                worker.kill()
            os._exit(130)
        self._wanted = True
        if not self._over:
            signal.setitimer(signal.ITIMER_REAL, self._patience_s)

    def give_up(self, _number: int, _frame: object) -> None:
        raise Interrupted(f"interrupted; the simulation was not heard of for {self._patience_s:g} s and was broken off")


@contextmanager
def interruptible(patience_s: float = PATIENCE_S) -> Iterator[Interruption]:
    """Until the end of the block, Ctrl-C and a kind kill make what is given answer true; a second one ends at once."""
    asked = Interruption(patience_s)
    heard = dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), asked.hear)
    before = {name: signal.signal(name, each) for name, each in (heard | {signal.SIGALRM: asked.give_up}).items()}
    try:
        yield asked
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for name, handler in before.items():
            signal.signal(name, handler)


class Progress:
    """How far the clock is, on standard error: one line that is written over on a terminal, else one now and then."""

    def __init__(self, *, plain: bool) -> None:
        self._console = Console(stderr=True)
        self._drawn = not plain and self._console.is_terminal
        self._began_s = self._said_s = time.monotonic()

    def __call__(self, now_s: float) -> bool:
        if time.monotonic() - self._said_s > (0.2 if self._drawn else EVERY_S):
            self._said_s = time.monotonic()
            self._say(now_s, "\r" if self._drawn else "\n")
        return False

    def done(self, now_s: float) -> None:
        self._say(now_s, "\n")

    def _say(self, now_s: float, end: str) -> None:
        took_s = time.monotonic() - self._began_s
        sys.stderr.write(f"{MARK} {now_s:,.0f} s simulated in {took_s:.1f} s{end}")
        sys.stderr.flush()
