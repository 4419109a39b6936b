"""A small document as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.view.page.shell import Part, page
from simulator.view.page.text import esc, table
from simulator.view.sheet import Document, Sheet


def as_page(document: Document) -> str:
    parts = [Part(sheet.title, _section(sheet), f"part-{n}") for n, sheet in enumerate(document.sheets)]
    if document.notes:
        parts.append(Part("How to read it", _paragraphs(document.notes), "notes"))
    return page(document.title, parts, note="\n".join(document.marks))


def _section(sheet: Sheet) -> str:
    said = "".join(f"<p><strong>{esc(line)}</strong></p>" for line in sheet.said)
    shown = table(sheet.heads, sheet.rows) if sheet.rows else ""
    return said + sheet.chart + shown + _paragraphs(sheet.notes)


def _paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{esc(line)}</p>" for line in lines)
