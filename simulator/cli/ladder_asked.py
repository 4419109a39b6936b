"""What `sim ladder` is asked for, checked: which rungs of which ladder, at what loads, on how many servers at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.cli.arrivals import with_traces
from simulator.cli.ladder_lanes import Lane
from simulator.cli.run import read_scenario
from simulator.core.scenario import Scenario
from simulator.core.scenario_file import parse
from simulator.engine.serving.config import EngineConfig
from simulator.engine.serving.ladder_file import Ladder
from simulator.errors import UsageError

GPUS = "CUDA_VISIBLE_DEVICES"
ENDS_FIRST = "ends-first"
#: synthetic requests at a level of load
LEAST_REQUESTS, WAVES, LEAST_WAVES = 64, 4, 2


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line. only, concurrency, gpus: separated by commas, "" when not given."""

    file: Path
    scenario: Path | None = None
    out: Path | None = None
    pairs: int = 1
    only: str = ""
    agents_only: bool = False
    synthetic_only: bool = False
    concurrency: str = ""
    lanes: int | None = None
    gpus: str = ""
    repeats_per_life: int = 1
    budget_s: float | None = None
    order: str | None = None
    keep_going: bool = True
    seed: int | None = None
    overrides: tuple[str, ...] = ()
    procs: int | None = None

    @property
    def ends_first(self) -> bool:
        return self.order == ENDS_FIRST or (self.order is None and self.budget_s is not None)


def rungs(ladder: Ladder, only: str) -> tuple[EngineConfig, ...]:
    names = [name.strip() for name in only.split(",") if name.strip()]
    found = tuple(rung for rung in ladder.rungs if not names or rung.name in names)
    for name in names:
        ladder.rung(name)  # names what is not there
    for what, told in (("embedded", "engines of both kinds"), ("random_weights", "random and real weights")):
        if len({getattr(rung, what) for rung in found}) > 1:
            one = ",".join(rung.name for rung in found if getattr(rung, what))
            raise UsageError(f"{ladder.source} has {told}, which are never compared; choose with --only, such as {one}")
    return found


def scenario_of(asked: Asked, ladder: Ladder) -> tuple[Path, Scenario]:
    """The file, and what it says with all that the command line changes of it. Raises UsageError."""
    source = _file(asked, ladder)
    scenario = with_traces(parse(read_scenario(source), str(source), overrides(asked)), source)
    if asked.seed is not None:
        if asked.seed < 0:
            raise UsageError(f"--seed {asked.seed}: a seed is 0 or above")
        scenario = scenario.model_copy(update={"seed": asked.seed})
    return source, scenario


def _file(asked: Asked, ladder: Ladder) -> Path:
    if asked.scenario is not None:
        return asked.scenario
    if not ladder.scenario:
        raise UsageError(f"{ladder.source} names no scenario; give one, such as --scenario scenarios/32_agents.yaml")
    places = [
        Path(ladder.scenario),
        ladder.source.parent / ladder.scenario,
        ladder.source.parent.parent / ladder.scenario,
    ]
    return next((place for place in places if place.is_file()), places[0])


def overrides(asked: Asked) -> tuple[str, ...]:
    if asked.agents_only and asked.synthetic_only:
        raise UsageError("--agents-only and --synthetic-only exclude each other; leave both out for both")
    more = ("synthetic=null",) if asked.agents_only else ("sessions=0",) if asked.synthetic_only else ()
    return (*asked.overrides, *more)


def levels(text: str, scenario: Scenario) -> tuple[int | None, ...]:
    if not text:
        return (None,)
    try:
        found = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise UsageError(f"--concurrency {text}: give numbers of agents and requests at once, such as 8,32,128")
    synthetic = scenario.synthetic
    if scenario.arrival.open or (synthetic is not None and synthetic.arrival.open):
        raise UsageError(f"--concurrency: {scenario.name} is an open loop, whose load is a rate; leave it out")
    return found


def load(level: int | None, scenario: Scenario, given: Sequence[str]) -> tuple[str, ...]:
    """What a level changes of the scenario, as --set says it: only traffic that is sent has one. given: the user's own
    overrides, which say better how many synthetic requests there are."""
    if level is None:
        return ()
    found = [f"sessions={level}"] if scenario.sessions else []
    if scenario.synthetic is not None:
        found.append(f"synthetic.concurrency={level}")
        if not any(each.startswith(("synthetic.requests=", "synthetic=")) for each in given):
            found.append(f"synthetic.requests={_requests(level, scenario.synthetic.requests)}")
    return tuple(found)


def _requests(level: int, stated: int) -> int:
    """As many as the scenario says take minutes when few are sent at once, and are one wave when many are: four waves
    and 64 requests are enough, and two waves the least."""
    return max(min(stated, max(LEAST_REQUESTS, WAVES * level)), LEAST_WAVES * level)


def lanes(asked: Asked, rungs: Sequence[EngineConfig]) -> tuple[Lane, ...]:
    """Each with its GPUs and its share of the cores. One lane has all of both."""
    gpus = [part.strip().replace("+", ",") for part in asked.gpus.split(",")] if asked.gpus else []
    if asked.gpus and (not all(gpus) or len(set(gpus)) < len(gpus)):
        raise UsageError(f"--gpus {asked.gpus}: name each lane's GPU once, such as 0,1, or 0+1,2+3 for two a lane")
    count = len(gpus) or asked.lanes or 1
    if asked.lanes is not None and gpus and asked.lanes != len(gpus):
        raise UsageError(f"--lanes {asked.lanes} and --gpus {asked.gpus} differ; --gpus alone says how many lanes")
    if count == 1 and not gpus:
        return (Lane(0, None, None),)
    stated = next((rung for rung in rungs if GPUS in rung.env), None)
    if stated is not None:
        raise UsageError(f"{stated.name} states {GPUS} itself, so its lanes cannot; take it out of the configuration")
    if not gpus and not rungs[0].embedded:
        visible = [part for part in os.environ.get(GPUS, "").split(",") if part] or [str(n) for n in range(count)]
        if len(visible) < count:
            raise UsageError(f"--lanes {count}: {GPUS} shows {len(visible)} GPUs; give fewer lanes, or say --gpus")
        gpus = visible[:count]
    shares = _shares(sorted(os.sched_getaffinity(0)), count) if count > 1 else [None]
    return tuple(Lane(n, gpus[n] if gpus else None, shares[n]) for n in range(count))


def _shares(cores: Sequence[int], count: int) -> Sequence[tuple[int, ...] | None]:
    """Neighbouring cores, as many for each; fewer cores than lanes are not shared out."""
    each = len(cores) // count
    return [tuple(cores[n * each : (n + 1) * each]) if each else None for n in range(count)]


def floor_s(scenario: Scenario) -> float:
    return (scenario.ramp_s + (scenario.window_s or 0.0)) if scenario.sessions else 0.0
