"""A comparison on a terminal, in 80 columns: what was found, the table, why not more, what was different."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from simulator.core.compare.comparison import Comparison, Part
from simulator.core.compare.verdict import Verdict
from simulator.view.cells import clean
from simulator.view.diff import figures, solved, words
from simulator.view.final import LABEL, Hanging

STYLES = {
    Verdict.BETTER: "bold green",
    Verdict.WORSE: "bold red",
    Verdict.EQUIVALENT: "green",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.SUGGESTIVE: "yellow",
    Verdict.INCOMPARABLE: "bold red",
    Verdict.CLIENT_LIMITED: "bold red",
}
HEADS = ("", "A", "B", "B/A %", "95 %", "p", "")


def terminal(found: Comparison, *, short: bool) -> RenderableType:
    parts: list[RenderableType] = [
        Text(f" {mark} ", style="bold white on red") for mark in map(str.upper, words.caution(found))
    ]
    parts.append(Text(words.headline(found), style=STYLES[found.word]))
    parts += [Text(), _line("A", words.side(found.a)), _line("B", words.side(found.b))]
    parts.append(_line("design", words.design(found)))
    parts += [_line(label, told) for label, told in solved.lines(found)]
    if finds := words.finds(found):
        parts.append(_line("finds", finds))
    parts += [_line("limit", each) for each in words.limits(found)]
    for part in found.parts:
        parts += [Text(), _table(found, part, short=short), *_refused(found, part)]
    parts += [
        Text(words.legend(found), style="dim"),
        Text(),
        *(_line("note", clean(each)) for each in found.notes),
        *_pairs(found),
    ]
    parts += [Text(), *_settings(found, short=short)]
    return Group(*parts)


def _line(label: str, told: str) -> Hanging:
    return Hanging(Text(label.ljust(LABEL) + told))


def _table(found: Comparison, part: Part, *, short: bool) -> Table:
    grid = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 1, 0, 0))
    for n, head in enumerate(HEADS):
        last = n == len(HEADS) - 1
        name = words.title(part) if n == 0 else head
        grid.add_column(name, justify="left" if n == 0 or last else "right", no_wrap=True)
    for title, rows in words.shown(part, short=short, primary=found.primary):
        grid.add_row(Text(title, style="dim"))
        for row in rows:
            first = row is found.primary
            style = STYLES[row.word] if row.word is not None else ""
            *numbers, word = figures.cells(row)
            label = Text(f"{'>' if first else ' '} {row.metric.label}", style="bold" if first else "")
            grid.add_row(label, *(Text(each) for each in numbers), Text(word, style=style))
    return grid


def _refused(found: Comparison, part: Part) -> Iterator[RenderableType]:
    if part.kind == found.kind:
        return  # the headline says it
    for reason in words.against(part):
        yield _line("why", reason)


def _pairs(found: Comparison) -> Iterator[RenderableType]:
    """The primary metric's pairs one by one, so that one odd pair is seen."""
    row = found.primary
    if row is None or row.found is None or row.found.n < 2:
        return
    yield _line("pairs", "B/A % " + "  ".join(words.each_pair(row)))
    if odd := words.outlying(found):
        yield _line("note", odd)


def _settings(found: Comparison, *, short: bool) -> Iterator[RenderableType]:
    rows, left_out = words.settings(found, short=short)
    if not rows:
        yield _line("config", "no difference in the engines' flags, environment or settings was recorded")
        return
    grid = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("configuration", "", "A", "B"):
        grid.add_column(head, overflow="fold")
    for place, name, left, right in rows:
        grid.add_row(Text(place, style="dim"), Text(name), Text(left), Text(right))
    yield grid
    if left_out:
        yield Text(f"{left_out} more with --all: what the engines told of their caches, and the like", style="dim")
