"""What a finance template contributes: its units of work, the rules, the right figures, and the twists, rules that a
first script misses until a unit of work brings them to light."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .arith import scaled
from .world import World, toggled

#: of a size: units of work, how many of them bring a twist to light
UNITS = {"small": (1, 1), "medium": (3, 2), "long": (9, 6)}
#: how much longer a unit's data is than in a task of medium size
LENGTH = {"small": 0.8, "medium": 1.0, "long": 1.9}
Figures = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Twist:
    """A rule that the first script misses. Texts may hold «a|b» and {placeholders}: of `Case.values`, in `rule` of
    `Case.n`.

    rule: as the rules document has it, one bullet. cause: what the detail shows, a sentence or two. fix: what changes
    in the script. pattern: what one searches for in the unit's files or the rules, a regex that hits.
    needs: twists without which this one cannot be seen; they come to light before it.
    """

    key: str
    title: str
    rule: str
    cause: str
    fix: str
    pattern: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """name: as in files and results. facts: of the template's own type. twist: the key of what it brings to light.
    known: the features that the script has once this unit is done. files: path -> text, the main one first."""

    name: str
    facts: Any
    traits: frozenset[str]
    twist: str | None
    known: frozenset[str]
    files: Mapping[str, str]


class Case:
    """Base of a template's case. Figures are integers of their last decimal, keyed by what they mean; files and results
    call them `n["o_" + key]`."""

    #: "bond", "bonds": a unit of work in words; control: who states figures from outside
    noun = ""
    nouns = ""
    control = ""
    module = ""
    title = ""
    tails: tuple[str, ...] = ("workings",)
    twists: tuple[Twist, ...] = ()
    #: the figures in order; those that the outside source states; decimals where they are not two
    wanted: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    decimals: Mapping[str, int] = {}
    #: how far a figure may be off, in units of its last decimal; half a unit where nothing is said
    slack: Mapping[str, float] = {}

    def __init__(self, w: World, folder: Path) -> None:
        self.w, self._folder = w, folder
        self._found: dict[tuple[str, frozenset[str]], Figures] = {}
        self.n = _distinct(w.names | self.words())
        self.n |= {"m_calc": self.n["module"]}
        base = self.n["data"]
        self.controls_path = f"{base}/{self.n['f_controls']}.csv"
        self.n |= {"controls_path": self.controls_path, "control": self.control}
        self.prepare(w.part("shared"))
        self.units = _drawn(self)

    # ---- what a template says

    def words(self) -> dict[str, str]:
        """Its own placeholders, at least `module` (of the script), `f_controls` and `o_KEY` for each figure."""
        raise NotImplementedError

    def prepare(self, r: random.Random) -> None:
        """Facts that all units share, such as rate tables."""

    def draw(self, r: random.Random, name: str, traits: frozenset[str]) -> Any:
        """The facts of a unit that shows just these traits."""
        raise NotImplementedError

    def name(self, r: random.Random, k: int) -> str:
        raise NotImplementedError

    def unit_files(self, name: str, facts: Any) -> dict[str, str]:
        raise NotImplementedError

    def shared_files(self) -> dict[str, str]:
        """path -> text of what all units need."""
        return {}

    def figures(self, facts: Any, on: frozenset[str]) -> Figures:
        """As a script with these features has them; all features give the right ones."""
        raise NotImplementedError

    def given(self, unit: Unit) -> Mapping[str, Any]:
        """What the check's closed forms start from; JSON."""
        raise NotImplementedError

    def rules(self) -> Sequence[tuple[str, str]]:
        """Sections of the rules document: (heading, Markdown)."""
        raise NotImplementedError

    def ask(self) -> str:
        """What is wanted, in the words of the person who asks."""
        raise NotImplementedError

    def remarks(self, unit: Unit) -> list[str]:
        """Sentences with figures that are true once the unit's files were read."""
        raise NotImplementedError

    def probe(self, unit: Unit) -> str:
        """A few lines of Python, run at the repository's root, that get at a figure by another road; "" for none."""
        return ""

    def values(self, unit: Unit) -> dict[str, str]:
        """Placeholders of texts about a unit."""
        return {}

    def headline(self) -> str:
        """The figure that the report states for each unit."""
        return self.wanted[0]

    # ---- what follows from it

    def counted(self, noun: str) -> str:
        """How many units there are: `1 ledger`, `5 ledgers`."""
        number = len(self.units)
        return f"{number} {noun}{'s' * (number != 1)}"

    def rows(self, r: random.Random, low: int, high: int) -> int:
        """How many rows a unit has, more of them in a long task."""
        return round(r.randint(low, high) * LENGTH[self.w.size])

    @property
    def features(self) -> frozenset[str]:
        return frozenset(t.key for t in self.twists)

    def twist(self, key: str) -> Twist:
        return next(t for t in self.twists if t.key == key)

    def right(self, unit: Unit) -> Figures:
        return self._figures(unit, self.features)

    def before(self, unit: Unit) -> Figures:
        """As the script has them when it first meets this unit."""
        return self._figures(unit, unit.known - {unit.twist or ""})

    def _figures(self, unit: Unit, on: frozenset[str]) -> Figures:
        key = (unit.name, on)
        if key not in self._found:
            self._found[key] = self.figures(unit.facts, on)
        return self._found[key]

    def text(self, key: str, value: int) -> str:
        return scaled(value, self.decimals.get(key, 2))

    def shown(self, key: str, value: int) -> str:
        """With thousands separators, as reports and prose have it."""
        whole, dot, rest = self.text(key, value).partition(".")
        return f"{int(whole):,}".replace("-0", "0") + dot + rest if whole != "-0" else f"-0{dot}{rest}"

    def tolerance(self, key: str) -> str:
        decimals = self.decimals.get(key, 2)
        return f"{self.slack.get(key, 0.5) * 10**-decimals:.{decimals + 3}f}"

    def script(self, on: frozenset[str]) -> str:
        """The calculation with these features."""
        own = (self._folder / "files" / "calc.py").read_text(encoding="utf-8")
        return self.w.fill(toggled(own, on), self.n) + self.w.shared("main.py", self.n)

    def identity(self) -> str:
        """Source of `identities(given, got)`: closed forms that the check works out in decimals."""
        return (self._folder / "files" / "identity.py").read_text(encoding="utf-8")

    def shows(self, unit: Unit) -> bool:
        """Whether a script without its twist has a stated figure of the unit wrong, now and at the end."""
        right = self.figures(unit.facts, self.features)
        return all(
            any(abs(without[k] - right[k]) > 2 * self.slack.get(k, 0) for k in self.controls)
            for on in (unit.known, self.features)
            for without in [self.figures(unit.facts, on - {unit.twist or ""})]
        )

    def gaps(self, unit: Unit) -> list[tuple[str, int, int]]:
        """(figure, ours, stated) for what the outside source has otherwise when the unit is first met."""
        ours, right = self.before(unit), self.right(unit)
        return [(k, ours[k], right[k]) for k in self.controls if ours[k] != right[k]]

    def controls_file(self) -> str:
        n = self.n
        rows = [
            f"{u.name},{n['o_' + key]},{self.text(key, self.right(u)[key])}"
            for u in self.units
            for key in self.controls
        ]
        return "\n".join([f"{n['k_name']},{n['k_figure']},{n['k_value']}", *rows]) + "\n"

    def files(self) -> dict[str, str]:
        found = {path: text for u in self.units for path, text in u.files.items()}
        return found | self.shared_files() | {self.controls_path: self.controls_file()}


