"""A module that has grown too large is taken apart without breaking anybody: classes move out of a scheduler's engine
into modules of their own, callers follow, old imports keep working, and not a test of before is touched."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from simulator.core.task import Style, Task

from .._kit_coding import prose, runs, work
from .._kit_coding.package import Item, World, build
from .._kit_coding.render import NEW
from .._kit_coding.task import Job, Variant, assemble, pick
from .._kit_coding.task import broken as variants
from .._kit_coding.walk import Walk

KIND = "coding"
TEMPLATE = "coding_scheduler_split"
COUNTS = {"small": (1, 1), "medium": (2, 3), "long": (6, 6)}
PLAN = "docs/plan.md"


def make(seed: int, size: str, style: Style) -> Task:
    """The task of a seed: one class moves (small), those of two or three modules, or of all six (long)."""
    job = drawn(seed, size)
    walk, world = job.walk(style), job.world
    turns, engine = job.turns(walk), f"{world.package}/engine.py"
    walk.plan("Read the engine and run the suite", *[f"Move {i.title}" for i in job.items], "Changelog and final run")
    reads = [PLAN, engine] if job.brief else [PLAN, engine, "docs/engine.md", "tests/test_engine.py"]
    first = f"`{engine}` of {world.repo} is to be taken apart: {', '.join(i.title for i in job.items)}."
    green = "All cases pass, and they are what must not change."
    work.orient(walk, first, reads, brief=job.brief, after=green)
    walk.done("Read the engine and run the suite")
    start, each = len(walk.steps), (turns - 7 - len(walk.steps)) / len(job.items)
    for number, item in enumerate(job.items):
        _move(walk, item, round(start + each * (number + 0.4)), brief=job.brief)
        walk.done(f"Move {item.title}")
    work.note(walk, job.items)
    summary = f"The engine of {world.repo} is smaller by {len(job.items)} parts, and nobody has to change an import."
    work.finish(walk, job.items, summary, brief=job.brief)
    return assemble(job, walk)


def _move(walk: Walk, item: Item, until: int, *, brief: bool) -> None:
    """Who uses it, what it needs; the new module, the engine, the callers; then proof."""
    walk.item = item
    target, engine = item.code[0], item.code[1]
    for name in item.lines("search"):
        walk.search(rf"\b{name}\b", insight=walk.voice.once(item.text("about").split("\n\n")))
    for path in item.code[2:]:
        walk.read(path, why="which imports it from the engine")
    if not brief:
        for path in item.lines("read"):
            walk.read(path, why="which lies near it")
        work.wander(walk, until)
    insight = item.text("cause")
    walk.bring(target, {item.key: NEW}, f"First `{target}`, with the text as it is in the engine.", insight=insight)
    walk.bring(engine, {item.key: NEW}, "Now the engine gives it up and imports it.", insight=item.text("fix"))
    for path in item.code[2:]:
        walk.bring(path, {item.key: NEW}, f"`{path}` imports from the new place.")
    _unchanged(walk)
    work.probe(walk, item, "Where do the names live now, and is it the same class in both places?",
               "One class, one home, and the old name leads to it.")  # fmt: skip
    work.add_tests(walk, item, f"The module gets a test file of its own, `{item.tests[0]}`.")
    work.test(walk, item)
    work.document(walk, item)
    if not brief and walk.rng.random() < 0.6:
        work.review(walk, item)


def _unchanged(walk: Walk) -> None:
    """The tests of before, in one of the ways to run them that was not used so far."""
    paths = ["tests/test_engine.py", "tests/test_report.py", "tests/test_config.py"]
    extra = [f"{c} && git diff --stat" for c in runs.whole(walk.world)]
    options = [runs.several(walk.world, paths), *runs.of(walk.world, paths[0]), *extra]
    command = next((c for c in options if c not in walk.commands), options[0])
    what = "the tests of before"
    walk.run(command, walk.voice.say(prose.RUN, what=f"`{command}`", expect=f"{what} without a failure"),
             "They pass without a change to any of them.")  # fmt: skip


def broken(task: Task) -> tuple[Variant, ...]:
    """Wrong ends of the work, each to be laid over the finished workspace. The first try of a move is an alias: a new
    module that only imports from the engine."""
    return variants(drawn(task.seed, task.size))


def drawn(seed: int, size: str) -> Job:
    """What the seed and the size ask for."""
    world = build("scheduler", seed)
    rng = Random(f"{TEMPLATE} {seed} {size}")
    items = tuple(pick(world, seed, size, COUNTS, [k for k, i in world.items.items() if i.kind == "move"]))
    return Job(TEMPLATE, seed, size, world, items, _prompt(world, rng), extra={PLAN: _plan(world, items, rng)})


def _plan(world: World, items: Sequence[Item], rng: Random) -> str:
    who = world.names[f"p{rng.randint(1, 5)}"]
    lines = [f"# Taking the engine apart ({who})", "", rng.choice((
        "The engine has become the place where everything is put that has no other place.",
        "Two people can hardly work on the engine at the same time any more, and the report imports all of it.",
        "To read the engine one has to read past everything that it is made of.",
    )), "", "## What moves", ""]  # fmt: skip
    lines += [f"* {i.text('issue')}" for i in items]
    lines += ["", "## Rules", "", "* The text of a class does not change when it moves.",
              "* A module that is split off never imports the engine.",
              "* Inside of the package everybody imports from the new place. From outside, names that came from "
              "`engine` still do, and are the same objects.",
              "* Tests that exist stay as they are. Each new module gets a test file of its own.", ""]  # fmt: skip
    return "\n".join(lines)


def _prompt(world: World, rng: Random) -> str:
    return rng.choice((
        f"Please carry out {PLAN} in {world.repo}: the engine is to be split, and nothing else may change.",
        f"{PLAN} says how the engine of {world.repo} is to be taken apart. Do that, step by step.",
        f"The engine module of {world.repo} is too large. {PLAN} has what moves where, and the rules for it.",
    )) + (
        " Behaviour stays as it is to the last detail, other repositories import from the engine and must not notice. "
        "Run the tests after each step. At the end there is a line in CHANGELOG.md for each part, and the whole suite "
        "(`python -m unittest discover -s tests -t .`) passes."
    )  # fmt: skip
