"""One run in virtual time: agents (ramp, window, drain), then synthetic traffic, in the order of a run in real time.

No warm-up is sent: there is nothing to warm. Tools are not carried out; each answers after its recorded latency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simulator.core.scenario import Scenario
from simulator.engine.embedded.config import EngineParams
from simulator.errors import UsageError
from simulator.virtual.fleet import Fleet
from simulator.virtual.library import DISTINCT
from simulator.virtual.log import Log
from simulator.virtual.playable import closed_loops
from simulator.virtual.sampling import merged
from simulator.virtual.script import Script

#: each has the table of its KV blocks in memory
MOST_REPLICAS = 1_024


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stage of the run, as in core/record.Pulse, from start_s until the next one."""

    stage: str
    kind: str
    start_s: float
    ends_s: float | None = None


@dataclass(slots=True)
class Simulated:
    """windows: measured ones by kind of traffic. stopped: "" | "interrupted" | "time limit". reused: sessions that
    played a script of the library again; slots: agents at once."""

    log: Log = field(default_factory=Log)
    stretches: list[Stretch] = field(default_factory=list)
    windows: dict[str, tuple[float, float]] = field(default_factory=dict)
    stopped: str = ""
    ran_dry: int = 0
    reused: int = 0
    end_s: float = 0.0
    slots: int = 0


def simulate(
    scenario: Scenario, params: EngineParams, scripts: Sequence[Sequence[Script]], *, replicas: int = 1,
    processes: int = 1, watch: Callable[[float], bool] = lambda _now_s: False, spool: Path | None = None,
) -> Simulated:  # fmt: skip
    """scripts: by slot, in playing order (see Library). The result depends on none of `processes` and `watch`, unless
    watch(now_s) returns true, which interrupts. spool: an existing, empty folder to which records go as they end, so
    that memory does not grow with them; without it they are held. UsageError when the engine cannot serve the
    scenario."""
    check(scenario, params, replicas)
    result = Simulated(slots=scenario.sessions)
    processes = max(1, min(processes, replicas))
    fleet = Fleet(scenario, params, scripts, replicas=replicas, processes=processes, watch=watch, spool=spool)
    try:
        if scenario.sessions:
            _agents(scenario, fleet, result)
        if scenario.synthetic is not None and not fleet.interrupted:
            _synthetic(scenario, fleet, result)
        if fleet.interrupted:
            result.stopped = "interrupted"
        shards = fleet.tell("finish", result.end_s)
    finally:
        fleet.close()
    for left in shards:
        result.log.extend(left.log)
        result.ran_dry += left.dry
        result.reused += left.reused
    result.log.samples = merged([left.log.samples for left in shards])
    return result


def check(scenario: Scenario, params: EngineParams, replicas: int) -> None:
    """UsageError for what virtual time cannot play."""
    if replicas < 1:
        raise UsageError(f"--replicas {replicas}: at least one engine is needed")
    if replicas > MOST_REPLICAS:
        raise UsageError(f"--replicas {replicas}: at most {MOST_REPLICAS:,} engines are simulated at once")
    closed_loops(scenario)
    if scenario.sessions:
        _check_agents(scenario, params, replicas)
    block = scenario.synthetic
    if block is None:
        return
    at_once = min(block.requests, block.concurrency or block.requests)
    if not scenario.sessions and replicas > at_once:
        raise UsageError(f"--replicas {replicas}: more engines than the {at_once} synthetic requests at once")
    if block.input_tok + block.output_tok > params.max_model_len:
        raise UsageError(
            f"synthetic requests of {block.input_tok} + {block.output_tok} tokens do not fit the engine's "
            f"max_model_len {params.max_model_len}; raise it or shorten them"
        )


def _check_agents(scenario: Scenario, params: EngineParams, replicas: int) -> None:
    if replicas > scenario.sessions:
        raise UsageError(f"--replicas {replicas}: more engines than the scenario's {scenario.sessions} sessions")
    if scenario.trace is not None and scenario.trace.sessions == "once" and scenario.sessions > DISTINCT:
        raise UsageError(
            f"virtual time plays at most {DISTINCT} sessions of a trace at once; lower `sessions`, or say "
            "`trace: {sessions: drawn}`"
        )
    if params.max_model_len < scenario.context_window_tok:
        raise UsageError(
            f"the engine takes {params.max_model_len:,} tokens and the scenario's agents believe in "
            f"{scenario.context_window_tok:,}: raise max_model_len, or --set context_window_tok={params.max_model_len}"
        )


def _agents(scenario: Scenario, fleet: Fleet, result: Simulated) -> None:
    limit_s = scenario.time_limit_s
    result.stretches.append(Stretch("ramp", "agent", 0.0))
    start_s = max(fleet.tell("ramp", limit_s))
    length_s = limit_s - start_s if scenario.window_s is None else min(scenario.window_s, limit_s - start_s)
    if fleet.interrupted or length_s <= 0:
        result.stopped = "time limit"
        end_s = start_s
    else:
        planned_s = None if scenario.window_s is None else start_s + length_s
        result.stretches.append(Stretch("window", "agent", start_s, planned_s))
        end_s = max(fleet.tell("play", start_s + length_s))
        if scenario.window_s is not None:
            result.windows["agent"] = (start_s, end_s)
            if length_s < scenario.window_s and end_s >= limit_s:
                result.stopped = "time limit"
    result.stretches.append(Stretch("drain", "agent", end_s, end_s + scenario.drain_s))
    result.end_s = max(fleet.tell("drain", end_s, end_s + scenario.drain_s))


def _synthetic(scenario: Scenario, fleet: Fleet, result: Simulated) -> None:
    start_s, limit_s = result.end_s, scenario.time_limit_s
    result.stretches.append(Stretch("synthetic", "synthetic", start_s))
    result.end_s = max(fleet.tell("fixed", start_s, max(start_s, limit_s)))
    result.windows["synthetic"] = (start_s, result.end_s)
    if result.end_s >= limit_s:
        result.stopped = result.stopped or "time limit"
