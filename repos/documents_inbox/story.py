"""The recorded way to the solution: a builder of steps, the opening and the ending."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from simulator.core.action import Action, Command, Complete, ListFiles, ReadFile, Search, Step, Write
from simulator.core.task import Style
from simulator.tasks import words

from . import bench
from .brief import Spec, truth
from .setting import period
from .talk import Talk, common_values
from .world import Invoice, Supplier, World

#: where a session without text extraction keeps texts of papers while it works
TEXT = "work/text"


class Story:
    """Steps in the making. What was seen in one result is said at the beginning of the next reply."""

    def __init__(self, r: random.Random, world: World, spec: Spec, style: Style, size: str) -> None:
        self.r, self.world, self.spec, self.style, self.size = r, world, spec, style, size
        self.raw = style.documents == "raw"
        self.truth: dict[str, Any] = truth(world, spec)
        self.steps: list[Step] = []
        self._talk = Talk(r, common_values(world, spec))
        self._seen = ""
        self._todo: list[list[object]] = []
        self._dumps, self._dumped = r.random() < 0.75, set[str]()
        self._next_progress = r.randint(5, 8)

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
        say = f"{self._seen} Everything that was asked for is in out/, so I close with a summary of what stands out.".strip()
        self.steps.append(Step(say, (Complete(result),), progress="\n".join(f"- [x] {item}" for item, _ in self._todo)))

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
            self.do("clean", Command(f"rm -r {TEXT}", effects=True), folder=TEXT)


def supplier_item(supplier: Supplier) -> str:
    return f"{supplier.company.short}: invoices, agreement, orders"


def opening(s: Story) -> None:
    code, paths, r = s.spec.code, s.spec.paths, s.r
    s.plan("Conventions: README, schema, notation", *(supplier_item(x) for x in s.world.suppliers),
           "Goods-in workbook", "Payments and postings", "Crosscheck", "Validate everything, leave a note")  # fmt: skip
    s.do("root", ListFiles(".", recursive=True))
    s.do("readme", ReadFile("README.md"))
    s.do("schema", ReadFile(paths["schema"]))
    s.do("rules", ReadFile(paths["formats"]))
    extra = [("validate_src", "validate"), ("norm_src", "norm"), ("base_src", "base")]
    for beat, name in extra if s.size == "long" else r.sample(extra, 2):
        s.do(beat, ReadFile(s.path(name)))
    if s.size == "long" or r.random() < 0.8:
        target = r.choice(("discover -s tests", f"tests.test_{code['norm']}", f"-v tests.test_{code['norm']}"))
        s.do("tests", Command(f"python -m unittest {target}"))
    s.done("Conventions: README, schema, notation")
    if s.raw:
        if r.random() < 0.6:
            supplier = s.world.suppliers[0]
            file = paths[f"invoice:{supplier.invoices[0].number}"]
            s.do("mangled", ReadFile(file), file=file, supplier=supplier.company.short)
        doc = words.say(r, "[Prints|Shows] [a part|parts] of a paper as text.")
        s.do("show_write", Write(s.path("show"), bench.show_module(s.spec, doc)))
        s.dump("invoices", [paths[f"invoice:{i.number}"] for _, i in s.world.invoices()])
        s.dump("agreements", [paths[f"contract:{x.key}"] for x in s.world.suppliers])


def leaflet(s: Story, path: str) -> None:
    """A look at a circular, to be sure. Long ones are HTML or text, which every client can read."""
    topic = path.rsplit("/", 1)[-1].split("_")[0].replace("-", " ")
    binary = path.endswith((".docx", ".pdf"))
    s.do("leaflet_read", s.document(path) if binary else ReadFile(path), file=path, topic=topic)


def ending(s: Story) -> None:
    world, r = s.world, s.r
    folders = "out/invoices out/contracts out/orders"
    s.do("final_validate", s.validate())
    if s.size == "long" or r.random() < 0.4:
        count = r.choice((f"for d in {folders}; do echo $d $(ls $d | wc -l); done", f"ls {folders}"))
        s.do("count_files", Command(count))
    s.clean()
    note = f"docs/handover_{world.start:%Y_%m}.md"
    s.do("notes_write", Write(note, handover(s)), file=note)
    if s.size == "long" or r.random() < 0.5:
        s.do(
            "git_status",
            Command(
                r.choice(
                    ("git diff --stat HEAD -- inbox", "git status --short inbox", "git diff --name-only HEAD inbox")
                )
            ),
        )
    s.done("Validate everything, leave a note")
    s.finish(_summary(s))


def evidence(supplier: Supplier, invoice: Invoice, code: str, spec: Spec) -> str:
    """One clause of proof for a deviation code, with its figures."""
    kind = next(d for d, c in spec.flags.items() if c == code)
    money, days = supplier.layout.money, (invoice.due - invoice.issued).days
    agreed = {x.product.sku: x.price_cents for x in invoice.order.lines}
    paid = sum(p.cents for p in invoice.payments)
    if kind == "terms":
        return f"{days} days from {invoice.issued} to {invoice.due} where {supplier.contract.payment_days} are agreed"
    if kind == "bank":
        return f"paper says {invoice.iban}, agreement {supplier.contract.iban}"
    if kind == "price":
        line = next(x for x in invoice.lines if x.price_cents > agreed[x.product.sku])
        return f"{line.product.sku} billed at {money(line.price_cents)}, confirmed at {money(agreed[line.product.sku])}"
    if kind == "quantity":
        sku, billed, got = missing(invoice)
        return f"{sku} billed {billed}, received {got}"
    if kind == "unpaid":
        return f"no debit in the bank export names {invoice.number}"
    return f"{money(paid)} paid in {len(invoice.payments)} debit(s) against {money(invoice.gross_cents)}"


def missing(invoice: Invoice) -> tuple[str, int, int]:
    """(article, billed, received) of the first item that did not arrive in full."""
    got: dict[str, int] = {}
    for d in invoice.deliveries:
        got[d.sku] = got.get(d.sku, 0) + d.quantity - d.returned
    line = next(x for x in invoice.lines if x.quantity > got.get(x.product.sku, 0))
    return line.product.sku, line.quantity, got.get(line.product.sku, 0)


def flagged(s: Story) -> list[tuple[Supplier, Invoice, str]]:
    codes = s.truth["out/crosscheck.json"]
    return [(x, i, c) for x, i in s.world.invoices() for c in codes[i.number]]


def handover(s: Story) -> str:
    spec, code = s.spec, s.spec.code
    lines = [f"# Papers {period(s.world)}: notes", "", "## Deviations", ""]
    lines += [f"- {i.number} ({x.company.short}), `{c}`: {evidence(x, i, c, spec)}." for x, i, c in flagged(s)] or [
        "None."
    ]
    lines += ["", "## Readers", ""]
    for x in s.world.suppliers:
        style = x.layout
        lines.append(f"- `{code['readers']}/{x.key}.py`: {x.company.name}; dates like {style.date(x.contract.starts)}, amounts "
                     f"like {style.money(x.contract.cap_cents)}, {len(x.invoices)} invoice(s) this time.")  # fmt: skip
    lines += ["", "## Running it again", "", "```"]
    for x in s.world.suppliers:
        where = spec.paths[f"invoice:{x.invoices[0].number}"].rsplit("/", 1)[0]
        lines.append(f"python -m {code['readers']}.{x.key} {where}/*{x.key}*.pdf --save")
    lines += [f"python -m {code['readers']}.{code[m]}" for m in ("bank", "cross")] + ["```", ""]
    return "\n".join(lines)


def _summary(s: Story) -> str:
    found = flagged(s)
    clean = len(s.world.invoices()) - len({i.number for _, i, _ in found})
    head = (f"{len(s.world.invoices())} invoices, {len(s.world.suppliers)} agreements and as many confirmations as invoices are "
            f"in out/, with deliveries, payments and crosscheck; the validator reports no fault. {clean} invoices are clean.")  # fmt: skip
    rows = "\n".join(f"- {i.number} ({x.company.short}): {c}, {evidence(x, i, c, s.spec)}" for x, i, c in found)
    return f"{head}\n\nTo be queried:\n{rows}" if rows else f"{head} Nothing has to be queried."


def search(regex: str, path: str) -> Search:
    """A search in one file, given as its folder and a pattern on the name."""
    folder, _, name = path.rpartition("/")
    return Search(regex, folder or ".", name)


def dumped(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"
