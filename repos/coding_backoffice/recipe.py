"""Coding tasks over a small office library: faults to mend and features to add, in a repository drawn by the seed.

The seed decides trade, names, modules, history and stages of everything; the size decides how many items are asked
for; the style decides how the recorded agent reads files. Templates are in files/.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from simulator.core.action import Edit
from simulator.core.task import Check, Style, Task

from .._kit_coding import asking
from . import history, solve
from .walk import Walk
from .world import World, build, initial

KIND = "coding"
TEMPLATE = "coding_backoffice"
N_UNITS = 12

_PROGRAM = (
    asking.PYTHON
    + """
wrong = list(ask(json.load(sys.stdin)["cases"]))
print("\\n".join(wrong))
sys.exit(1 if wrong else 0)
"""
)


def make(seed: int, size: str, style: Style) -> Task:
    """The task of a seed: "small" has one item, "medium" two or three, "long" seven to nine."""
    rng = Random(f"backoffice task {seed} {size}")
    world = build(seed, n_units=N_UNITS)
    items = _items(world, size, rng)
    faults = {i.unit.key for i in items if i.kind == "fault"}
    features = {i.unit.key for i in items if i.kind == "feature"}
    stages = initial(world, faults, features)
    reports = size == "long"
    extra = {solve.REPORTS: _reports(world, items)} if reports else {}
    files = history.files_at(world, stages, history.version_of(world)) | extra
    walk = Walk(world, stages, files, Random(f"backoffice walk {seed} {size}"), style, brief=size == "small")
    solve.orient(walk, items, reports=reports)
    noted = 0
    for number, item in enumerate(items, start=1):
        solve.work(walk, item)
        if number % 4 == 0 and number < len(items):
            solve.note_changes(walk, items[noted:number])
            noted = number
    solve.finish(walk, items, noted)
    return Task(
        template=TEMPLATE,
        kind=KIND,
        size=size,
        seed=seed,
        name=world.repo,
        prompt=_prompt(world, items, rng, reports=reports),
        history=history.commits(world, stages, extra),
        steps=tuple(walk.steps),
        check=_check(items),
    )


def _items(world: World, size: str, rng: Random) -> list[solve.Item]:
    """At least one of each kind, where there is more than one; those of one unit are neighbours, the fault first."""
    if size == "small":
        return [solve.Item(rng.choice(world.units), rng.choice(("fault", "feature")))]
    count = rng.choice((2, 3, 3)) if size == "medium" else rng.randint(7, 9)
    units = rng.sample(world.units, 2 if size == "medium" else (count + 1) // 2 + 1)
    pairs = [solve.Item(unit, kind) for unit in units for kind in ("fault", "feature")]
    chosen = sorted(rng.sample(pairs, count), key=pairs.index)
    while len({i.kind for i in chosen}) < 2:
        chosen = sorted(rng.sample(pairs, count), key=pairs.index)
    return chosen


def _prompt(world: World, items: list[solve.Item], rng: Random, *, reports: bool) -> str:
    names = world.names
    style = rng.choice((
        f"Standard library only, please. Errors come from {world.package}.{names['m_errors']}.",
        "Please add tests for each point next to the existing ones, and a line to CHANGELOG.md for each.",
        "Keep the changes small enough to review; tests with each, documents where a call is new, and the changelog.",
    ))  # fmt: skip
    if reports:
        kinds = f"{sum(i.kind == 'fault' for i in items)} faults and {sum(i.kind == 'feature' for i in items)} wishes"
        mods = ", ".join(dict.fromkeys(i.unit.names["mod"] for i in items))
        return (
            f"We want to release {world.repo} next week and I have collected what people sent in: {kinds}, see "
            f"{solve.REPORTS}. Please work through all of them in the order of the file. They concern {mods}. For the "
            f"faults, find out where they come from before you change something; docs/ says how things are meant to "
            f"be. {style} Public names that exist must keep working, other {names['places']} import them. When you "
            f"are through, run the complete suite and tell me for each number what you did."
        )
    texts = "\n\n".join(f"{n}. {i.text('issue')}" for n, i in enumerate(items, start=1))
    things = "one thing" if len(items) == 1 else f"{len(items)} things"
    return (
        f"Hi, {things} for {world.repo} before the next version.\n\n{texts}\n\n{style} The suite runs with "
        f"`python -m unittest discover -s tests -t .`"
    )


def _reports(world: World, items: list[solve.Item]) -> str:
    lines = ["# Open reports", "", f"Collected for the version after {history.version_of(world)}.", ""]
    for number, item in enumerate(items, start=1):
        kind = "fault" if item.kind == "fault" else "wish"
        lines += [f"## {number}. {item.unit.names['title']} ({kind}, `{item.unit.dotted}`)", "", item.text("issue"), ""]
    return "\n".join(lines)


def _check(items: list[solve.Item]) -> Check:
    """A case for each item, and one for each unit that the rest still works."""
    cases = []
    for item in items:
        cases += [_case(item, item.kind), _case(item, "keep")]
    unique = {c["title"]: c for c in cases}
    return Check(_PROGRAM, json.dumps({"cases": list(unique.values())}))


def _case(item: solve.Item, which: str) -> dict[str, str]:
    names = item.unit.names
    source = f"from {names['here']} import {names['Main']}\n" + item.unit.story(f"check.{which}", Random(0)) + "\n"
    return {"title": f"{names['mod']} ({which})", "source": source}


def broken(task: Task) -> Iterator[tuple[str, dict[str, bytes | None]]]:
    """Only the tests were changed, or everything but the last module."""
    head = {path: content for commit in task.history for path, content in commit.files.items()}
    edited = [a.path for s in task.steps for a in s.actions if isinstance(a, Edit)]
    modules = list(dict.fromkeys(p for p in edited if p.endswith(".py") and not p.startswith("tests/")))
    yield "tests without code", {path: head[path] for path in modules}
    yield "the last module was forgotten", {modules[-1]: head[modules[-1]]}
