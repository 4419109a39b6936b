"""One instance of a document template, and the task that it becomes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from simulator.core.task import Style, Task
from simulator.tasks import words

from . import furniture, noise, truth
from .house import House
from .paper import Paper
from .path import Path
from .truth import Results

KIND = "documents"
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Case:
    """title: of the README; request, about, rules: the user's words, what the README says of the folder, and the rules
    of the question, a paragraph each. form: as files/form.py.txt reads it. files: further text files of the repository.
    results: the right ones. mistakes: what a careless agent would hand over instead, by name."""

    house: House
    title: str
    request: str
    about: Sequence[str]
    rules: Sequence[str]
    papers: Sequence[Paper]
    results: Results
    form: Mapping[str, Any]
    mistakes: Mapping[str, Results]
    talk: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, object] = field(default_factory=dict)


def drawn(build: Callable[[int], W], results: Callable[[W, str], Results], mistakes: Iterable[str]) -> W:
    """The first of the worlds of a seed (by attempt, from 0) in which every careless way shows in the results."""
    for attempt in itertools.count():
        world = build(attempt)
        right = results(world, "")
        if all(results(world, careless) != right for careless in mistakes):
            return world
    raise AssertionError("unreachable")


def task(
    template: str, seed: int, size: str, style: Style, case: Case, tell: Callable[[Path], str], name: str = "papers"
) -> Task:
    """tell: adds the beats of the solution and gives the closing words. name: last part of the repository's name."""
    r = words.stream(seed, template, "surroundings", size)
    others = noise.papers(r, case.house, -(-sum(p.needed for p in case.papers) * 55 // 100))
    papers = [*case.papers, *others]
    path = Path(words.stream(seed, template, "path", size, style.documents), case, papers, style, size)
    path.opening()
    closing = tell(path)
    path.ending()
    steps = path.finished(closing)
    history = furniture.history(r, case, papers)
    called = f"{words.plain(case.house.firm.short.split()[0])}-{name}-{case.house.day:%y%m}"
    check = truth.check(case.results, papers)
    return Task(template, KIND, size, seed, called, case.request, history, steps, check)


def broken(case: Case) -> list[tuple[str, Mapping[str, bytes | None]]]:
    """Results that must fail the check: the template's mistakes, a result left out, and the last figure changed."""
    out: list[tuple[str, Mapping[str, bytes | None]]] = [
        (name, truth.spoilt(case.results, wrong)) for name, wrong in case.mistakes.items()
    ]
    last = list(case.results)[-1]
    return [*out, (f"{last.rsplit('/', 1)[-1]} is missing", {last: None})]
