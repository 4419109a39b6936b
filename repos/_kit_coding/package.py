"""A package drawn by a seed: its files with the places that change, and the pieces of work that change them.

A package is a folder under repos/_packages/:

    names.txt       one drawn name a line (render.draw_names)
    commits.txt     how it grew: `path, path :: message` a line, oldest first
    tree/           its files, each with `.txt` behind its name; `$name` in paths and texts is filled
    parts/NAME.txt  text that a line `#@@ NAME` in a file stands for, so that it can be in one file before a piece of
                    work and in another after it; has no slots
    work/KEY.txt    a piece of work: sections (render.sections); the slots named KEY in the files belong to it

A file whose text is empty at a stage does not exist there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import Template

from . import words
from .render import NEW, OLD, SLIP, Source, draw_names, fill, parse, sections, sort_imports

PACKAGES = Path(__file__).resolve().parents[1] / "_packages"
Stages = Mapping[str, str]
_PART = re.compile(r"^#@@ (\w+)$", re.M)


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of work. kind: "fault" | "feature" | "move" | "slow". files: those with a slot of this key, code first,
    then tests, then documents. story: its sections, filled. needs: what cannot be done before this is."""

    key: str
    kind: str
    title: str
    files: tuple[str, ...]
    story: Mapping[str, str]
    needs: tuple[str, ...] = ()

    def text(self, section: str) -> str:
        return self.story.get(section, "").strip("\n")

    def lines(self, section: str) -> list[str]:
        return [line for line in self.text(section).splitlines() if line]

    @property
    def code(self) -> tuple[str, ...]:
        return tuple(p for p in self.files if not is_test(p) and not p.endswith(".md"))

    @property
    def tests(self) -> tuple[str, ...]:
        return tuple(p for p in self.files if is_test(p))

    @property
    def docs(self) -> tuple[str, ...]:
        return tuple(p for p in self.files if p.endswith(".md"))


@dataclass(frozen=True, slots=True)
class World:
    """One seed's package. sources: path -> text with slots. growth: (paths, message) of each early commit."""

    seed: int
    repo: str
    names: Mapping[str, str]
    trade: words.Trade
    sources: Mapping[str, Source]
    items: Mapping[str, Item]
    growth: tuple[tuple[tuple[str, ...], str], ...]

    @property
    def package(self) -> str:
        return self.names["pkg"]

    @property
    def script(self) -> bool:
        """Whether it is TypeScript."""
        return "package.json" in self.sources

    def text(self, path: str, stages: Stages) -> str:
        """The file with each key at its stage; "" where it does not exist."""
        made = self.sources[path].text(stages)
        return made if made.strip() else ""

    def files(self, stages: Stages) -> dict[str, str]:
        """All files that exist; the stages of keys hold for tests, too."""
        return {path: text for path in self.sources if (text := self.text(path, stages))}

    def slips(self, item: Item) -> tuple[str, ...]:
        """Code files in which the first, wrong try differs from the solution."""
        return tuple(p for p in item.code if self.sources[p].has_slip(item.key))

    def undone(self, item: Item, stage: str) -> dict[str, str]:
        """Code of the finished package that differs when this item is not done, or in the first, wrong way; "" for a
        file that does not exist then."""
        done, changed = staged(self, (), NEW), staged(self, (item.key,), stage)
        texts = {p: self.text(p, changed) for p in self.sources if not is_test(p) and not p.endswith(".md")}
        return {p: text for p, text in texts.items() if text != self.text(p, done)}


def is_test(path: str) -> bool:
    return path.startswith(("tests/", "test/"))


@functools.lru_cache(maxsize=16)
def _texts(folder: Path) -> tuple[tuple[str, str], ...]:
    tree = folder / "tree"
    found = sorted(p for p in tree.rglob("*.txt") if p.is_file())
    parts = {p.stem: p.read_text(encoding="utf-8").rstrip("\n") for p in (folder / "parts").glob("*.txt")}

    def text(path: Path) -> str:
        return _PART.sub(lambda m: parts[m[1]], path.read_text(encoding="utf-8"))

    return tuple((p.relative_to(tree).as_posix().removesuffix(".txt"), text(p)) for p in found)


