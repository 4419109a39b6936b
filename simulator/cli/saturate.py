"""`sim saturate`: the largest load of a scenario that meets its objectives, by bisection in one life of the engine."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvloop
from rich.console import Console

from simulator.cli.absent import sentences
from simulator.cli.arrivals import with_traces
from simulator.cli.conduct import ENGINE_GONE
from simulator.cli.probing import PROBES, Loads, Prober, loads
from simulator.cli.run import Options, fresh_folder, read_scenario, with_options
from simulator.cli.target import Opened, Target, open_target
from simulator.cli.tracing import drawn_only
from simulator.core.arrival import MAX_SESSIONS
from simulator.core.objective import Objective, from_block, parse_slo
from simulator.core.probe import Probe, judge
from simulator.core.saturation import BELOW, CLIENT_LIMIT, Span, Verdict, decide
from simulator.core.scenario import Scenario
from simulator.core.scenario_file import parse
from simulator.core.wording import counted
from simulator.errors import EngineError, Interrupted, SimError, UsageError
from simulator.store.manifest import ENGINE_FILES, ENGINE_LOG, MANIFEST, read_json, write_json, write_whole
from simulator.view.saturation import MADE_BY, Found, as_json, curve, limits, markdown, probe_line, sentence, table

ANSWER = "saturate.json"
AGENTS, RATES = (1.0, 512.0), (0.05, 20.0)
#: said when probes are read whose engine cannot be known for the present one
UNPROVED = (
    "warning: this engine does not tell when it started, so it cannot be proved that the probes that were read are its "
    "own; if it was restarted or set up anew since, give another --out"
)


@dataclass(frozen=True, slots=True)
class Search:
    """What was asked for on the command line. slo "": the scenario's own. low, high None: the usual span."""

    slo: str
    low: float | None
    high: float | None
    rate: bool
    window_s: float | None


def main(options: Options, search: Search) -> int:
    """0 when a load was found, 1 when not even the smallest meets the objectives, 4 when the client is the limit, 130
    interrupted. Raises SimError."""
    text = read_scenario(options.scenario)
    scenario = with_traces(parse(text, str(options.scenario), options.overrides), options.scenario)
    scenario = with_options(scenario, options)
    drawn_only(scenario, options.scenario, "`sim saturate`")
    asked = loads(scenario, rate=search.rate, window_s=search.window_s)
    objectives = _objectives(search.slo, scenario)
    if search.rate and options.virtual is not None:
        raise UsageError("--rate and --virtual exclude each other: virtual time plays closed loops only")
    span = _span(search, asked.base, tries=2 if options.virtual is None else 1)
    asked.slots(span.low)  # a first arrival that comes too late, and too many sessions to plan, are told now
    asked.slots(span.high)
    out = options.out or fresh_folder(f"{scenario.name}-saturate")
    _usable(out)
    return uvloop.run(_search(options, asked, span, objectives, text, out))


def _objectives(slo: str, scenario: Scenario) -> tuple[Objective, ...]:
    stated = scenario.slo.model_dump(exclude_none=True)
    found = parse_slo(slo) if slo else from_block(stated)
    if not found:
        raise UsageError(f"{scenario.name} states no `slo`: say with --slo what must hold, like 'ttft_p95<2s'")
    if any(o.name == "goodput" for o in found) and not stated:
        raise UsageError(f"--slo: goodput needs objectives in the scenario; give {scenario.name} an `slo` block")
    return found


def _span(search: Search, base: Scenario, tries: int) -> Span:
    usual = RATES if search.rate else AGENTS
    if search.rate and base.window_s is not None:
        most = 0.9 * MAX_SESSIONS / (base.ramp_s + base.window_s)  # what can be planned, chance included
        usual = usual[0], min(usual[1], float(f"{most:.2g}"))
    low = usual[0] if search.low is None else search.low
    high = usual[1] if search.high is None else search.high
    if not (math.isfinite(low) and math.isfinite(high)):
        raise UsageError(f"--low {low:g} --high {high:g}: give numbers")
    if not search.rate and (low != int(low) or high != int(high)):
        raise UsageError("--low and --high are numbers of agents; with --rate they are sessions a second")
    if not 0 < low <= high:
        raise UsageError(f"--low {low:g} --high {high:g}: the span begins above 0 and ends at or above its beginning")
    if not search.rate and high > MAX_SESSIONS:
        raise UsageError(f"--high {high:g}: at most {MAX_SESSIONS:,} agents run at once")
    return Span(float(low), float(high), not search.rate, tries)


