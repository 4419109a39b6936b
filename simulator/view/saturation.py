"""What a search for the largest load found: a line a probe, a table, a curve; in the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from simulator.core.objective import Objective
from simulator.core.probe import Probe
from simulator.core.saturation import MET, MISSED, Verdict
from simulator.core.wording import counted
from simulator.view.format import DASH, against, bar, cell, count, digits, measure
from simulator.view.identity import EMULATED

#: by which a search knows its own answer again
MADE_BY = "sim saturate"
MARK = {MET: "met", MISSED: "MISSED"}
BAR = 40
#: columns that a terminal has no room for
EXPLAIN = ("in flight", "why")


@dataclass(frozen=True, slots=True)
class Found:
    """rate: points are sessions a second, not agents. verdict None: the search did not come to its end (`stopped`)."""

    scenario: str
    engine: str
    emulated: bool
    rate: bool
    objectives: Sequence[Objective]
    probes: Sequence[Probe]
    verdict: Verdict | None
    stopped: str = ""

    @property
    def noun(self) -> str:
        return "sessions/s" if self.rate else "agents"

    def load(self, point: float | None) -> str:
        if point is None:
            return DASH
        return f"{point:.4g} sessions/s" if self.rate else f"{counted(round(point), 'agent')}"


def limits(objectives: Sequence[Objective]) -> str:
    return ", ".join(f"{o.name} {'>' if o.above else '<'} {measure(o.limit, o.unit)}" for o in objectives)


def probe_line(probe: Probe, found: Found) -> str:
    """`16 agents  1,204 tok/s  ttft_p95 412 ms  tpot_p95 8.10 ms  met`."""
    asked = {o.name: o for o in found.objectives}
    figures = [f"{name} {against(value, asked[name].limit, asked[name].unit)}" for name, value in probe.values.items()]
    outcome = MARK.get(probe.outcome, probe.outcome) + (f" ({probe.why})" if probe.why else "")
    return "  ".join(
        [f"{found.load(probe.point):>14}", f"{measure(probe.output_tok_s, 'tok/s'):>12}", *figures, outcome]
    )


def sentence(found: Found) -> str:
    """The answer, with what it is worth."""
    verdict, load = found.verdict, found.load
    asked = limits(found.objectives)
    if verdict is None:
        met = max((p.point for p in found.probes if p.outcome == MET), default=None)
        so_far = "none met the objectives so far" if met is None else f"{load(met)} met them so far"
        return f"Not finished ({found.stopped}): {so_far}. The same command goes on from here."
    best, below = verdict.best, verdict.below
    match verdict.kind:
        case "found":
            tries = sum(probe.point == best for probe in found.probes)
            twice = " Both were tried twice." if tries > 1 else ""
            return f"{load(best)} meet {asked}; {load(below)} do not.{twice}"
        case "noisy":
            low = "the smallest load tried" if best is None else load(best)
            high = "the largest allowed" if below is None else load(below)
            return f"Between {low} and {high}: loads in between met {asked} once and missed it once."
        case "at least":
            return f"At least {load(best)}: the largest load allowed still meets {asked}; raise --high to go on."
        case "below":
            return f"Fewer than {load(below)}: even the smallest load misses {asked}; lower --low to go on."
        case _:
            known = "nothing is known" if best is None else f"{load(best)} meet {asked} and no more is known"
            cure = "give it idle cores, or another machine."
            if found.emulated and not found.rate:
                cure = "the embedded engine needs idle cores beside it; with --virtual it is asked without a client."
            return f"The client is the limit at {load(below)}, so {known}: {cure}"


def table(found: Found) -> Table:
    """For a terminal: the columns of the report but for those that only explain."""
    mark = f"{EMULATED}: " if found.emulated else ""
    drawn = Table(title=f"{mark}{found.scenario} on {found.engine}", title_justify="left", title_style="bold", box=None)
    heads = _heads(found)
    kept = [number for number, name in enumerate(heads) if name not in EXPLAIN]
    for number in kept:
        drawn.add_column(heads[number], justify="right" if number < 4 + len(found.objectives) else "left", no_wrap=True)
    for probe in _sorted(found):
        style, row = {MET: "", MISSED: "red"}.get(probe.outcome, "yellow"), _row(probe, found)
        drawn.add_row(*(row[number] for number in kept), style=style)
    return drawn


def curve(found: Found) -> list[str]:
    """tok/s over the load, a bar a point (the mean of its probes), with the verdict beside it."""
    points: dict[float, list[Probe]] = {}
    for probe in _sorted(found):
        points.setdefault(probe.point, []).append(probe)
    means = {p: _mean([probe.output_tok_s for probe in probes]) for p, probes in points.items()}
    top = max((m for m in means.values() if m is not None), default=0.0)
    lines = []
    for point, probes in points.items():
        outcomes = {MARK.get(p.outcome, p.outcome) for p in probes}
        share = None if not top or means[point] is None else means[point] / top  # type: ignore[operator]
        name = f"{point:.4g}" if found.rate else f"{point:.0f}"
        speed = f"{digits(means[point])} tok/s"
        lines.append(f"{name:>8} {bar(share, BAR):<{BAR}} {speed:>14}  {' / '.join(sorted(outcomes))}")
    return lines


def markdown(found: Found) -> str:
    lines = [f"# ⚠ {EMULATED}: these figures describe the simulator's model of a server, not a GPU", ""]
    lines = lines if found.emulated else []
    lines += [f"# {cell(found.scenario)} on {cell(found.engine)}: the largest load", "", f"**{sentence(found)}**", ""]
    heads = _heads(found)
    lines += [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    lines += [f"| {' | '.join(cell(c) for c in _row(probe, found))} |" for probe in _sorted(found)]
    lines += ["", f"tok/s over {found.noun}:", "", "```", *curve(found), "```", ""]
    lines += [
        "Each probe is a run folder of its own below `probes/`; `docs/saturate.md` says how they were chosen.",
        "",
    ]
    return "\n".join(lines)


def as_json(found: Found) -> dict[str, Any]:
    return {
        "schema": 1,
        "made_by": MADE_BY,
        "engine_kind": "emulated" if found.emulated else "real",
        "engine": found.engine,
        "scenario": found.scenario,
        "load": "sessions_per_s" if found.rate else "agents",
        "slo": [{"name": o.name, "limit": o.limit, "above": o.above} for o in found.objectives],
        "verdict": asdict(found.verdict) if found.verdict else None,
        "stopped": found.stopped,
        "sentence": sentence(found),
        "probes": [asdict(probe) for probe in found.probes],
    }


def _heads(found: Found) -> list[str]:
    each = "per request" if found.rate else "per agent"
    return [found.noun, "tok/s", each, "in flight", *(o.name for o in found.objectives), "objectives", "client", "why"]


def _row(probe: Probe, found: Found) -> list[str]:
    share = None if probe.output_tok_s is None or found.rate else probe.output_tok_s / probe.point
    if found.rate and probe.output_tok_s is not None and probe.in_flight:
        share = probe.output_tok_s / probe.in_flight
    figures = [against(probe.values.get(o.name), o.limit, o.unit) for o in found.objectives]
    point = f"{probe.point:.4g}" if found.rate else count(probe.point)
    outcome = MARK.get(probe.outcome, "void")
    return [point, digits(probe.output_tok_s), digits(share), digits(probe.in_flight), *figures, outcome,
            probe.client, probe.why]  # fmt: skip


def _sorted(found: Found) -> list[Probe]:
    return sorted(found.probes, key=lambda probe: (probe.point, probe.folder))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None
