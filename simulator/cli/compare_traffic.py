"""`sim compare-traffic`: agents beside the synthetic test on one engine, or over the rungs of a ladder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.cli.outputs import Outputs
from simulator.cli.reading import Opened, opened
from simulator.cli.rungs import Found, find, is_run
from simulator.core.choice.choice import FIGURES, OUTPUT, Rung, choose
from simulator.core.choice.loads import ByLoad, by_load
from simulator.core.why.split import split
from simulator.errors import UsageError
from simulator.view.both import Both, shape_json, shape_sheet
from simulator.view.by_load import LOADS, load_json, load_sheets
from simulator.view.by_load_chart import load_picture
from simulator.view.compare_traffic import CHOICE, SAME_PAIRS, choice_json, choice_sheets, choice_spec
from simulator.view.identity import EMULATED, RANDOM_WEIGHTS
from simulator.view.sheet import Document
from simulator.view.why import Side, marks

BY = {"output": OUTPUT, "turn": "turn_p50_s", "ttft": "ttft_p50_s", "tpot": "tpot_p50_s"}


def main(path: Path, by: str, outputs: Outputs) -> int:
    if by not in BY or BY[by] not in FIGURES:
        raise UsageError(f"--agents-by {by}: give one of {', '.join(BY)}")
    outputs.check()
    if path.is_dir() and is_run(path):
        _one(opened(path), outputs)
    else:
        answer = ladder_answer(find(path), BY[by])
        outputs.give(answer.document, answer.value)
    return 0


def _one(run: Opened, outputs: Outputs) -> None:
    both = _both(run)
    document = Document(
        title=f"compare-traffic: {run.name}",
        marks=marks((both.run,)),
        sheets=(shape_sheet(both, ""),),
        notes=("One engine, one run: which configuration each traffic would choose takes a ladder of them.",),
    )
    outputs.give(document, {"schema": 1, "marks": list(document.marks), "run": run.name, **shape_json(both)})


def _both(run: Opened) -> Both:
    agents, synthetic = run.measured("agent"), run.measured("synthetic")
    for part, what in ((agents, "agents"), (synthetic, "synthetic traffic")):
        if part is None or part.output_tok_s is None:
            raise UsageError(
                f"{run.path} has no {what} that brought output, so there is nothing to set beside the other; run a "
                "scenario that has both"
            )
    assert agents is not None and synthetic is not None
    return Both(Side(run.name, run.manifest, run.summary), agents, synthetic, split("both", agents, synthetic))


@dataclass(frozen=True, slots=True)
class LadderAnswer:
    """document: for people. value: for programs. pictures:
    title of a section -> its Vega-Lite spec, for files beside a report."""

    document: Document
    value: dict[str, Any]
    pictures: dict[str, dict[str, Any]]


def ladder_answer(found: Found, figure: str) -> LadderAnswer:
    """UsageError when no rung has anything to compare."""
    levels = {rung.level: [each for each in found.rungs if each.level == rung.level] for rung in found.rungs}
    choices = {level: choose(rungs, figure) for level, rungs in levels.items()}
    if all(choice.agents is None and choice.synthetic is None for choice in choices.values()):
        raise UsageError(f"{found.name}: no repeat of any rung came to an end, so there is nothing to compare")
    sheets = tuple(sheet for level, choice in choices.items() for sheet in choice_sheets(levels[level], choice, figure))
    both = None if found.first is None else _shapes(found.first)
    loads = by_load(found.rungs, figure)
    if loads is not None:
        sheets = (*load_sheets(loads, found.synthetic), *sheets)
    if both is not None and found.first is not None:
        sheets = (*sheets, shape_sheet(both, f"What the two kinds of traffic are, on {found.first.name}"))
    told = (f"{EMULATED}: not a GPU",) * found.emulated + (RANDOM_WEIGHTS,) * found.random_weights
    scenario = f" ({found.scenario})" if found.scenario else ""
    how = "Each rung's figure is the geometric mean of its repeats; 'against best' is over pairs of equal work."
    if any(SAME_PAIRS in sheet.heads for sheet in sheets):
        how += f" '{SAME_PAIRS}' and 'best there' are both rungs' figures over these pairs, of which it is the ratio."
    notes = [*(f"{each}." for each in found.said), how]
    if max(choice.runs for choice in choices.values()) < 2 and not all(each.undrawn for each in choices.values()):
        notes.insert(0, "One run a rung: differences of a few percent are suggestions; repeated pairs decide.")
    document = Document(f"compare-traffic: {found.name}{scenario}", told, sheets, tuple(notes))
    answers = [choice_json(levels[level], choice, figure) for level, choice in choices.items()]
    value = {"schema": 1, "marks": list(told), "ladder": found.name, **answers[0], "levels": answers}
    value |= {} if both is None else {"shapes": shape_json(both)}
    value |= {} if loads is None else {"by_load": load_json(loads, found.synthetic)}
    return LadderAnswer(document, value, _pictures(found, loads, levels, figure))


def _pictures(
    found: Found, loads: ByLoad | None, levels: dict[int | None, list[Rung]], figure: str
) -> dict[str, dict[str, Any]]:
    """Of one level its choice, of several how it changes with them."""
    if loads is not None:
        spec = load_picture(loads, found.synthetic)
        return {LOADS: spec} if spec else {}
    (rungs,) = levels.values()
    spec = choice_spec(rungs, figure)
    return {CHOICE: spec} if spec else {}


def _shapes(run: Opened) -> Both | None:
    try:
        return _both(run)
    except UsageError:
        return None
