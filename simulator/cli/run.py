"""`sim run`: reads the scenario, starts what is needed, plans, and hands over to the conductor."""

from __future__ import annotations

import asyncio
import difflib
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop

from simulator.cli.absent import absent, sentences
from simulator.cli.arrivals import with_traces
from simulator.cli.closing import closing
from simulator.cli.conduct import CLIENT_LOST, ENGINE_GONE, SIGNALS, Conductor, Ending, signals_kept
from simulator.cli.describe import host, versions
from simulator.cli.live import replay_only, sandboxed
from simulator.cli.oracle import engine_told, without_solution
from simulator.cli.oracle_told import fillers
from simulator.cli.procs import Procs, choose
from simulator.cli.report import ENGINE_CHANGED, write_report
from simulator.cli.same_engine import named
from simulator.cli.screen import PlanningScreen, Screen
from simulator.cli.target import EMBEDDED, Opened, Target, check_engine, check_oracle, mask_url, open_target
from simulator.core.scenario import Scenario, scenario_hash
from simulator.core.scenario_file import parse
from simulator.errors import ClientLost, EngineError, Interrupted, SimError, UsageError
from simulator.store.folder import RunFolder
from simulator.store.manifest import ENGINE_FILES, ENGINE_LOG, MANIFEST
from simulator.tokenizer import NAME as TOKENIZER
from simulator.virtual.playable import closed_loops

if TYPE_CHECKING:
    from simulator.cli.planning import Planning
    from simulator.store.plans import PlannedSession

RUNS = Path("reports/runs")


@dataclass(frozen=True, slots=True)
class Virtual:
    """Virtual time instead of an engine: settings of the emulated one (None, the default ones), how many of it."""

    params: Path | None
    replicas: int


@dataclass(frozen=True, slots=True)
class Options:
    scenario: Path
    endpoint: str | None = None
    model: str | None = None
    engine: str | None = None
    out: Path | None = None
    seed: int | None = None
    label: str = ""
    plain: bool = False
    keep: bool = False
    overrides: tuple[str, ...] = ()
    virtual: Virtual | None = None
    faults: Path | None = None
    procs: int | None = None
    settings: Path | None = None
    allow_unsandboxed: bool = False
    oracle: str | None = None
    #: Unix seconds: planning lies between this and the run's own clock
    asked_unix_s: float = field(default_factory=time.time)


def main(options: Options) -> int:
    """The exit code. Raises SimError before anything was measured."""
    text = read_scenario(options.scenario)
    scenario = with_traces(parse(text, str(options.scenario), options.overrides), options.scenario)
    scenario = with_options(scenario, options)
    inside = sandboxed(scenario, allow_unsandboxed=options.allow_unsandboxed)
    own_engine = options.endpoint is None and (scenario.endpoint is None or options.engine is not None)
    procs = choose(scenario, options.procs, embedded=own_engine)
    out = options.out or fresh_folder(scenario.name)
    try:
        out.mkdir(parents=True, exist_ok=True)  # before anything takes time
        if any(path.name not in ENGINE_FILES for path in out.iterdir()):
            raise UsageError(f"{out} is not empty; give --out a new folder, old runs are never overwritten")
        for name in ENGINE_FILES:
            (out / name).unlink(missing_ok=True)  # all that a failed start leaves
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}; give a new folder") from None
    try:
        if options.virtual is not None:
            return _simulated(options, options.virtual, scenario, text, out)
        return uvloop.run(_run(options, scenario, text, out, procs, inside=inside))
    finally:
        with suppress(OSError):
            out.rmdir()  # only when nothing was written


def _simulated(options: Options, virtual: Virtual, scenario: Scenario, text: str, out: Path) -> int:
    from simulator.cli.virtual import main as run_virtual

    return run_virtual(
        scenario, virtual.params, virtual.replicas, out, plain=options.plain,
        manifest=lambda target: run_manifest(options, scenario, text, target),
    )  # fmt: skip


