"""The answer of `sim whatif` for people, on a terminal and as Markdown, and for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from simulator.core.wording import counted
from simulator.view.cells import clean
from simulator.view.format import cell, count, digits, duration, percent

MARK = "EMULATED ENGINE, VIRTUAL TIME"
HEADS = ("agents", "engine", "output tok/s", "TTFT p95", "TPOT p95", "goodput", "cached", "memory", "best")
SHORT_HEADS = ("agents", "engine", "tok/s", "TTFT p95", "TPOT p95", "goodput", "cached", "needs/has GiB")


@dataclass(frozen=True, slots=True)
class Answer:
    """rows: the cells of each number of agents (virtual.whatif.Cell); verdicts: one a row of them; checks: figures of
    real engines that the model was held against (virtual.calibration.Checked); errors: the largest of them, and of
    ratios between them (virtual.calibration.Errors)."""

    scenario: str
    seed: int
    minutes: float
    slo: Mapping[str, float]
    rows: Sequence[Sequence[Any]]
    verdicts: Sequence[Any]
    checks: Sequence[Any]
    errors: Any

    def as_json(self) -> dict[str, Any]:
        return {
            "engine": "EMULATED",
            "virtual": True,
            "scenario": self.scenario,
            "seed": self.seed,
            "minutes": self.minutes,
            "slo": dict(self.slo),
            "errors": asdict(self.errors),
            "calibration": [{**asdict(each), "error": each.error} for each in self.checks],
            "cells": [{**asdict(each), "fits": each.memory.fits} for row in self.rows for each in row],
            "verdicts": [{**asdict(each), "told": each.told()} for each in self.verdicts],
        }


def table(answer: Answer) -> RenderableType:
    """For 80 columns: memory as needed/have in GiB, verdicts below the table."""
    grid = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for n, head in enumerate(SHORT_HEADS):
        grid.add_column(head, justify="left" if n < 2 else "right", no_wrap=True)
    told: list[str] = []
    for row, each in zip(answer.rows, answer.verdicts, strict=True):
        for one, cells in zip(row, lines(row, each), strict=True):
            held = one.memory
            room = f"{held.needed_bytes / 2**30:.1f}/{held.have_bytes / 2**30:.1f}"
            grid.add_row(*(Text(clean(part)) for part in cells[:7]), room)  # a name is no markup
            if not held.fits:
                told.append(clean(f"{counted(one.agents, 'agent')} on {one.engine}: {held.told()}"))
        told.append(clean(f"{counted(each.agents, 'agent')}: {each.told()}"))
    badge = Text(f" {MARK}: not a GPU ", style="bold white on red")
    verdicts = [Text(line, style="bold") for line in told]
    return Group(badge, Text(heading(answer), style="bold"), grid, *verdicts, *(Text(line) for line in notes(answer)))


def markdown(answer: Answer) -> str:
    out = [f"# ⚠ {MARK}: the simulator's model of a server, not a GPU", "", f"## {heading(answer)}", ""]
    out += ["| " + " | ".join(HEADS) + " |", "|---|---|" + "---:|" * 5 + "---|---|"]
    for row, each in zip(answer.rows, answer.verdicts, strict=True):
        out += ["| " + " | ".join(map(cell, cells)) + " |" for cells in lines(row, each)]
    return "\n".join([*out, "", *(f"{line}  " for line in notes(answer, cell))]) + "\n"


def heading(answer: Answer) -> str:
    return f"{clean(answer.scenario)}, seed {answer.seed}: {answer.minutes:g} simulated minutes after the ramp"


def lines(row: Sequence[Any], verdict: Any) -> list[tuple[str, ...]]:
    """One line an engine; the verdict stands in the first."""
    found = []
    for n, each in enumerate(row):
        ran = each.output_tok_s is not None
        figures = (
            count(round(each.output_tok_s)) if ran else "-",
            duration(each.ttft_p95_s) if ran else "-",
            duration(each.tpot_p95_s) if ran else "-",
            percent(each.goodput) if each.goodput is not None else "-",
            percent(each.cached_share) if ran else "-",
        )
        preempted = f"; {digits(each.preemptions)} preemptions" if each.preemptions else ""
        best = verdict.told() if n == 0 else ""
        found.append((str(each.agents) if n == 0 else "", each.engine, *figures, each.memory.told() + preempted, best))
    return found


def notes(answer: Answer, safe: Callable[[str], str] = clean) -> list[str]:
    """safe: makes a name of a file harmless where it is shown."""
    listed = [each for each in answer.checks if each.agents] or answer.checks
    held = "; ".join(
        f"{safe(each.hardware)}, {safe(each.traffic)}: {each.modelled_tok_s:,.0f} for {each.measured_tok_s:,.0f} "
        f"tok/s ({100 * each.error:+.1f} %, {'fitted' if each.fitted else 'not fitted'})"
        for each in listed
    )
    others = [abs(each.error) for each in answer.checks if not each.agents] if listed is not answer.checks else []
    rest = f" {len(others)} figures of other traffic: at most {percent(max(others))} off." if others else ""
    unseen = [abs(each.error) for each in answer.checks if each.agents and not each.fitted]
    held_out = f" Of agents on engines that were not fitted to: at most {percent(max(unseen))} off." if unseen else ""
    ratios, every = (percent(each) for each in (answer.errors.ratios, answer.errors.all))
    by = "requests a second that meet the objectives" if answer.slo else "output tokens a second"
    return [
        f"Model against measured: {held or 'nothing was measured of this hardware'}.{held_out}{rest}",
        f"best: by {by}. Called when the gap is above the model's largest error ({every}); 'leans' when it is only "
        f"above the largest error of ratios between engines, one of them not fitted to ({ratios}).",
        "memory: all agents' histories at their mean length, so that each turn finds the last one, against what the "
        "GPU has beside the weights.",
    ]
