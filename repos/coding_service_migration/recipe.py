"""A web service moves from one kind of handlers to another, through all callers: each part of a WSGI interface that is
still of the old kind is rewritten by the rules of a document, and then the shim between the two goes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from simulator.core.task import Style, Task

from .._kit_coding import runs, work
from .._kit_coding.package import Item, World, build
from .._kit_coding.render import NEW
from .._kit_coding.task import Job, Variant, assemble, pick
from .._kit_coding.task import broken as variants
from .._kit_coding.walk import Walk

KIND = "coding"
TEMPLATE = "coding_service_migration"
SHIM = "shim"
COUNTS = {"small": (1, 1), "medium": (2, 3), "long": (6, 6)}
RULES = "docs/interface.md"


def make(seed: int, size: str, style: Style) -> Task:
    """The task of a seed: the last part of the old kind (small), the last two or three, or all six (long)."""
    job = drawn(seed, size)
    walk, world = job.walk(style), job.world
    turns, parts = job.turns(walk), job.items[:-1]
    walk.plan("Read the rules of both kinds", *[f"Move {i.title}" for i in job.items], "Changelog and final run")
    pkg = world.package
    base = [RULES, f"{pkg}/legacy.py", f"{pkg}/wire.py", f"{pkg}/fields.py", f"{pkg}/routes.py", f"{pkg}/store.py"]
    first = f"In {world.repo} {', '.join(i.title for i in parts)} are still of the old kind."
    green = "All cases pass; those that are there describe what clients see in both kinds."
    work.orient(walk, first, base[:2] if job.brief else base, brief=job.brief, after=green)
    walk.search(r"\bOldRoutes\b", pkg)
    walk.done("Read the rules of both kinds")
    start, room = len(walk.steps), 14
    each = (turns - room - start) / len(parts)
    for number, item in enumerate(parts):
        _part(walk, item, round(start + each * (number + 0.4)), brief=job.brief)
        walk.done(f"Move {item.title}")
    _shim(walk, job.items[-1], brief=job.brief)
    work.note(walk, job.items)
    summary = f"All parts of {world.repo} are of the new kind and keep every promise of {RULES}; the shim is gone."
    work.finish(walk, job.items, summary, brief=job.brief)
    return assemble(job, walk)


def _part(walk: Walk, item: Item, until: int, *, brief: bool) -> None:
    """One part: what it does now, how a part of the new kind looks, the change, and the promises as tests."""
    walk.item = item
    about = item.text("about").split("\n\n")
    walk.read(item.code[0], why="the part that comes next", insight="")
    walk.saw(about[0])
    walk.read(item.tests[0], why="to see which answers are promised already", insight=about[-1])
    if not brief:
        work.probe(walk, item, "Today's answers, good and bad ones, so that I can compare them afterwards.",
                   "Statuses and bodies as the old kind gives them.")  # fmt: skip
        moved = [i for i in walk.world.items.values() if i.key != SHIM and walk.stages[i.code[0]][i.key] == NEW]
        if moved:
            walk.read(walk.rng.choice(moved).code[0], why="a part of the new kind, as a model")
        work.wander(walk, until)
    slip = bool(walk.world.slips(item)) and walk.rng.random() < (0.3 if brief else 0.6)
    work.change(walk, item, f"`{item.code[0]}` in the new form.", insight=item.text("cause"), slip=slip)
    work.test(walk, item)
    work.add_tests(walk, item, "The promises that this part did not keep so far become tests.")
    if slip:
        work.test(walk, item, fails=item.text("slip"))
        walk.bring(item.code[0], {item.key: NEW}, "So that is put right.", insight=item.text("fix"))
    work.test(walk, item, group=True)
    if not brief:
        work.test(walk, item)
        work.again(walk, item)


def _shim(walk: Walk, item: Item, *, brief: bool) -> None:
    """Nobody uses it, so it goes; the document follows."""
    walk.item = item
    intent = "Does anything still speak of the old kind?"
    work.probe(walk, item, intent, "Only the shim itself does, so it can go.")
    walk.bring(item.code[0], {item.key: NEW}, "I remove it.", insight=item.text("cause"))
    walk.bring(RULES, {item.key: NEW}, f"{RULES} describes one kind from now on.", insight=item.text("fix"))
    if not brief:
        command = f"python -m {walk.world.package} routes"
        walk.run(command, "Are all paths still there?", "The same paths and methods as before.")
        walk.run(runs.whole(walk.world)[1] + " 2>&1 | tail -n 4", "And everything without the shim?",
                 "Nothing misses it.")  # fmt: skip


def broken(task: Task) -> tuple[Variant, ...]:
    """Wrong ends of the work, each to be laid over the finished workspace."""
    return variants(drawn(task.seed, task.size))


def drawn(seed: int, size: str) -> Job:
    """What the seed and the size ask for; the shim always comes last."""
    world = build("service", seed)
    rng = Random(f"{TEMPLATE} {seed} {size}")
    parts = pick(world, seed, size, COUNTS, [key for key in world.items if key != SHIM])
    items = (*parts, world.items[SHIM])
    return Job(TEMPLATE, seed, size, world, items, _prompt(world, items, rng))


def _prompt(world: World, items: Sequence[Item], rng: Random) -> str:
    head = rng.choice((
        f"{world.repo} has two kinds of handlers and should have one.",
        f"Please finish the move of {world.repo} to the new kind of handlers.",
        f"The old kind of handlers in {world.repo} has to go.",
    ))  # fmt: skip
    listed = "\n".join(f"- {i.text('issue')}" for i in items)
    end = rng.choice((
        "Statuses and bodies of good answers must not change for any client.",
        "Clients must not notice anything but better answers to their mistakes.",
    ))  # fmt: skip
    return (
        f"{head} {RULES} describes both, and has the seven promises and the rules of the desk that every part has to "
        f"keep. What is left:\n\n{listed}\n\n{end} Tests that exist stay as they are and pass; add tests for the "
        f"promises that a part did not keep before. No dependencies, a line in CHANGELOG.md for each. "
        f"`python -m unittest discover -s tests -t .` runs all tests, none of them needs a network."
    )
