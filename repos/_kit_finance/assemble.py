"""Puts a finance task together: world, case, repository, recorded path, check, and what the check must refuse."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path as Folder
from typing import Any

from simulator.core.task import SIZES, Check, Style, Task

from . import house, world
from .case import Case
from .checks import program
from .journal import spin
from .path import Path

_CHECK = (Folder(__file__).resolve().parent / "files" / "check.py").read_text(encoding="utf-8")


def task(kind: type[Case], recipe: str, seed: int, size: str, style: Style) -> Task:
    """recipe: the recipe's `__file__`; its folder names the template."""
    if size not in SIZES:
        raise ValueError(f"size is {size!r}, expected one of {SIZES}")
    folder = Folder(recipe).resolve().parent
    case = kind(world.build(folder.name, seed, size), folder)
    found = house.files(case)
    path = Path(case, style, found)
    path.opening()
    for unit in case.units:
        path.unit(unit)
    path.closing()
    history = house.history(case, found)
    name = world.folder_name(case.w, case.tails)
    prompt = spin(case.w.part("prompt"), _request(case, path))
    check = _check(case, path)
    return Task(folder.name, "finance", size, seed, name, prompt, history, tuple(path.j.steps), check)


def _request(case: Case, path: Path) -> str:
    w, n = case.w, case.n
    figures = ", ".join(n[f"o_{key}"] for key in case.wanted)
    return (
        f"{case.ask()}\n\n«Rules, rounding and day counts|Methods and rounding» «are laid down in|are written down in"
        f"» `{path.rules}`; «please follow them to the letter|they win over habit». «Deliveries are in|The data "
        f"lies in» `{n['data']}/` and «stay as they are|must not be changed». {case.control[0].upper()}"
        f"{case.control[1:]} «states some of the figures|has part of the figures» (`{case.controls_path}`): «where we "
        "differ, find out why|a difference has a reason, find it». «Put the script into|The script belongs in» "
        f"`{path.script}`, on top of the helpers in `{n['pkg']}/`, «with tests|tests beside the helpers'», working "
        "notes into "
        f"`{path.notes}`. Result: "
        f"`{path.results}`, by name of the {case.noun}: {figures}. And `{path.report}` with "
        f"{n[f'o_{case.headline()}']} "
        f"of each {case.noun}, «thousands separators please|with thousands separators».\n\n{w.boss.name}"
    )


def _check(case: Case, path: Path) -> Check:
    head = case.headline()
    truth = {
        "results": path.results,
        "report": path.report,
        "wanted": {
            u.name: {case.n[f"o_{k}"]: [case.text(k, case.right(u)[k]), case.tolerance(k)] for k in case.wanted}
            for u in case.units
        },
        "given": {u.name: {"n": _outputs(case), **case.given(u)} for u in case.units},
        "headlines": [[u.name, case.shown(head, case.right(u)[head])] for u in case.units],
        "untouched": {p: hashlib.sha256(text.encode()).hexdigest() for p, text in case.files().items()},
    }
    return Check(program(f"{case.identity()}\n\n{_CHECK}"), json.dumps(truth))


def _outputs(case: Case) -> dict[str, str]:
    return {key: case.n[f"o_{key}"] for key in case.wanted}


def broken(kind: type[Case], recipe: str, task: Task) -> Iterator[tuple[str, Mapping[str, bytes | None]]]:
    """Results of a script that misses a rule, a unit left out, a cent, a tampered outside source, an empty report."""
    folder = Folder(recipe).resolve().parent
    case = kind(world.build(folder.name, task.seed, task.size), folder)
    truth = json.loads(task.check.truth)
    results = truth["results"]
    for unit in case.units:
        if unit.twist:
            wrong = {u.name: case.figures(u.facts, case.features - {unit.twist}) for u in case.units}
            yield f"missed: {case.twist(unit.twist).title}", {results: _written(case, wrong)}
    right = {u.name: dict(case.right(u)) for u in case.units}
    last = case.units[-1].name
    if len(right) > 1:
        yield "the last one was left out", {results: _written(case, {k: v for k, v in right.items() if k != last})}
    key = case.wanted[-1]
    step = 1 + int(2 * case.slack.get(key, 0))
    off = right | {last: right[last] | {key: right[last][key] + step}}
    yield f"{key} one unit off", {results: _written(case, off)}
    yield "the report states no figures", {truth["report"]: b"# Report\n\nEverything agrees.\n"}
    yield "the outside source was edited", {case.controls_path: case.controls_file().encode() + b"x,y,0\n"}


def _written(case: Case, figures: Mapping[str, Mapping[str, int]]) -> bytes:
    found: dict[str, Any] = {
        name: {case.n[f"o_{k}"]: case.text(k, values[k]) for k in case.wanted} for name, values in figures.items()
    }
    return json.dumps(found, indent=2, sort_keys=True).encode() + b"\n"
