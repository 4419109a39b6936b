"""One seed's repository: every template filled with that seed's names, and the files at any stage of the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from .._kit_coding import words
from .._kit_coding.render import NEW, OLD, Source, draw_names, fill, parse, sections, sort_imports

FILES = Path(__file__).parent / "files"
BASE = ("errors", "text", "amounts", "dates", "tables", "journal", "store", "settings", "desk", "cli")
GROUPS: Mapping[str, tuple[str, ...]] = {
    "holding": ("stockroom", "holding", "keeping", "premises"),
    "timing": ("planning", "timing", "agenda", "rhythm"),
    "people": ("people", "members", "contacts", "circle"),
    "money": ("charges", "billing", "finance", "cashdesk"),
    "records": ("casework", "registry", "paperwork", "filing"),
    "data": ("intake", "datawork", "exchange", "feeds"),
}
_ROLES = ("item", "place", "party", "order")


@dataclass(frozen=True, slots=True)
class Part:
    """A module with its test and document. `key` is the template's name; `names` its scope."""

    key: str
    names: Mapping[str, str]
    raw: Mapping[str, str]
    module_path: str
    module: Source
    test_path: str
    test: Source
    doc_path: str
    doc: Source | None

    def story(self, section: str, rng: Random) -> str:
        """A filled section of the template, without line ends around it."""
        return fill(self.raw[section], self.names, rng).strip("\n")

    @property
    def dotted(self) -> str:
        return self.module_path.removesuffix(".py").replace("/", ".")


Stages = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class World:
    """All parts of a repository. `base` are shared modules, `units` the rest; `fixed` are files without stages."""

    seed: int
    repo: str
    names: Mapping[str, str]
    trade: words.Trade
    base: tuple[Part, ...]
    units: tuple[Part, ...]
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def package(self) -> str:
        return self.names["pkg"]

    def sources(self) -> dict[str, Source]:
        """path -> source of everything made from templates."""
        found: dict[str, Source] = {}
        for part in (*self.base, *self.units):
            found[part.module_path] = part.module
            found[part.test_path] = part.test
            if part.doc is not None:
                found[part.doc_path] = part.doc
        return found

    def part(self, key: str) -> Part:
        return next(p for p in (*self.base, *self.units) if p.key == key)


def unit_keys() -> list[str]:
    return sorted(p.stem for p in (FILES / "units").glob("*.txt"))


def _roles(trade: words.Trade, rng: Random) -> dict[str, str]:
    """Nouns for each role in the spellings that templates use."""
    out: dict[str, str] = {}
    for role, nouns in zip(_ROLES, (trade.items, trade.places, trade.parties, trade.orders), strict=True):
        noun = rng.choice(nouns)
        many = words.plural(noun)
        roles = words.plural(role)
        article = "an" if noun[0] in "aeiou" and not noun.startswith("uni") else "a"
        out |= {role: noun, role.title(): noun.title(), roles: many, roles.title(): many.title()}
        out[f"a{role}"] = f"{article} {noun}"
    return out


def _samples(rng: Random, item: str) -> dict[str, str]:
    """Sample data for tests and documents: codes $a1.., people $p1.., places $l1.., days $d1.., numbers $n1.."""
    out: dict[str, str] = {}
    for key, values in (
        ("a", words.codes(rng, 9, item)),
        ("p", words.people(rng, 6)),
        ("l", words.spots(rng, 6)),
    ):
        out |= {f"{key}{i}": v for i, v in enumerate(values, start=1)}
    year, month, day = rng.randint(2022, 2026), rng.randint(1, 5), rng.randint(1, 3)
    out["y"] = str(year)
    for i in range(1, 7):
        out[f"d{i}"] = f"{year}, {month}, {day}"
        day += rng.randint(4, 5)
    out |= {"n1": str(rng.randint(2, 9)), "n2": str(rng.randint(10, 99))}
    out |= {"n3": str(rng.randint(12, 60)), "n4": str(rng.randint(24, 48))}
    return out


