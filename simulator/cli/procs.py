"""How many client processes a run takes: as asked, or from an estimate of its load."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from simulator.core.scenario import Scenario, Synthetic
from simulator.core.wording import counted
from simulator.errors import UsageError

#: a streamed token (12 us were measured with the embedded engine's chunks of several tokens; smaller ones cost more), a
#: request's fixed cost, an agent at work (9 % of a core for 32)
CPU_S_A_TOK, CPU_S_A_REQUEST, CORES_AN_AGENT = 20e-6, 1.2e-3, 0.09 / 32
#: what a stream is taken to give: a fast engine's share of 13,700 tok/s in 256 streams
TOK_S_A_STREAM = 13_700 / 256
#: a process that is busier stamps late now and then
CORES_A_PROCESS = 0.5
MOST = 64


@dataclass(frozen=True, slots=True)
class Procs:
    """why: a clause for people."""

    count: int
    why: str

    def __str__(self) -> str:
        return f"{self.count} client process{'es' if self.count > 1 else ''}: {self.why}"


def choose(scenario: Scenario, asked: int | None, *, embedded: bool, cores: int | None = None) -> Procs:
    """embedded: the engine runs on this machine, too, and is left a core. cores: of this machine, None to look.
    UsageError when `asked` makes no sense."""
    places = max(scenario.sessions, streams(scenario.synthetic))
    if asked is not None:
        if not 1 <= asked <= MOST:
            raise UsageError(f"--procs {asked}: a run takes 1 to {MOST} client processes; leave it out for an estimate")
        if asked > places:
            return Procs(
                places, f"{asked} were asked for, but only {counted(places, 'request is', 'requests are')} open at once"
            )
        return Procs(asked, "as asked")
    cores = cores or len(os.sched_getaffinity(0))
    agents, synthetic = scenario.sessions * CORES_AN_AGENT, _cores(scenario.synthetic)
    need = max(agents, synthetic)
    what = (
        counted(scenario.sessions, "agent")
        if agents > synthetic
        else counted(streams(scenario.synthetic), "synthetic stream")
    )
    why = f"{what} are estimated to take {need:.2g} of a core"
    wanted = math.ceil(need / CORES_A_PROCESS) or 1
    most = min(max(1, cores - embedded), places, MOST)
    if wanted > most:
        beside = ", one of them the engine's" if embedded else ""
        have = f"{'is' if cores == 1 else 'are'} {counted(cores, 'core')}"
        return Procs(
            most,
            f"{why}, which is {wanted} processes' work, but there {have}{beside}",
        )
    return Procs(wanted, why)


def streams(block: Synthetic | None) -> int:
    """Most synthetic requests that are open at once."""
    if block is None:
        return 0
    return min(block.requests, block.concurrency or block.requests)


def _cores(block: Synthetic | None) -> float:
    if block is None:
        return 0.0
    requests_s = streams(block) * TOK_S_A_STREAM / block.output_tok
    if block.arrival.rate_per_s is not None:
        requests_s = block.arrival.rate_per_s
    return requests_s * (block.output_tok * CPU_S_A_TOK + CPU_S_A_REQUEST)
