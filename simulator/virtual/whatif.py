"""One scenario on several engines with several numbers of agents: what would come out, and which engine wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.scenario import Scenario
from simulator.core.summary import summarise
from simulator.engine.embedded.config import EngineParams
from simulator.virtual.calibration import Errors
from simulator.virtual.fold import run_data
from simulator.virtual.memory import Memory, memory
from simulator.virtual.script import Script
from simulator.virtual.simulate import simulate

TOO_CLOSE = "too close to call"
#: a gap that another seed would turn round, whatever the calibration says
SAME = 0.01
#: simulated time in which even slow engines come to their window
LIMIT_S = 1e6


@dataclass(frozen=True, slots=True)
class Cell:
    """One engine with one number of agents; figures None where nothing ran. goodput: share of requests that met every
    objective; None without one."""

    engine: str
    agents: int
    memory: Memory
    output_tok_s: float | None = None
    goodput_requests_s: float | None = None
    goodput: float | None = None
    ttft_p95_s: float | None = None
    tpot_p95_s: float | None = None
    cached_share: float | None = None
    preemptions: float | None = None

    def worth(self, *, by_goodput: bool) -> float:
        return (self.goodput_requests_s if by_goodput else self.output_tok_s) or 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one number of agents. best: the engine with the most; gap: its share above the next one, None without one;
    mark: "clear", the gap is larger than every error of the calibration; "leaning", larger than those of ratios
    between engines; "close", smaller; "uncalibrated", nothing was measured; "alone", nothing to compare; "none",
    no request of any met the objectives."""

    agents: int
    best: str
    gap: float | None
    mark: str

    def told(self) -> str:
        if self.mark == "none":
            return "none meets the objectives"
        if self.gap is None:
            return self.best or "none runs"
        gap = f"{100 * self.gap:.1f} %"
        match self.mark:
            case "clear":
                return f"{self.best} +{gap}"
            case "leaning":
                return f"leans to {self.best} +{gap}"
            case "uncalibrated":
                return f"uncalibrated: {self.best} +{gap}"
            case _:
                return f"{TOO_CLOSE} ({gap})"


def cell(
    scenario: Scenario, engine: str, params: EngineParams, scripts: Sequence[Sequence[Script]], agents: int,
    window_s: float, *, common: bool = False,
) -> Cell:  # fmt: skip
    """Plays the scenario's agents, refilled, for so long after all have been answered once. common: a slot's further
    sessions are drawn from all scripts, also from those of slots that these agents do not have."""
    held = memory(params, [each for slot in scripts for each in slot], agents)
    if not held.starts:
        return Cell(engine, agents, held)
    changes = {"sessions": agents, "window_s": window_s, "refill": True, "synthetic": None, "time_limit_s": LIMIT_S}
    result = simulate(scenario.model_copy(update=changes), params, scripts if common else scripts[:agents])
    summary = summarise(run_data(result, scenario.slo.model_dump(exclude_none=True)))
    agent, gauges = summary["agent"], summary["engine"]["agent"] or {}
    good = agent["goodput"] or {}
    return Cell(
        engine=engine,
        agents=agents,
        memory=held,
        output_tok_s=agent["output_tok_s"],
        goodput_requests_s=good.get("requests_s"),
        goodput=good.get("share"),
        ttft_p95_s=agent["ttft_s"]["p95"],
        tpot_p95_s=agent["tpot_s"]["p95"],
        cached_share=agent["cached_share"]["all"],
        preemptions=gauges.get("preemptions"),
    )


def verdict(cells: Sequence[Cell], errors: Errors, *, by_goodput: bool) -> Verdict:
    """Which of one number of agents' cells wins: by requests a second that meet the objectives, else by output tokens a
    second."""
    ran = sorted((c for c in cells if c.output_tok_s is not None), key=lambda c: -c.worth(by_goodput=by_goodput))
    agents = cells[0].agents
    if len(ran) < 2:
        return Verdict(agents, ran[0].engine if ran else "", None, "alone")
    first, second = (c.worth(by_goodput=by_goodput) for c in ran[:2])
    if by_goodput and not first:
        return Verdict(agents, "", None, "none")
    gap = first / second - 1 if second else 1.0 if first else 0.0
    return Verdict(agents, ran[0].engine, gap, _mark(gap, errors))


def _mark(gap: float, errors: Errors) -> str:
    if gap < SAME:
        return "close"
    if errors.all is None:
        return "uncalibrated"
    if gap > max(errors.all, errors.ratios or 0.0):
        return "clear"
    return "leaning" if errors.ratios is not None and gap > errors.ratios else "close"
