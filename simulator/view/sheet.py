"""A small document of sentences and tables, shown alike on a terminal, as Markdown and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from simulator.view.cells import clean
from simulator.view.format import cell


@dataclass(frozen=True, slots=True)
class Sheet:
    """A section. said: sentences before the table; rows: cells, as many as heads; notes: what stands below it; drawn:
    a picture for terminals and Markdown, line by line; chart: the same for a page, HTML. detail: too long for a
    terminal. Texts are plain; the renderers make them safe."""

    title: str
    said: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    drawn: tuple[Text, ...] = ()
    chart: str = ""
    detail: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """marks: what must not be missed, such as EMULATED, first and loud. notes: how to read it, last."""

    title: str
    marks: tuple[str, ...]
    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...] = ()


def terminal(document: Document) -> RenderableType:
    parts: list[RenderableType] = [Text(f" {clean(mark)} ", style="bold white on red") for mark in document.marks]
    parts.append(Text(clean(document.title), style="bold"))
    for sheet in document.sheets:
        if sheet.detail:
            continue
        parts.append(Text())
        if sheet.title:
            parts.append(Text(clean(sheet.title), style="bold underline"))
        parts += [Text(clean(line), style="bold") for line in sheet.said]
        if sheet.rows:
            parts.append(_grid(sheet.heads, sheet.rows))
        parts += sheet.drawn
        parts += [Text(clean(line), style="dim") for line in sheet.notes]
    if document.notes:
        parts += [Text(), *(Text(clean(line)) for line in document.notes)]
    return Group(*parts)


def _grid(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    grid = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for n, head in enumerate(heads):
        grid.add_column(head, justify="left" if n == 0 else "right", no_wrap=n > 0)
    for row in rows:
        grid.add_row(*(Text(clean(each)) for each in row))
    return grid


def markdown(document: Document, pictures: Mapping[str, str] | None = None) -> str:
    """pictures: title of a sheet -> a picture's file, beside the one that this is written to."""
    out = [f"# {cell(document.title)}"]
    out += [f"**⚠ {cell(mark)}**" for mark in document.marks]
    for sheet in document.sheets:
        if sheet.title:
            out.append(f"## {cell(sheet.title)}")
        out += [f"**{cell(line)}**" for line in sheet.said]
        if name := (pictures or {}).get(sheet.title):
            out.append(f"![{cell('; '.join((*document.marks, sheet.title)))}]({name})")
        if sheet.rows:
            out.append("\n".join(_lines(sheet.heads, sheet.rows)))
        if sheet.drawn:
            out.append("\n".join(["```", *(line.plain.replace("`", "'") for line in sheet.drawn), "```"]))
        out += [cell(line) for line in sheet.notes]
    out += [cell(line) for line in document.notes]
    return "\n\n".join(out) + "\n"


def _lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    found = ["| " + " | ".join(map(cell, heads)) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    return found + ["| " + " | ".join(cell(each.strip()) for each in row) + " |" for row in rows]
