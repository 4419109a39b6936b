"""A rule language grows: forms that a written proposal describes are added through scanner, tree, reader, machine,
layout and remarks, with tests and documents."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from simulator.core.task import Style, Task

from .._kit_coding import work
from .._kit_coding.package import Item, World, build
from .._kit_coding.task import Job, Variant, assemble, pick
from .._kit_coding.task import broken as variants

KIND = "coding"
TEMPLATE = "coding_parser_growth"
FEATURES = ("cond", "default", "every", "index", "let", "member")
#: touch few modules
NARROW = ("index", "member")
COUNTS = {"small": (1, 1), "medium": (2, 2), "long": (5, 6)}
PROPOSAL = "docs/proposal.md"


def make(seed: int, size: str, style: Style) -> Task:
    """The task of a seed: one form of two (small), two, or five and more."""
    job = drawn(seed, size)
    walk, world = job.walk(style), job.world
    turns = job.turns(walk)
    walk.plan("Read the proposal and the package", *[i.title for i in job.items], "Changelog and final run")
    first = f"A proposal for {world.repo} is to be carried out: {', '.join(i.title for i in job.items)}."
    reads = [PROPOSAL] if job.brief else [PROPOSAL, "docs/language.md", f"{world.package}/{world.names['m_tree']}.py"]
    work.orient(walk, first, reads, brief=job.brief)
    walk.done("Read the proposal and the package")
    work.through(walk, job.items, turns, brief=job.brief, share=0.25)
    n = len(job.items)
    done = "The new form is" if n == 1 else f"The {n} new forms are"
    work.finish(walk, job.items, f"{done} in {world.repo} as the proposal describes, each in every module that knows "
                "the language and in docs/language.md.", brief=job.brief)  # fmt: skip
    return assemble(job, walk)


def broken(task: Task) -> tuple[Variant, ...]:
    """Wrong ends of the work, each to be laid over the finished workspace."""
    return variants(drawn(task.seed, task.size))


def drawn(seed: int, size: str) -> Job:
    """What the seed and the size ask for."""
    world = build("rules", seed)
    rng = Random(f"{TEMPLATE} {seed} {size}")
    items = tuple(pick(world, seed, size, COUNTS, NARROW if size == "small" else FEATURES))
    extra = {PROPOSAL: _proposal(world, items, rng)}
    return Job(TEMPLATE, seed, size, world, items, _prompt(world, items, rng), extra=extra)


def _proposal(world: World, items: Sequence[Item], rng: Random) -> str:
    names = world.names
    lines = [
        f"# Proposal: {', '.join(i.title for i in items)}", "",
        f"By {names['p1']}, read by {names['p2']} and {names['p5']}. "
        + rng.choice((f"Agreed at {names['l3']}.", "Agreed, with the changes that were asked for.", "Accepted.")), "",
        "## Why", "",
        rng.choice((
            f"{names['parties'].title()} write around what is missing, and what they write is hard to read.",
            f"Half of the rules at {names['l1']} repeat a part three times because the language has no words for it.",
            f"Each of these was asked for by more than one {names['party']}, and each was refused once for want of a "
            "good form.",
        )), "",
    ]  # fmt: skip
    for item in items:
        lines += [f"## {item.title[0].upper()}{item.title[1:]}", "", item.text("issue"), ""]
    lines += ["## What stays", "", "Every rule that can be read today keeps its tree and its value, apart from names "
              "that become keywords.", ""]  # fmt: skip
    return "\n".join(lines)


def _prompt(world: World, items: Sequence[Item], rng: Random) -> str:
    head = rng.choice((
        f"{PROPOSAL} has been accepted; please carry it out in {world.repo}.",
        f"Please implement {PROPOSAL} in {world.repo}, all of it.",
        f"The rule language of {world.repo} gets what {PROPOSAL} describes. Please build it.",
    ))  # fmt: skip
    return (
        f"{head} It is about {' and '.join(i.title for i in items)}. A new form is complete when it is read, worked "
        f"out, written in normal form, known to the remarks, tested in each of these, and described in "
        f"docs/language.md. Tests that exist stay as they are and pass; no dependencies. A line in CHANGELOG.md "
        f"for each. The suite runs with `python -m unittest discover -s tests -t .`"
    )