async def _run(options: Options, scenario: Scenario, text: str, out: Path, procs: Procs, *, inside: bool) -> int:
    log = out / ENGINE_LOG
    try:
        opened, ending = await _measure(options, scenario, text, out, log, procs, inside=inside)
    except ClientLost:
        with suppress(SimError, OSError):  # what comes first is what is told
            write_report(out, show=False)
        raise
    except BaseException as error:
        failed_start = isinstance(error, EngineError) and options.engine not in (None, EMBEDDED)
        if not failed_start and not (out / MANIFEST).exists():
            for name in ENGINE_FILES:
                (out / name).unlink(missing_ok=True)
        raise
    written = write_report(out, show=True)
    print(f"report: {out / 'report.md'}; with charts: sim report {shlex.quote(str(out))} --html")
    if ending.stopped == ENGINE_GONE or opened.death():
        raise EngineError(f"{opened.gone()}; {out} holds what came before")
    if changed := RunFolder.open(out).manifest.get(ENGINE_CHANGED):
        raise EngineError(f"the engine is not the one that was started ({named(changed)}); {out} is marked so")
    return ending.exit_code or (EngineError.exit_code if written.summary["unanswered"] else 0)


async def _measure(
    options: Options, scenario: Scenario, text: str, out: Path, log: Path, procs: Procs, *, inside: bool
) -> tuple[Opened, Ending]:
    asked = options.endpoint, options.model, options.engine
    given = options.faults, options.settings, options.oracle or ""
    async with open_target(scenario, *asked, log, *given) as opened:
        target = opened.target
        print(procs, *sentences(scenario), sep="\n", flush=True)
        planning = await _planning(scenario, target, options.plain) if scenario.sessions else None
        rows = planning.folder.sessions if planning is not None else ()
        if unknown := without_solution(target, rows):
            print(fillers(unknown, len(rows)), flush=True)
        try:
            with signals_kept() as kept:
                await asyncio.sleep(0)  # a Ctrl-C just before is heard here, where nothing has begun
                ending = await _conducted(options, scenario, text, out, opened, planning, procs, kept, inside=inside)
        finally:
            if planning is not None:
                await asyncio.to_thread(planning.close)
        return opened, ending


async def _conducted(
    options: Options, scenario: Scenario, text: str, out: Path, opened: Opened, planning: Planning | None,
    procs: Procs, kept: asyncio.Event, *, inside: bool,
) -> Ending:  # fmt: skip
    rows = planning.folder.sessions if planning is not None else ()
    client = {"processes": procs.count, "why": procs.why}
    writer = RunFolder.create(out, {**run_manifest(options, scenario, text, opened.target, rows), "client": client})
    conductor = Conductor(
        scenario, opened.target, planning, writer, keep=options.keep, procs=procs.count, sandboxed=inside,
        lives=opened.lives, kept=kept,
    )  # fmt: skip
    try:
        async with Screen(out, plain=options.plain, stopping=lambda: bool(conductor.ending.stopped)):
            ending = await conductor.run()
            writer.finish(await closing(ending, opened))
    except BaseException as error:
        with suppress(SimError, OSError):  # what comes first is what is told
            writer.finish({"stopped": _stopped_by(error)})
        if isinstance(error, ClientLost):
            raise ClientLost(f"{error}; {out} holds what came before") from None
        raise
    return ending


