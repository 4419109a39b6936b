"""How a package came to be: twenty and more commits by a few people; the last ones left what is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from simulator.core.task import Commit

from . import words
from .package import Item, World, is_test
from .render import NEW, OLD

CHANGELOG = "CHANGELOG.md"
UNRELEASED = "## Unreleased\n\n"
NOTHING = "* Nothing yet\n"


def changelog(world: World, done: Sequence[Item], released: int) -> str:
    """Newest first; the first `released` of `done` belong to the version that is out."""
    out, new = done[:released], done[released:]
    lines = ["# Changelog", "", f"What changed in {world.repo}, the newest first.", "", UNRELEASED.strip(), ""]
    lines += [f"* {i.text('change')}" for i in reversed(new)] or [NOTHING.strip()]
    lines += ["", f"## {world.names['version']}", ""]
    lines += [f"* {i.text('change')}" for i in reversed(out)] or ["* First version for others"]
    lines += ["", "## 0.1.0", "", f"* Split off from the scripts of {world.trade.about}"]
    return "\n".join([*lines, ""])


def commits(
    world: World, asked: Sequence[Item], *, red: bool = False, extra: dict[str, str] | None = None
) -> tuple[Commit, ...]:
    """asked: work that is not done at HEAD. red: its tests are there already. extra: files of the last commit.

    Other features came one by one. Other faults were in from the start and were mended; those asked for came with a
    late commit of their own.
    """
    rng = Random(f"{world.repo} history")
    keys = [i.key for i in asked]
    done = [i for i in world.items.values() if i.key not in keys]
    rng.shuffle(done)
    late = [i for i in asked if i.kind == "fault"]
    stages = {key: OLD for key in world.items} | {i.key: NEW for i in late}
    tests = {key: OLD for key in world.items}
    now: dict[str, str] = {}
    batches: list[tuple[str, dict[str, str | None]]] = []

    def turn(message: str, paths: Sequence[str], more: dict[str, str] | None = None) -> None:
        wanted = {p: world.text(p, tests if is_test(p) else stages) for p in paths} | (more or {})
        changed: dict[str, str | None] = {p: t or None for p, t in wanted.items() if now.get(p, "") != t}
        now.update(wanted)
        if changed:
            batches.append((message, changed))

    for paths, message in world.growth:
        turn(message, paths)
    released = len(done) // 2
    turn("Start a changelog", (), {CHANGELOG: changelog(world, [], 0)})
    for number, item in enumerate(done, start=1):
        stages[item.key] = tests[item.key] = NEW
        turn(item.text("commit"), item.files, {CHANGELOG: changelog(world, done[:number], min(number, released))})
    for item in late:
        stages[item.key] = OLD
        turn(item.text("commit"), item.code)
    if red:
        tests |= dict.fromkeys(keys, NEW)
        turn("Tests for what was reported", sorted({p for i in asked for p in i.tests}))
    if extra:
        turn("Collect what is open", (), extra)
    return _stamped(world, batches, rng)


def head(
    world: World, asked: Sequence[Item], *, red: bool = False, extra: dict[str, str] | None = None
) -> dict[str, str]:
    """path -> text at HEAD."""
    files: dict[str, str] = {}
    for commit in commits(world, asked, red=red, extra=extra):
        for path, content in commit.files.items():
            if content is None:
                files.pop(path, None)
            else:
                files[path] = content.decode()
    return files


def _stamped(world: World, batches: Sequence[tuple[str, dict[str, str | None]]], rng: Random) -> tuple[Commit, ...]:
    authors = words.people(rng, rng.randint(3, 5))
    when = 1_660_000_000 + rng.randrange(0, 80_000_000)
    out = []
    for message, files in batches:
        when += rng.randrange(5_400, 800_000)
        author = rng.choice(authors)
        email = f"{author.split()[0].lower()}@{world.repo}.example"
        made = {path: None if text is None else text.encode() for path, text in files.items()}
        out.append(Commit(message, author, email, when, made))
    return tuple(out)