def _distinct(names: dict[str, str]) -> dict[str, str]:
    """Identifiers of code must differ from one another; keys, figures and words of the data need not."""
    taken: set[str] = set()
    found = {}
    for key, word in names.items():
        if key[:2] not in ("k_", "o_", "w_") and word.isidentifier() and word.islower():
            while word in taken:
                word = f"{word}_here"
            taken.add(word)
        found[key] = word
    return found


def _drawn(case: Case) -> list[Unit]:
    """Units whose figures a script without their twist has wrong, and with it right."""
    w = case.w
    r = w.part("order of units")
    count, wanted = UNITS[w.size]
    keys = [t.key for t in case.twists]
    r.shuffle(keys)
    keys = _ordered(case, keys[: min(wanted, len(keys))])
    places = sorted(r.sample(range(count), len(keys)))
    plan: list[str | None] = [None] * count
    for place, key in zip(places, keys, strict=True):
        plan[place] = key
    units: list[Unit] = []
    known = case.features - set(keys)
    met = sorted(known)  # what the script has from the start may turn up anywhere
    names: set[str] = set()
    for k, twist in enumerate(plan):
        traits = set(r.sample(met, min(len(met), r.randint(0, 2))))
        if twist:
            traits.add(twist)
            met.append(twist)
            known |= {twist}
        units.append(_unit(case, k, frozenset(traits), twist, frozenset(known), names))
        names.add(units[-1].name)
    return units


def _ordered(case: Case, keys: list[str]) -> list[str]:
    """Each after those that it needs."""
    found: list[str] = []
    for key in keys:
        found += [k for k in (*case.twist(key).needs, key) if k in keys and k not in found]
    return found


def _unit(
    case: Case, k: int, traits: frozenset[str], twist: str | None, known: frozenset[str], taken: set[str]
) -> Unit:
    for attempt in range(200):
        r = case.w.part("unit", k, attempt)
        if attempt == 40:  # rules met before do not go with this one: it shows its own alone
            traits = frozenset({twist} if twist else ())
        name = case.name(r, k)
        if name in taken:
            continue
        facts = case.draw(r, name, traits)
        unit = Unit(name, facts, traits, twist, known, case.unit_files(name, facts))
        if case.figures(facts, known) == case.figures(facts, case.features) and (twist is None or case.shows(unit)):
            return unit
    raise ValueError(f"{case.w.template} seed {case.w.seed}: no unit {k} that shows {sorted(traits)}")