def _stopped_by(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
        return "interrupted"
    return CLIENT_LOST if isinstance(error, ClientLost) else "failed"


def read_scenario(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such scenario file{_meant(path)}") from None
    except IsADirectoryError:
        found = sorted(path.glob("*.yaml"))
        hint = f", for example {found[0]}" if found else ""
        raise UsageError(f"{path} is a folder; give a file in it{hint}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as UTF-8 text: {error}") from None


def _meant(path: Path) -> str:
    """A scenario of that name, or of nearly that name, beside it or below scenarios/; else what there is."""
    places = dict.fromkeys((path.parent, Path("scenarios")))
    there = {file.stem: file for place in places for file in sorted(place.glob("*.yaml"), reverse=True)}
    near = difflib.get_close_matches(path.stem, there, n=1)
    if near:
        return f"; did you mean {there[near[0]]}?"
    shipped = sorted(file.name for file in Path("scenarios").glob("*.yaml"))
    return f"; scenarios/ has {', '.join(shipped)}" if shipped else ""


def with_options(scenario: Scenario, options: Options) -> Scenario:
    if options.faults is not None and options.virtual is not None:
        raise UsageError("--faults needs an engine that answers requests; leave out --virtual")
    if options.virtual is not None:
        replay_only(scenario, "--virtual")
        closed_loops(scenario)
    if options.oracle is not None:
        check_oracle(scenario, options.oracle, options.endpoint, options.engine)
    if options.endpoint is not None and not options.endpoint.strip():
        raise UsageError("--endpoint is empty; leave it out for the embedded engine")
    if options.virtual is not None and options.endpoint is not None:
        raise UsageError("--virtual and --endpoint exclude each other: a real engine takes real time")
    if options.virtual is not None and options.procs is not None:
        raise UsageError("--virtual and --procs exclude each other: virtual time has no client processes")
    if options.virtual is not None and options.keep:
        raise UsageError("--virtual and --keep exclude each other: no tool is carried out, so there is no workspace")
    if options.endpoint and options.engine:
        raise UsageError("--endpoint and --engine exclude each other: one engine is measured at a time")
    if options.engine not in (None, EMBEDDED):
        if options.virtual is not None:
            raise UsageError("--virtual and --engine exclude each other; say --engine-params for the emulated engine")
        check_engine(scenario, options.engine, options.settings, options.faults)
    if options.seed is not None:
        if options.seed < 0:
            raise UsageError(f"--seed {options.seed}: a seed is 0 or above")
        scenario = scenario.model_copy(update={"seed": options.seed})
    return scenario


def fresh_folder(name: str) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = RUNS / f"{stamp}-{name}"
    number = 1
    while path.exists():
        number += 1
        path = RUNS / f"{stamp}-{name}-{number}"
    return path


async def _planning(scenario: Scenario, target: Target, plain: bool) -> Planning:
    """Returns as soon as every slot has its first session."""
    from simulator.cli.planning import Planning  # pulls in document libraries that synthetic traffic does not need

    with PlanningScreen(plain=plain, emulated=target.kind == "emulated") as screen:
        return await planned(
            lambda: Planning(scenario, target.model, screen.progress),
            lambda planning: planning.wait_first(),
            "interrupted while planning; nothing was sent",
        )


async def planned(make: Callable[[], Planning], wait: Callable[[Planning], None], said: str) -> Planning:
    """Starts a planning and waits for what the caller needs of it. Interrupted(said) by a signal, which leaves nothing
    of it."""
    loop = asyncio.get_running_loop()
    for name in SIGNALS:  # before the first word of progress; called once the loop waits, and planning is there
        loop.add_signal_handler(name, lambda: planning.abandon())
    try:
        planning = make()
        try:
            await asyncio.to_thread(wait, planning)
            if planning.abandoned:  # as the last that was waited for got ready
                raise Interrupted(said)
        except BaseException:
            planning.close()
            if planning.abandoned:
                raise Interrupted(said) from None
            raise
    finally:
        for name in SIGNALS:
            loop.remove_signal_handler(name)
    return planning


def run_manifest(
    options: Options, scenario: Scenario, text: str, target: Target, rows: Sequence[PlannedSession] = ()
) -> dict[str, Any]:
    """rows: the sessions planned so far."""
    return {
        "scenario_name": scenario.name,
        "scenario_file": str(options.scenario),
        "scenario_text": text,
        "overrides": list(options.overrides),
        "scenario": scenario.model_dump(mode="json"),
        "scenario_hash": scenario_hash(scenario),
        "seed": scenario.seed,
        "label": options.label,
        "mode": scenario.mode,
        **({"sandboxed": not options.allow_unsandboxed} if scenario.mode == "live" else {}),
        "plan_hash": "",
        "templates_left_out": absent(scenario),
        "tokenizer": TOKENIZER,
        "slo": scenario.slo.model_dump(exclude_none=True),
        "versions": versions(),
        "host": host(),
        "engine": engine_told(target, rows),
        "command": [mask_url(part) for part in ["sim", *sys.argv[1:]]],
        "pid": os.getpid(),
        "asked_unix_s": options.asked_unix_s,
        "t0_unix_s": time.time(),
    }
