"""The recorded way to the solution: a builder of steps, the opening and the ending."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from simulator.core.action import Action, Command, Complete, ListFiles, ReadFile, Search, Step, Write
from simulator.core.task import Style
from simulator.tasks import words

from . import scripts
from .brief import Spec
from .talk import Talk, common_values
from .truth import truth
from .world import Supplier, World

#: where a session without text extraction keeps texts of papers while it works
TEXT = "work/text"


class Story:
    """Steps in the making. What was seen in one result is said at the beginning of the next reply."""

    def __init__(self, r: random.Random, world: World, spec: Spec, style: Style, size: str) -> None:
        self.r, self.world, self.spec, self.style, self.size = r, world, spec, style, size
        self.raw = style.documents == "raw"
        self.papers_only = size == "small"
        self.truth: dict[str, Any] = truth(world, spec)
        self.steps: list[Step] = []
        self._talk = Talk(r, common_values(world, spec))
        self._seen = ""
        self._todo: list[list[object]] = []
        self._dumps, self._dumped = r.random() < 0.85, set[str]()
        self._next_progress = r.randint(5, 8)
        self._spare = _length(r, size) - _least(world, spec, size, self.raw)

    def step(self, beat: str, action: Action, **values: object) -> None:
        say = f"{self._seen} {self._talk.line(beat, 'plan', **values)}".strip()
        for room in (760, 480):  # a short reply has room for one thought more, a very short one for two
            if len(say) < room and (thought := self._talk.reason(beat, **values)) and thought not in say:
                say = f"{say} {thought}"
        self.steps.append(Step(say, (action,), progress=self._progress()))
        self._seen = ""

    def saw(self, beat: str, **values: object) -> None:
        line = self._talk.line(beat, "saw", **values)
        self._seen = f"{self._seen} {line}".strip()

    def do(self, beat: str, action: Action, **values: object) -> None:
        """A step and what it shows."""
        self.step(beat, action, **values)
        self.saw(beat, **values)

    def may(self, chance: float, cost: int = 1) -> bool:
        """Whether an optional part of so many steps is told; a session has room for some of them only."""
        if self._spare < cost or self.r.random() >= chance:
            return False
        self._spare -= cost
        return True

    def asked(self) -> dict[str, Any]:
        """The right answers that the request asks for: of a small task the papers', not the three summaries."""
        return {k: v for k, v in self.truth.items() if not self.papers_only or k.count("/") > 1}

    def wrote(self, path: str) -> bool:
        return any(isinstance(a, Write) and a.path == path for step in self.steps for a in step.actions)

    def plan(self, *items: str) -> None:
        self._todo += [[item, False] for item in items]

    def done(self, item: str) -> None:
        for entry in self._todo:
            if entry[0] == item:
                entry[1] = True

    def _progress(self) -> str:
        if len(self.steps) < self._next_progress:
            return ""
        self._next_progress = len(self.steps) + self.r.randint(6, 10)
        return "\n".join(f"- [{'x' if done else ' '}] {item}" for item, done in self._todo)

    def finish(self, result: str) -> None:
        say = f"{self._seen} Everything that was asked for is in out/; I close with a summary of what stands out."
        self.steps.append(
            Step(say.strip(), (Complete(result),), progress="\n".join(f"- [x] {item}" for item, _ in self._todo))
        )

    # ---- actions in the terms of this repository

    def path(self, name: str) -> str:
        folder = "tools" if name in ("norm", "validate", "show") else "readers"
        return f"{self.spec.code[folder]}/{self.spec.code[name]}.py"

    def module(self, name: str, arguments: str = "", *, effects: bool = True) -> Command:
        return Command(f"python -m {self.spec.code['readers']}.{name} {arguments}".strip(), effects=effects)

    def validate(self, *paths: str) -> Command:
        return Command(" ".join(["python", self.path("validate"), *paths]))

    def document(self, path: str, first: int = 1, last: int = 400) -> Action:
        """Lines of a PDF, DOCX or XLSX. A client that extracts text reads the file; for others it was dumped as text
        (`dump`), or a command shows it. Extracting clients always get the whole."""
        if not self.raw:
            return ReadFile(path)
        if path in self._dumped:
            return ReadFile(f"{TEXT}/{path.rsplit('/', 1)[-1]}.txt", first, last)
        return Command(f"python {self.path('show')} {path} {first} {last}")

    def dump(self, what: str, paths: Sequence[str]) -> None:
        """For clients without extraction, in sessions that work that way: text files of these papers, once."""
        if not self.raw or not self._dumps or not paths:
            return
        command = Command(f"python {self.path('show')} --into {TEXT} {' '.join(paths)}", effects=True)
        self.do("dump", command, what=what, folder=TEXT)
        self._dumped |= set(paths)

    def clean(self) -> None:
        if self._dumped:
            self.do("clean", Command(f"rm -r {TEXT.split('/')[0]}", effects=True), folder=TEXT)


