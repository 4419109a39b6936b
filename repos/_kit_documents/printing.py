"""Running text and tables over as many pages of a PDF as they need, with totals carried over where a page ends."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simulator.tasks.office import Rule, Text

_LINE_MM = 5.0
_LEFT, _TOP, _BOTTOM, _RIGHT = 20.0, 18.0, 272.0, 192.0


@dataclass(frozen=True, slots=True)
class Column:
    head: str
    width_mm: float
    right: bool = False


class Printer:
    """head: printed on top of each page after the first. foot: printed at the bottom of all; {page} and {pages} are
    put in. Rows that do not fit go to the next page."""

    def __init__(self, head: str, foot: str, *, font: str = "Helvetica", producer: str = "Print Service") -> None:
        self.font, self.producer = font, producer
        self._head, self._foot = head, foot
        self._pages: list[list[Text | Rule]] = [[]]
        self._seen: list[str] = []
        self._y = _TOP
        self._size = 7.0 if font == "Courier" else 8.5

    def line(self, text: str = "", *, size: float = 0.0, bold: bool = False) -> None:
        """One line, or the space of one when there is no text."""
        self._room(1)
        if text:
            self._put(Text(_LEFT, self._y, text, size or self._size, bold))
            self._seen.append(text)
        self._y += _LINE_MM * max(1.0, size / 9)

    def prose(self, text: str, width: int = 105) -> None:
        for line in textwrap.wrap(text, 84 if self.font == "Courier" else width):
            self.line(line)
        self._y += _LINE_MM / 2

    def pair(self, label: str, value: str, *, bold: bool = False) -> None:
        """A label and an amount at the right edge, as under a table."""
        self._room(1)
        self._put(Text(110, self._y, label, self._size, bold))
        self._put(Text(_RIGHT, self._y, value, self._size, bold, "R"))
        self._seen.append(f"{label} {value}")
        self._y += _LINE_MM

    def table(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[str]],
        carry: Callable[[int], tuple[str, str]] | None = None,
        under: Sequence[Sequence[str]] = (),
    ) -> None:
        """carry: (label, value) of the total that is carried over after so many rows, printed at the end of a page and
        on top of the next. under: lines set small below each row, of the same number as the rows or none."""
        self._row(columns, [c.head for c in columns], bold=True)
        for number, row in enumerate(rows):
            below = under[number] if under else ()
            if self._y + _LINE_MM * (2 + len(below)) > _BOTTOM:
                if carry:
                    self.pair(*carry(number))
                self._break()
                self._row(columns, [c.head for c in columns], bold=True)
                if carry:
                    self.pair(*carry(number))
            self._row(columns, row)
            for text in below:
                self._put(Text(_LEFT + columns[0].width_mm, self._y, text, 7))
                self._seen.append(text)
                self._y += _LINE_MM
        self._y += _LINE_MM / 2

    def _row(self, columns: Sequence[Column], cells: Sequence[str], *, bold: bool = False) -> None:
        x = _LEFT
        for column, cell in zip(columns, cells, strict=True):
            if cell:
                place = x + column.width_mm - 2 if column.right else x
                self._put(Text(place, self._y, cell, self._size, bold, "R" if column.right else "L"))
            x += column.width_mm
        self._seen.append(" ".join(c for c in cells if c))
        self._y += _LINE_MM

    def _put(self, item: Text | Rule) -> None:
        self._pages[-1].append(item)

    def _room(self, lines: int) -> None:
        if self._y + _LINE_MM * lines > _BOTTOM:
            self._break()

    def _break(self) -> None:
        self._pages.append([])
        self._y = _TOP
        if self._head:
            self._put(Text(_LEFT, self._y, self._head, 7.5))
            self._seen.append(self._head)
            self._y += 2 * _LINE_MM

    def finished(self) -> list[list[Text | Rule]]:
        total = len(self._pages)
        for number, page in enumerate(self._pages, 1):
            foot = self._foot.format(page=number, pages=total)
            if foot:
                page.append(Text(_LEFT, 284, foot, 7))
        return self._pages

    def text(self) -> str:
        return "\n".join(self._seen)

    @property
    def pages(self) -> int:
        return len(self._pages)
