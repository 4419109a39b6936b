"""A rule language reads, works out or writes rules in another way than its document says: faults to mend in the parts
of an interpreter (scanner, reader, machine, layout), some with failing tests that are there already."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from simulator.core.task import Style, Task

from .._kit_coding import runs, work
from .._kit_coding.package import build
from .._kit_coding.task import Job, Variant, assemble, pick
from .._kit_coding.task import broken as variants

KIND = "coding"
TEMPLATE = "coding_parser_faults"
FAULTS = ("chain", "escapes", "exact", "lines", "parens", "power", "shortcut")
COUNTS = {"small": (1, 1), "medium": (2, 3), "long": (6, 7)}
REPORTS = "docs/open_reports.md"


def make(seed: int, size: str, style: Style) -> Task:
    """The task of a seed: one fault (small), two or three, or six and more in a file of reports (long)."""
    job = drawn(seed, size)
    walk, world = job.walk(style), job.world
    turns = job.turns(walk)
    walk.plan("Look round and run the suite", *[i.title for i in job.items], "Changelog and final run")
    first = f"This is about {job.items[0].title}" + (f" and {len(job.items) - 1} more." if len(job.items) > 1 else ".")
    failing = sum(runs.cases(world.text(p, dict.fromkeys(world.items, "new")), i.lines("group")[0])
                  for i in job.items for p in i.tests)  # fmt: skip
    red = f"Red, as announced: the new cases fail (about {failing} of them), everything else passes." if job.red else ""
    work.orient(walk, first, [*job.extra, "docs/language.md"], brief=job.brief, red=red)
    walk.done("Look round and run the suite")
    work.through(walk, job.items, turns, brief=job.brief, share=0.5)
    done = "The fault is" if len(job.items) == 1 else f"All {len(job.items)} faults are"
    work.finish(
        walk, job.items, f"{done} mended in {world.repo}; docs/language.md was right each time.", brief=job.brief
    )
    return assemble(job, walk)


def broken(task: Task) -> tuple[Variant, ...]:
    """Wrong ends of the work, each to be laid over the finished workspace."""
    return variants(drawn(task.seed, task.size))


def drawn(seed: int, size: str) -> Job:
    """What the seed and the size ask for."""
    world = build("rules", seed)
    rng = Random(f"{TEMPLATE} {seed} {size}")
    items = tuple(pick(world, seed, size, COUNTS, FAULTS))
    red = rng.random() < 0.5
    extra: Mapping[str, str] = {}
    if size == "long":
        told = [f"## {n}. {i.title[0].upper()}{i.title[1:]}\n\n{i.text('issue')}\n" for n, i in enumerate(items, 1)]
        extra = {REPORTS: f"# Open reports for {world.repo}\n\nCollected by {world.names['p4']}.\n\n" + "\n".join(told)}
    return Job(TEMPLATE, seed, size, world, items, _prompt(world, items, rng, red=red, extra=extra), red, extra)


def _prompt(world, items, rng: Random, *, red: bool, extra: Mapping[str, str]) -> str:  # type: ignore[no-untyped-def]
    judge = "docs/language.md says how it is meant; where code and document differ, the code is wrong."
    tests = (
        "Tests for it are in the repository and fail at the moment; leave them as they are and make them pass."
        if red else "Please add tests next to the existing ones; existing tests stay as they are."
    )  # fmt: skip
    rest = rng.choice((
        "Standard library only, and a line in CHANGELOG.md for each point.",
        "Small changes, please, and a line for each in CHANGELOG.md under Unreleased.",
        "Public names must keep working. CHANGELOG.md wants a line for each point.",
    ))  # fmt: skip
    if extra:
        return (
            f"The {world.names['parties']} of {world.trade.about} have sent in {len(items)} reports about the rule "
            f"language in {world.repo}, see {REPORTS}. Work through all of them in that order: find the cause of each, "
            f"mend it where it is, and show that it is mended. {judge} {tests} {rest} When all is done run the whole "
            f"suite (`python -m unittest discover -s tests -t .`) and tell me what each cause was."
        )
    told = "\n\n".join(f"{n}. {i.text('issue')}" if len(items) > 1 else i.text("issue") for n, i in enumerate(items, 1))
    what = "a fault" if len(items) == 1 else f"{len(items)} faults"
    return f"Please mend {what} in the rule language of {world.repo}.\n\n{told}\n\n{judge} {tests} {rest}"
