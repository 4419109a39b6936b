"""Puts one year-end together: world, chapters, repository, recorded path, check."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from simulator.core.task import SIZES, Check, Style, Task

from ..._kit_finance.checks import program
from ..._kit_finance.journal import Journal, spin
from . import assets_path, consolidation_path, frame, house, loans_path, receivables_path, returns_path
from .assets import Assets
from .consolidation import Consolidation
from .loans import Loans
from .receivables import Receivables
from .returns import Returns
from .texts import FILES
from .world import Chapter, World, build, folder_name

KIND = "finance"

Part = tuple[Callable[[World], Chapter], Callable[[Any, Journal], None]]

#: in every task
CORE: tuple[Part, ...] = (
    (Loans, loans_path.play),
    (Returns, returns_path.play),
    (Consolidation, consolidation_path.play),
)
#: long tasks have these as well
MORE: tuple[Part, ...] = ((Assets, assets_path.play), (Receivables, receivables_path.play))


def assemble(template: str, seed: int, size: str, style: Style) -> Task:
    if size not in SIZES:
        raise ValueError(f"size is {size!r}, expected one of {SIZES}")
    w = build(seed, size)
    r = w.part("order")
    core = r.sample(CORE, 1) if size == "small" else CORE
    parts = [*core, *(r.sample(MORE, r.choice((1, 2, 2))) if size == "long" else ())]
    r.shuffle(parts)
    pairs = [(build_chapter(w), play) for build_chapter, play in parts]
    chapters = [chapter for chapter, _ in pairs]
    files = house.library(w) | {house.policy_path(w): house.policy(w, chapters), "README.md": house.readme(w, chapters)}
    for chapter in chapters:
        files |= chapter.files()
    f = frame.Frame(w, chapters)
    j = Journal(w.part("path"), style, files, f.checklist())
    j.spare = {"small": 0, "medium": w.part("spare").randint(0, 7), "long": None}[size]
    frame.opening(f, j)
    for chapter, play in pairs:
        play(chapter, j)
    frame.closing(f, j)
    results = {name: rows for c in chapters for name, rows in c.truth().items()}
    truth = {"results": results, "report": f.report, "headlines": [row for c in chapters for row in c.headlines()]}
    check = Check(program((FILES / "check.py").read_text(encoding="utf-8")), json.dumps(truth))
    prompt = spin(w.part("prompt"), f.prompt())
    history = house.history(w, chapters, files)
    return Task(template, KIND, size, seed, folder_name(w), prompt, history, tuple(j.steps), check)
