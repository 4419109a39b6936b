"""From a drawn piece of work and the agent's walk to a Task, and the broken solutions that its check must refuse."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from simulator.core.task import Style, Task

from . import check, history
from .package import Item, World, is_test, staged
from .render import NEW, OLD, SLIP
from .walk import Walk

#: replies that a path has, about. Results are shorter where edits are not echoed, so the window takes more of them
TURNS = {"small": (15, 19), "medium": (42, 51), "long": (108, 122)}
UNECHOED_MORE = 22
Variant = tuple[str, Mapping[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Job:
    """What a seed and a size ask for. red: tests of what is asked for are there, and fail. extra: files of the last
    commit. prompt: the request."""

    template: str
    seed: int
    size: str
    world: World
    items: tuple[Item, ...]
    prompt: str
    red: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def brief(self) -> bool:
        return self.size == "small"

    def head(self) -> dict[str, str]:
        return history.head(self.world, self.items, red=self.red, extra=dict(self.extra))

    def walk(self, style: Style) -> Walk:
        """At the start of the work."""
        rng = Random(f"{self.template} walk {self.seed} {self.size}")
        return Walk(self.world, self.head(), self.items, rng, style, red=self.red)

    def turns(self, walk: Walk) -> int:
        """How many replies to aim at."""
        more = UNECHOED_MORE if self.size == "long" and not walk.echoes else 0
        return walk.rng.randint(*TURNS[self.size]) + more


def pick(
    world: World, seed: int, size: str, counts: Mapping[str, tuple[int, int]], keys: Sequence[str] = ()
) -> list[Item]:
    """Items of a task in a drawn order; counts: size -> from and to how many. keys: among which, all by default."""
    rng = Random(f"{world.repo} items {seed} {size}")
    known = sorted(keys or world.items)
    return [world.items[k] for k in rng.sample(known, min(len(known), rng.randint(*counts[size])))]


def assemble(job: Job, walk: Walk) -> Task:
    """The task, after its way was walked to the end."""
    return Task(
        template=job.template,
        kind="coding",
        size=job.size,
        seed=job.seed,
        name=job.world.repo,
        prompt=job.prompt,
        history=history.commits(job.world, job.items, red=job.red, extra=dict(job.extra)),
        steps=tuple(walk.steps),
        check=check.check(job.world, job.items, job.head(), walk.files),
    )


def broken(job: Job) -> tuple[Variant, ...]:
    """Each laid over the finished workspace: a point left out, its first wrong try, and tests bent instead of code."""
    world, out = job.world, []
    for item in job.items:
        out.append((f"{item.title}: left out", _laid(world.undone(item, OLD))))
        if world.slips(item):
            out.append((f"{item.title}: the first try", _laid(world.undone(item, SLIP))))
    item = job.items[0]
    final = world.files(staged(world, (), NEW))
    bent = {p: _skipped(p, final[p]) for p in item.tests if p in final}
    out.append((f"{item.title}: left out, and its tests skipped", _laid(world.undone(item, OLD) | bent)))
    kept = check.kept(job.head(), final)
    path = next(p for p in sorted(kept) if _skipped(p, final[p]) != final[p])
    out.append((f"all done, but the cases that came with {path} skipped", {path: _skipped(path, final[path]).encode()}))
    return tuple(out)


def _laid(texts: Mapping[str, str]) -> dict[str, bytes | None]:
    return {path: text.encode() or None for path, text in texts.items()}


def _skipped(path: str, text: str) -> str:
    assert is_test(path)
    if path.endswith(".py"):
        return re.sub(r"^    def test_", '    @unittest.skip("flaky")\n    def test_', text, flags=re.M)
    return re.sub(r"^test\(", "test.skip(", text, flags=re.M)