def build(package: str, seed: int, version: str = "0.4.0") -> World:
    """The package of a seed, the same for every template, size and client."""
    folder = PACKAGES / package
    rng = Random(f"{package} {seed}")
    repo, name = words.project(seed)
    trade = rng.choice(words.TRADES)
    names = draw_names((folder / "names.txt").read_text(encoding="utf-8"), _scope(repo, name, trade, version, rng), rng)
    sources = {}
    for path, text in _texts(folder):
        made = fill(text, names, Random(f"{package} {seed} {path}"))
        sources[Template(path).substitute(names)] = parse(sort_imports(made) if path.endswith(".py") else made)
    items = {}
    for told in sorted((folder / "work").glob("*.txt")):
        items[told.stem] = _item(told, names, sources, Random(f"{package} {seed} {told.stem}"))
    return World(seed, repo, names, trade, sources, items, _growth(folder, names, sources))


def _scope(repo: str, package: str, trade: words.Trade, version: str, rng: Random) -> dict[str, str]:
    """What every package may use: nouns of a trade, people, places, codes."""
    scope = {"repo": repo, "pkg": package, "trade": trade.name, "about": trade.about, "version": version}
    nouns = zip(
        ("item", "place", "party", "order"), (trade.items, trade.places, trade.parties, trade.orders), strict=True
    )
    for role, options in nouns:
        one, two = rng.sample(options, 2)
        scope |= {role: one, words.plural(role): words.plural(one), f"{role}2": two, f"{role.title()}": one.title()}
    for key, values in (
        ("a", words.codes(rng, 6, scope["item"])), ("p", words.people(rng, 5)), ("l", words.spots(rng, 5)),
    ):  # fmt: skip
        scope |= {f"{key}{i}": v for i, v in enumerate(values, start=1)}
    return scope | {
        f"n{i}": str(rng.randint(low, high)) for i, (low, high) in enumerate(((2, 9), (11, 39), (41, 97)), 1)
    }


def _item(told: Path, names: Mapping[str, str], sources: Mapping[str, Source], rng: Random) -> Item:
    key = told.stem
    story = {name: fill(text, names, rng) for name, text in sections(told).items()}
    head = dict(line.split(": ", 1) for line in story["head"].splitlines() if line)
    own = [path for path, source in sources.items() if key in source.slots()]
    order = [p.strip() for p in head.get("order", "").split(",")]
    own.sort(key=lambda p: (is_test(p), p.endswith(".md"), order.index(p) if p in order else len(order)))
    return Item(key, head["kind"], head["title"], tuple(own), story, tuple(head.get("needs", "").split()))


def _growth(
    folder: Path, names: Mapping[str, str], sources: Mapping[str, Source]
) -> tuple[tuple[tuple[str, ...], str], ...]:
    out = []
    left = set(sources)
    for line in filter(None, (folder / "commits.txt").read_text(encoding="utf-8").splitlines()):
        paths, _, message = fill(line, names, Random(line)).partition(" :: ")
        made = tuple(p.strip() for p in paths.split(","))
        left -= set(made)
        out.append((made, message))
    if left:
        raise ValueError(f"{folder.name}: commits.txt lacks {', '.join(sorted(left))}")
    return tuple(out)


def staged(world: World, keys: Sequence[str], stage: str) -> dict[str, str]:
    """Every key at NEW but these at `stage`, and what needs them done with them at OLD."""
    assert stage in (OLD, SLIP, NEW)
    waiting = [key for name in keys for key in world.items[name].needs] if stage == OLD else []
    return dict.fromkeys(world.items, NEW) | dict.fromkeys((*waiting, *keys), stage)