def _usable(out: Path) -> None:
    """A new folder, or one that a search has left."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not _left_by_a_search(out):
            raise UsageError(f"{out} holds other things; give --out a new folder, or one that `sim saturate` left")
        (out / PROBES).mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}; give a new folder") from None


def _left_by_a_search(out: Path) -> bool:
    """By the marks that a search leaves: its own in saturate.json, `probe` in each manifest. One that was ended early
    may have left nothing but an empty folder for probes and the engine's log."""
    if (out / ANSWER).exists():
        found = read_json(out / ANSWER) or {}
        return found.get("made_by") == MADE_BY or {"engine_kind", "verdict", "sentence", "probes"} <= found.keys()
    probes = list((out / PROBES).iterdir()) if (out / PROBES).is_dir() else []
    if any(isinstance((read_json(path / MANIFEST) or {}).get("probe"), dict) for path in probes):
        return True
    others = [path for path in out.iterdir() if path.name not in ENGINE_FILES]
    return not probes and all(path == out / PROBES and path.is_dir() for path in others)


async def _search(
    options: Options, asked: Loads, span: Span, objectives: Sequence[Objective], text: str, out: Path
) -> int:
    console = Console(highlight=False, soft_wrap=True)
    for line in sentences(asked.base):
        console.print(line, markup=False)
    async with _target(options, asked.base, out) as opened:
        target = opened.target
        with console.status("") as status:
            prober = _prober(options)(asked, opened, options, text, out, lambda what: status.update(what), console)
            found, fault = await _probe_all(prober, _blank(asked, target, objectives), span, console)
    write_json(out / ANSWER, as_json(found))
    write_whole(out / "saturate.md", markdown(found).encode())
    console.print(table(found), *curve(found), "", sentence(found), f"report: {out / 'saturate.md'}", sep="\n")
    if fault is not None:
        raise fault
    if found.stopped == ENGINE_GONE:
        raise EngineError(f"{opened.gone()}; {out} holds what came before")
    if found.verdict is None:
        return 130
    return {BELOW: 1, CLIENT_LIMIT: 4}.get(found.verdict.kind, 0)


@asynccontextmanager
async def _target(options: Options, base: Scenario, out: Path) -> AsyncIterator[Opened]:
    if options.virtual is not None:
        from simulator.cli.virtual import target_of

        yield Opened(target_of(options.virtual.params, base, options.virtual.replicas))
        return
    asked = options.endpoint, options.model, options.engine
    async with open_target(base, *asked, out / ENGINE_LOG, options.faults, options.settings) as opened:
        yield opened


def _prober(options: Options) -> type[Prober]:
    if options.virtual is None:
        return Prober
    from simulator.cli.simulated import VirtualProber  # pulls in what real time does not need

    return VirtualProber


def _blank(asked: Loads, target: Target, objectives: Sequence[Objective]) -> Found:
    engine = f"{target.model}, virtual time" if target.identity.get("virtual") else target.model
    return Found(asked.base.name, engine, target.kind == "emulated", asked.rate, objectives, [], None)


async def _probe_all(prober: Prober, found: Found, span: Span, console: Console) -> tuple[Found, SimError | None]:
    """Probes until the verdict, telling each as it comes. What went wrong with one comes back beside what the others
    gave."""
    mark = "[EMULATED] " if found.emulated else ""
    console.print(f"{mark}largest load of {found.scenario} with {limits(found.objectives)}", markup=False)
    probes: list[Probe] = []

    def take(point: float, path: Path, summary: Mapping[str, Any], note: str = "") -> None:
        probes.append(judge(point, path.name, summary, found.objectives))
        console.print(mark + probe_line(probes[-1], found) + note, markup=False)

    for point, path, summary in prober.known():
        take(point, path, summary, "  (read)")
    if prober.foreign:
        console.print(f"{counted(prober.foreign, 'probe')} of another scenario there, left out", markup=False)
    if probes and not prober.provable:
        console.print(UNPROVED, markup=False)
    stopped, fault = "", None
    while not isinstance(step := decide(span, [probe.trial for probe in probes]), Verdict):
        try:
            path, stopped, summary = await prober.run(step)
        except Interrupted:
            stopped = "interrupted"
        except SimError as error:
            stopped, fault = "a fault", error
        if stopped not in ("", "time limit"):
            break
        take(step, path, summary)
    verdict = step if isinstance(step, Verdict) else None
    return replace(found, probes=probes, verdict=verdict, stopped=stopped), fault
