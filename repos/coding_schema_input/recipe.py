"""Input gets past a validation library in TypeScript, or is refused for the wrong reason: faults to mend and methods to
add in code that node runs by stripping its types, tested with node's own runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from simulator.core.task import Style, Task

from .._kit_coding import work
from .._kit_coding.package import Item, World, build
from .._kit_coding.task import Job, Variant, assemble, pick
from .._kit_coding.task import broken as variants

KIND = "coding"
TEMPLATE = "coding_schema_input"
NEEDS = ("node",)
COUNTS = {"small": (1, 1), "medium": (2, 3), "long": (7, 8)}
NARROW = ("absent", "blank", "nearest", "own", "paths")
REQUESTS = "docs/requests.md"


def make(seed: int, size: str, style: Style) -> Task:
    """The task of a seed: one fault (small), two or three points, or nearly all of a list (long)."""
    job = drawn(seed, size)
    walk, world = job.walk(style), job.world
    turns = job.turns(walk)
    walk.plan("Read the contract and run the tests", *[i.title for i in job.items], "Changelog and final run")
    base = ["docs/schemas.md", "package.json", "tools/test.sh", "src/schema.ts"]
    reads = [*job.extra, *(base[:1] if job.brief else base)]
    first = f"{world.repo} is TypeScript that node runs as it is; this is about {job.items[0].title}"
    more = f" and {len(job.items) - 1} more points." if len(job.items) > 1 else "."
    work.orient(walk, first + more, reads, brief=job.brief)
    walk.done("Read the contract and run the tests")
    work.through(walk, job.items, turns, brief=job.brief, share=0.5)
    done = "The point is" if len(job.items) == 1 else f"All {len(job.items)} points are"
    summary = f"{done} done in {world.repo}; only syntax that can be erased was used."
    work.finish(walk, job.items, summary, brief=job.brief)
    return assemble(job, walk)


def broken(task: Task) -> tuple[Variant, ...]:
    """Wrong ends of the work, each to be laid over the finished workspace."""
    return variants(drawn(task.seed, task.size))


def drawn(seed: int, size: str) -> Job:
    """What the seed and the size ask for."""
    world = build("schema", seed)
    rng = Random(f"{TEMPLATE} {seed} {size}")
    items = tuple(pick(world, seed, size, COUNTS, NARROW if size == "small" else ()))
    extra = {REQUESTS: _requests(world, items, rng)} if size == "long" else {}
    return Job(TEMPLATE, seed, size, world, items, _prompt(world, items, rng, extra), extra=extra)


def _requests(world: World, items: Sequence[Item], rng: Random) -> str:
    names, lines = world.names, [f"# Requests for {world.repo}", ""]
    for number, item in enumerate(items, start=1):
        kind = "fault" if item.kind == "fault" else "wish"
        lines += [f"## {number}. {item.title[0].upper()}{item.title[1:]} ({kind})", ""]
        lines += [f"{names[f'p{rng.randint(1, 5)}']}, {names[f'l{rng.randint(1, 5)}']}:", "", item.text("issue"), ""]
    return "\n".join(lines)


def _prompt(world: World, items: Sequence[Item], rng: Random, extra: Mapping[str, str]) -> str:
    rules = (
        "docs/schemas.md and docs/issues.md are the contract. Node runs the files as they are, so no enums, no "
        "parameter properties, nothing that has to be compiled, and nothing to install. Tests run with `sh "
        "tools/test.sh test/all.ts`; add some for each point, existing ones stay as they are. "
    )
    end = rng.choice((
        "A line in CHANGELOG.md for each point.",
        "CHANGELOG.md gets a line for each under Unreleased.",
    ))  # fmt: skip
    if extra:
        return f"Please work through {REQUESTS} of {world.repo} in its order, all {len(items)} points. {rules}{end}"
    told = "\n\n".join(f"{n}. {i.text('issue')}" if len(items) > 1 else i.text("issue") for n, i in enumerate(items, 1))
    return f"For {world.repo}, which checks the input of {world.trade.about}:\n\n{told}\n\n{rules}{end}"
