"""A data frame that was written for hundreds of rows is used for a hundred thousand: functions that compare each row
with each other row become fast without a change to what they promise. Effort is counted, never timed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from simulator.core.task import Style, Task

from .._kit_coding import prose, runs, work
from .._kit_coding.package import Item, World, build
from .._kit_coding.task import Job, Variant, assemble, pick
from .._kit_coding.task import broken as variants
from .._kit_coding.walk import Walk

KIND = "coding"
TEMPLATE = "coding_frame_speed"
COUNTS = {"small": (1, 1), "medium": (2, 3), "long": (6, 7)}
SPEED, PROMISES, COUNTED = "docs/speed.md", "docs/semantics.md", "tests/counted.py"


def make(seed: int, size: str, style: Style) -> Task:
    """The task of a seed: one slow function (small), two or three, or nearly all of the package (long)."""
    job = drawn(seed, size)
    walk, world = job.walk(style), job.world
    turns = job.turns(walk)
    walk.plan("Read what is promised", *[f"Speed up {i.title}" for i in job.items], "Changelog and final run")
    reads = [SPEED, COUNTED] if job.brief else [SPEED, PROMISES, COUNTED, f"{world.package}/frame.py"]
    first = f"{', '.join(i.title for i in job.items)}: too slow in {world.repo}."
    green = "All cases pass, so whatever is slow is at least right, and has to stay so."
    work.orient(walk, first[0].upper() + first[1:], reads, brief=job.brief, after=green)
    walk.done("Read what is promised")
    start, each = len(walk.steps), (turns - 7 - len(walk.steps)) / len(job.items)
    for number, item in enumerate(job.items):
        _speed_up(walk, item, round(start + each * (number + 0.4)), brief=job.brief)
        walk.done(f"Speed up {item.title}")
        if number in (2, len(job.items) - 1):
            work.note(walk, job.items[0 if number <= 2 else 3 : number + 1])
    summary = f"No function of {world.repo} that was asked for compares each row with each other row any more."
    work.finish(walk, job.items, summary, brief=job.brief)
    return assemble(job, walk)


def _speed_up(walk: Walk, item: Item, until: int, *, brief: bool) -> None:
    """Measure, understand, change, measure again; the promises are held by the tests that were there."""
    work.examine(walk, item, brief=brief)
    work.probe(walk, item, "I count the effort for growing sizes before I touch anything.",
               "Twice the size costs about four times as much where it should cost twice as much.")  # fmt: skip
    if not brief:
        work.wander(walk, until)
    work.add_tests(walk, item, "The effort becomes a test, by counting.")
    work.test(walk, item, fails="That is the slowness as a test.", group=True)
    slip = bool(walk.world.slips(item)) and walk.rng.random() < (0.4 if brief else 0.65)
    intent = f"Now `{item.code[0]}`, with the same promises."
    work.change(walk, item, intent, insight=item.text("cause"), slip=slip)
    if slip:
        work.test(walk, item, fails=item.text("slip"))
        walk.bring(item.code[0], {item.key: "new"}, "The promise comes first.", insight=item.text("fix"))
    work.test(walk, item)
    work.again(walk, item)
    if not brief:
        _neighbours(walk, item)


def _neighbours(walk: Walk, item: Item) -> None:
    """Who else relies on the order of the result."""
    others = [p for p in ("tests/test_groups.py", "tests/test_order.py", "tests/test_rows.py", "tests/test_joins.py",
                          "tests/test_pivots.py", "tests/test_windows.py") if p not in item.tests]  # fmt: skip
    paths = [item.tests[0], *walk.rng.sample(others, 2)]
    command = runs.several(walk.world, paths)
    if command in walk.commands:
        return
    n = sum(runs.cases(walk.files[p]) for p in paths)
    walk.run(command, "Does anything else depend on the order that I may have changed?",
             walk.voice.say(prose.SAW_PASS, what="the neighbourhood", n=n))  # fmt: skip


def broken(task: Task) -> tuple[Variant, ...]:
    """Wrong ends of the work, each to be laid over the finished workspace."""
    return variants(drawn(task.seed, task.size))


def drawn(seed: int, size: str) -> Job:
    """What the seed and the size ask for."""
    world = build("frame", seed)
    rng = Random(f"{TEMPLATE} {seed} {size}")
    items = tuple(pick(world, seed, size, COUNTS))
    return Job(TEMPLATE, seed, size, world, items, _prompt(world, items, rng))


def _prompt(world: World, items: Sequence[Item], rng: Random) -> str:
    names = world.names
    head = rng.choice((
        f"{names['p3']} complains about the speed of {world.repo}, and is right.",
        f"{world.repo} is too slow for the files that we have by now.",
        f"Since {names['l2']} sends its files as well, {world.repo} takes too long.",
    ))  # fmt: skip
    told = "\n\n".join(f"{n}. {i.text('issue')}" if len(items) > 1 else i.text("issue") for n, i in enumerate(items, 1))
    end = rng.choice((
        "No cleverness beyond that, and no dependency.",
        "Other functions are fine as they are; please leave them alone.",
        "Keep the functions readable, somebody has to look after them.",
    ))  # fmt: skip
    return (
        f"{head}\n\n{told}\n\n{PROMISES} has what must not change for any input, missing values and ties included. "
        f"Show the difference with counts ({COUNTED}), not with a stopwatch, and leave a test for each behind; tests "
        f"that exist stay as they are. {end} A line in CHANGELOG.md for each."
    )
