"""An open loop as a run needs it: traces read from beside the scenario, and its schedule given to the load."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from simulator.cli.own_tasks import with_tasks
from simulator.cli.tracing import with_recording
from simulator.core.arrival import check_requests, request_times, session_times
from simulator.core.scenario import MAX_TIMES, Arrival, Scenario, Synthetic, SyntheticArrival
from simulator.core.share import WHOLE, Share
from simulator.drive.load import Work
from simulator.drive.openload import OpenLoad, OpenShape
from simulator.drive.session import Stage
from simulator.drive.synthetic import SyntheticShape
from simulator.errors import UsageError

A = TypeVar("A", Arrival, SyntheticArrival)


def with_traces(scenario: Scenario, source: Path) -> Scenario:
    """The scenario with its trace looked at (tracing.py) and its arrival files read into `times_s`; their names count
    from the scenario's folder. An open loop's schedule is tried, so that what is wrong with it is told before anything
    starts. UsageError."""
    scenario = with_tasks(with_recording(scenario, source), source)
    if scenario.arrival.file is not None:
        scenario = scenario.model_copy(update={"arrival": _read(scenario.arrival, source)})
    block = scenario.synthetic
    if block is not None and block.arrival.file is not None:
        synthetic = block.model_copy(update={"arrival": _read(block.arrival, source)})
        scenario = scenario.model_copy(update={"synthetic": synthetic})
    if scenario.arrival.open:
        session_times(scenario)
    check_requests(scenario)
    return scenario


def _read(arrival: A, source: Path) -> A:
    assert arrival.file is not None
    if arrival.times_s is not None:
        raise UsageError(f"{source}: an arrival trace has `times_s` or `file`, not both")
    path = source.parent / arrival.file
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise UsageError(f"{path}: the arrival trace cannot be read: {why}") from None
    times = [_number(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not times or len(times) > MAX_TIMES:
        raise UsageError(f"{path}: {len(times):,} arrivals; a trace has 1 to {MAX_TIMES:,}, one number a line")
    try:
        kept = arrival.model_dump(exclude={"file", "times_s"})
        return type(arrival).model_validate({**kept, "times_s": tuple(times)})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise UsageError(f"{path}: {fault.get('ctx', {}).get('error', fault['msg'])}") from None


def _number(path: Path, number: int, line: str) -> float:
    try:
        value = float(line)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise UsageError(f"{path}:{number}: `{line.strip()[:40]}` is no time; give seconds from the start, one a line")
    return value


def open_load(
    scenario: Scenario,
    stage: Stage,
    work: Work,
    interrupt: asyncio.Event,
    amend: Callable[[Mapping[str, Any]], None],
    share: Share = WHOLE,
    t0_s: float | None = None,
) -> OpenLoad:
    """The load of an open loop, or this process's share of it, on a clock that starts at run time `t0_s`. Its plan
    goes into the manifest (`amend`) when the clock starts, for the summary to compare."""
    times = session_times(scenario)
    shape = OpenShape(
        arrivals=tuple((number, times[number]) for number in share.numbers(len(times))),
        first_s=times[0],
        places=share.numbers(scenario.sessions),
        window_s=scenario.window_s,
        ramp_s=scenario.ramp_s,
        limit_s=scenario.time_limit_s,
        drain_s=scenario.drain_s,
        t0_s=t0_s,
    )

    def started(t0_s: float) -> None:
        due_s = [round(t0_s + t, 6) for t in times]
        plan = {"kind": scenario.arrival.kind, "places": scenario.sessions, "due_s": due_s}
        amend({"session_arrivals": plan})

    return OpenLoad(stage, shape, work, interrupt, started)


def with_due_times(
    shape: SyntheticShape, block: Synthetic, seed: int, amend: Callable[[Mapping[str, Any]], None]
) -> SyntheticShape:
    """The traffic of an open loop: with its due times. What of it the summary needs goes into the manifest."""
    due_s = request_times(block, seed)
    amend({"request_arrivals": {"kind": block.arrival.kind, "places": block.concurrency}})
    return replace(shape, requests=len(due_s), due_s=due_s)
