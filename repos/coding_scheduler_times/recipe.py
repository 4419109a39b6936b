"""A job scheduler whose jobs run twice, late or not at all: faults of local time (hours that are left out or come
twice, short months, offsets) and of several workers at once (a race, leases that are over, retries)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from simulator.core.task import Style, Task

from .._kit_coding import work
from .._kit_coding.package import Item, World, build
from .._kit_coding.task import Job, Variant, assemble, pick
from .._kit_coding.task import broken as variants

KIND = "coding"
TEMPLATE = "coding_scheduler_times"
FAULTS = ("drift", "fence", "fold", "gap", "monthly", "race", "retry", "stamps")
COUNTS = {"small": (1, 1), "medium": (2, 3), "long": (6, 8)}
INCIDENTS = "docs/incidents.md"


def make(seed: int, size: str, style: Style) -> Task:
    """The task of a seed: one incident (small), two or three, or six to eight in a file (long)."""
    job = drawn(seed, size)
    walk, world = job.walk(style), job.world
    turns = job.turns(walk)
    walk.plan("Read the rules and run the suite", *[i.title for i in job.items], "Changelog and final run")
    one = f"An incident of {world.repo}: {job.items[0].title}."
    several = f"{len(job.items)} incidents of {world.repo}, {job.items[0].title} first."
    reads = [*job.extra, *sorted({p for i in job.items for p in i.lines("read") if p.startswith("docs/")})]
    work.orient(walk, several if len(job.items) > 1 else one, reads, brief=job.brief)
    walk.done("Read the rules and run the suite")
    work.through(walk, job.items, turns, brief=job.brief, share=0.45)
    done = "The cause is" if len(job.items) == 1 else f"The {len(job.items)} causes are"
    summary = f"{done} found and removed in {world.repo}; the documents were right, and none of them had to change."
    work.finish(walk, job.items, summary, brief=job.brief)
    return assemble(job, walk)


def broken(task: Task) -> tuple[Variant, ...]:
    """Wrong ends of the work, each to be laid over the finished workspace."""
    return variants(drawn(task.seed, task.size))


def drawn(seed: int, size: str) -> Job:
    """What the seed and the size ask for."""
    world = build("scheduler", seed)
    rng = Random(f"{TEMPLATE} {seed} {size}")
    items = tuple(pick(world, seed, size, COUNTS, FAULTS))
    extra = {INCIDENTS: _incidents(world, items, rng)} if size == "long" else {}
    return Job(TEMPLATE, seed, size, world, items, _prompt(world, items, rng, extra), extra=extra)


def _incidents(world: World, items: Sequence[Item], rng: Random) -> str:
    names, lines = world.names, [f"# Incidents at the {world.names['places']}", ""]
    for number, item in enumerate(items, start=1):
        when = f"{names['y']}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        lines += [f"## {number}. {item.title[0].upper()}{item.title[1:]}", ""]
        lines += [f"Noted {when} by {names[f'p{rng.randint(1, 5)}']} at {names[f'l{rng.randint(1, 5)}']}.", ""]
        lines += [item.text("issue"), ""]
    return "\n".join(lines)


def _prompt(world: World, items: Sequence[Item], rng: Random, extra: Mapping[str, str]) -> str:
    rule = rng.choice((
        "docs/times.md and docs/engine.md say how it is meant to be. Find the cause before you change anything.",
        "What is right is written in docs/times.md and docs/engine.md; find out first why it goes wrong.",
    ))  # fmt: skip
    tests = rng.choice((
        "Each needs a test that fails before and is not a matter of luck: no sleeping, no real clock, no network.",
        "Write a test for each that would have caught it, with a clock that stands still; leave existing tests alone.",
    ))  # fmt: skip
    end = "A line in CHANGELOG.md for each. `python -m unittest discover -s tests -t .` runs everything."
    if extra:
        return (
            f"{world.repo} runs the jobs of {world.trade.about}. {INCIDENTS} lists {len(items)} incidents; please "
            f"work through them in order. {rule} {tests} {end} Tell me for each what the cause was."
        )
    told = "\n\n".join(f"{n}. {i.text('issue')}" if len(items) > 1 else i.text("issue") for n, i in enumerate(items, 1))
    head = f"This went wrong with {world.repo}, which runs the jobs of {world.trade.about}:"
    return f"{head}\n\n{told}\n\n{rule} {tests} {end}"