def _length(r: random.Random, size: str) -> int:
    """Steps that a session should come to: small ones have up to 20, most 30 to 50, long ones 80 to 130."""
    low, high = {"small": (15, 20), "medium": (35, 48), "long": (88, 124)}[size]
    return r.randint(low, high)


def _least(world: World, spec: Spec, size: str, raw: bool) -> int:
    """Steps of a session that has none of the optional parts."""
    n = len(world.suppliers)
    if size == "small":
        return (16 if spec.sums_in_summary else 17) + (4 if raw else 0)
    steps = 22 + 5 * n if size == "medium" else 23 + 6 * n
    steps += 0 if spec.sums_in_summary else n
    return steps + (5 + n if raw else 0)


def supplier_item(supplier: Supplier) -> str:
    return f"{supplier.company.short}: invoices, agreement, orders"


def opening(s: Story) -> None:
    code, paths, r = s.spec.code, s.spec.paths, s.r
    s.plan(
        "Conventions: README, schema, notation",
        *(supplier_item(x) for x in s.world.suppliers),
        *(() if s.papers_only else ("Goods-in workbook", "Payments and postings", "Crosscheck")),
        "Validate everything, leave a note",
    )
    s.do("root", ListFiles(".", recursive=True))
    s.do("readme", ReadFile("README.md"))
    s.do("schema", ReadFile(paths["schema"]))
    s.do("rules", ReadFile(paths["formats"]))
    extra = [("validate_src", "validate"), ("norm_src", "norm"), ("base_src", "base")]
    for beat, name in extra if s.size == "long" else r.sample(extra, _looks(s)):
        s.do(beat, ReadFile(s.path(name)))
    if s.may(0.9):
        target = r.choice(("discover -s tests", f"tests.test_{code['norm']}", f"-v tests.test_{code['norm']}"))
        s.do("tests", Command(f"python -m unittest {target}"))
    s.done("Conventions: README, schema, notation")
    if s.raw:
        if s.may(0.6):
            supplier = s.world.suppliers[0]
            file = paths[f"invoice:{supplier.invoices[0].number}"]
            s.do("mangled", ReadFile(file), file=file, supplier=supplier.company.short)
        doc = words.say(r, "[Prints|Shows] [a part|parts] of a paper as text.")
        s.do("show_write", Write(s.path("show"), scripts.show_module(s.spec, doc)))
        s.dump("invoices", [paths[f"invoice:{i.number}"] for _, i in s.world.invoices()])
        s.dump("agreements", [paths[f"contract:{x.key}"] for x in s.world.suppliers])


def _looks(s: Story) -> int:
    """Modules of the repository that are read first, in a session that is not long."""
    return 2 if not s.papers_only else 0 if s.raw else 1


def leaflet(s: Story, path: str) -> None:
    """A look at a circular, to be sure. Long ones are HTML or text, which every client can read."""
    topic = path.rsplit("/", 1)[-1].split("_")[0].replace("-", " ")
    binary = path.endswith((".docx", ".pdf"))
    s.do("leaflet_read", s.document(path) if binary else ReadFile(path), file=path, topic=topic)


def search(regex: str, path: str) -> Search:
    """A search in one file, given as its folder and a pattern on the name."""
    folder, _, name = path.rpartition("/")
    return Search(regex, folder or ".", name)


def dumped(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"