def _make_part(key: str, raw: Mapping[str, str], names: Mapping[str, str], folder: str, rng: Random) -> Part:
    mod = names["mod"]
    doc = parse(fill(raw["doc"], names, rng)) if "doc" in raw else None
    return Part(
        key=key,
        names=names,
        raw=raw,
        module_path=f"{folder}/{mod}.py",
        module=parse(sort_imports(fill(raw["module"], names, rng))),
        test_path=f"tests/test_{mod}.py",
        test=parse(sort_imports(fill(raw["test"], names, rng))),
        doc_path=f"docs/{mod}.md",
        doc=doc,
    )


def build(seed: int, n_units: int) -> World:
    """The repository of a seed; the same one for every size of task and style of client."""
    rng = Random(f"backoffice {seed}")
    repo, package = words.project(seed)
    trade = words.TRADES[seed % len(words.TRADES)] if rng.random() < 0.5 else rng.choice(words.TRADES)
    shared = {"pkg": package, "Pkg": package.title(), "trade": trade.name, "about": trade.about}
    shared |= _roles(trade, rng)
    base_names: dict[str, dict[str, str]] = {}
    for key in BASE:
        own = draw_names(sections(FILES / "base" / f"{key}.txt")["names"], shared, rng)
        base_names[key] = own
        fresh = {k: v for k, v in own.items() if k not in shared}
        main = fresh.pop("Main", None)
        shared |= {f"m_{key}": fresh.pop("mod")} | ({f"Main{key.title()}": main} if main else {}) | fresh
    groups = {g: rng.choice(options) for g, options in GROUPS.items()}
    units = tuple(_unit(key, shared, trade, groups, rng) for key in rng.sample(unit_keys(), n_units))
    shared |= _desk_names(units, rng)
    base = []
    for key in BASE:
        names = base_names[key] | shared | _samples(rng, shared["item"])
        base.append(_make_part(key, sections(FILES / "base" / f"{key}.txt"), names, package, rng))
    return World(seed, repo, shared, trade, tuple(base), units, groups)


def _unit(key: str, shared: Mapping[str, str], trade: words.Trade, groups: Mapping[str, str], rng: Random) -> Part:
    raw = sections(FILES / "units" / f"{key}.txt")
    roles = _roles(trade, rng)
    scope = {**shared, **roles, **_samples(rng, roles["item"])}
    names = draw_names(raw["names"], scope, rng)
    folder = f"{shared['pkg']}/{groups[names['group']]}"
    names["here"] = f"{folder}/{names['mod']}".replace("/", ".")
    return _make_part(key, raw, names, folder, rng)


def _desk_names(units: tuple[Part, ...], rng: Random) -> dict[str, str]:
    order = sorted(units, key=lambda u: u.names["mod"])
    imports = "\n".join(f"from {u.names['here']} import {u.names['Main']}" for u in order)
    lines = "\n".join(f'    "{u.names["mod"].replace("_", "-")}": {u.names["Main"]},' for u in order)
    return {"part_imports": imports, "part_lines": lines}


def initial(world: World, faults: set[str], features: set[str]) -> dict[str, dict[str, str]]:
    """Stages of every file at HEAD. faults, features: keys of units whose fault is in / whose feature is missing."""
    rng = Random(f"backoffice stages {world.seed}")
    stages: dict[str, dict[str, str]] = {}
    for unit in world.units:
        tested, extended = rng.random() < 0.7, rng.random() < 0.6
        # tests of a feature may lean on the part that is at fault, and the suite is to be green at HEAD
        feature = OLD if unit.key in features | faults or not extended else NEW
        fault = OLD if unit.key in faults else NEW
        stages[unit.module_path] = {"fault": fault, "feature": feature}
        stages[unit.test_path] = {"fault": NEW if fault == NEW and tested else OLD, "feature": feature}
        stages[unit.doc_path] = {"feature": feature}
    return stages
