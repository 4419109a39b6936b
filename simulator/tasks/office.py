"""PDF, DOCX and XLSX files whose bytes depend on nothing but their content: fixed dates, fixed identifiers, and ZIP
containers packed again with fixed entries (python-docx and openpyxl stamp the present time into theirs).

The bytes also depend on the versions of fpdf2, python-docx and openpyxl and on zlib's deflate, as the recipes' file
hashes do; within one installation they always repeat.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

import docx
import openpyxl
from docx.shared import Pt
from fpdf import FPDF
from openpyxl.styles import Font

_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Text:
    """Text on a PDF page. x, y in mm from the top left corner, y at the top of the letters; align "L" starts at x,
    "R" ends there. Characters outside cp1252 are an error: the PDF core fonts do not have them."""

    x: float
    y: float
    text: str
    size: float = 9
    bold: bool = False
    align: str = "L"


@dataclass(frozen=True, slots=True)
class Rule:
    """A thin line between two points of a PDF page, mm."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of equal length; the first one is set in bold."""

    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula ("=SUM(A1:A3)") with the result that the spreadsheet stored when it was saved."""

    text: str
    result: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """rows: cell values as openpyxl takes them (str, int, float, date, None, a Formula, or a formula text starting with
    "=", which then has no stored result).
    bold: 1-based row numbers; merged: ranges such as "A1:F1"; widths: column letter -> characters."""

    name: str
    rows: Sequence[Sequence[object]]
    bold: Sequence[int] = ()
    merged: Sequence[str] = ()
    widths: Sequence[tuple[str, float]] = ()


def pdf(
    pages: Sequence[Sequence[Text | Rule]],
    made: date,
    *,
    title: str,
    author: str,
    producer: str,
    font: str = "Helvetica",
) -> bytes:
    """An A4 document. `font`: Helvetica, Times or Courier. Text keeps the given order, which is also the order in which
    extractors find it."""
    out = FPDF(format="A4")
    out.core_fonts_encoding = "cp1252"
    out.set_auto_page_break(False)
    out.set_creation_date(datetime.combine(made, time(9, 30), UTC))
    out.set_title(title)
    out.set_author(author)
    out.set_producer(producer)
    for page in pages:
        out.add_page()
        for item in page:
            if isinstance(item, Rule):
                out.line(item.x1, item.y1, item.x2, item.y2)
                continue
            out.set_font(font, "B" if item.bold else "", item.size)
            x = item.x - out.get_string_width(item.text) if item.align == "R" else item.x
            out.text(x, item.y + item.size * 0.27, item.text)
    return bytes(out.output())


def word(blocks: Sequence[Heading | Paragraph | Table], made: date, *, title: str, author: str) -> bytes:
    """A DOCX file of headings, paragraphs and tables in the given order."""
    out = docx.Document()
    out.styles["Normal"].font.size = Pt(10)
    for block in blocks:
        match block:
            case Heading(level, text):
                # the style by its identifier: looking one up by name walks through all of them, each time
                out.add_paragraph(text)._p.style = f"Heading{level}"
            case Paragraph(text, bold):
                out.add_paragraph().add_run(text).bold = bold
            case Table(rows):
                _word_table(out, rows)
    properties, stamp = out.core_properties, datetime.combine(made, time(9, 30))
    properties.title, properties.author, properties.last_modified_by = title, author, author
    properties.created = properties.modified = stamp
    properties.comments = ""
    buffer = io.BytesIO()
    out.save(buffer)
    return _repacked(buffer.getvalue(), stamp)


def _word_table(document: docx.document.Document, rows: Sequence[Sequence[str]]) -> None:
    table = document.add_table(len(rows), len(rows[0]))
    table._tbl.tblStyle_val = "TableGrid"
    cells = table._cells  # one list for the whole table; table.cell() builds it anew at each call
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            cells[i * len(row) + j].paragraphs[0].add_run(value).bold = i == 0


def workbook(sheets: Sequence[Sheet], made: date, *, author: str) -> bytes:
    """An XLSX file. A formula given as text has no stored result, as in a workbook that no spreadsheet has opened."""
    out = openpyxl.Workbook()
    out.remove(out.active)
    results: dict[str, dict[str, float]] = {}
    for number, sheet in enumerate(sheets, 1):
        page = out.create_sheet(sheet.name)
        stored = results[f"xl/worksheets/sheet{number}.xml"] = {}
        for row in sheet.rows:
            page.append([cell.text if isinstance(cell, Formula) else cell for cell in row])
            for column, cell in enumerate(row, 1):
                if isinstance(cell, Formula):
                    stored[page.cell(page._current_row, column).coordinate] = cell.result
        for number in sheet.bold:
            for cell in page[number]:
                cell.font = Font(bold=True)
        for cells in sheet.merged:
            page.merge_cells(cells)
        for column, width in sheet.widths:
            page.column_dimensions[column].width = width
    stamp = datetime.combine(made, time(9, 30))
    out.properties.creator = out.properties.lastModifiedBy = author
    out.properties.created = stamp
    buffer = io.BytesIO()
    out.save(buffer)
    return _repacked(buffer.getvalue(), stamp, results)


def _with_results(xml: bytes, results: Mapping[str, float]) -> bytes:
    """A worksheet's XML with the stored results of its formulas, which openpyxl leaves empty."""

    def filled(found: re.Match[bytes]) -> bytes:
        result = results.get(found.group(2).decode())
        return found.group(0) if result is None else found.group(1) + f"<v>{result!r}</v>".encode()

    return re.sub(rb'(<c r="([A-Z]+\d+)"[^>]*><f>[^<]*</f>)<v ?(?:/>|></v>)', filled, xml)


def _repacked(data: bytes, stamp: datetime, results: Mapping[str, Mapping[str, float]] | None = None) -> bytes:
    """The same ZIP with fixed entry dates and, in the core properties, `stamp` as the time of the last change.
    results: name of a worksheet's part -> cell -> result of its formula."""
    modified = rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)"
    now = stamp.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = re.sub(modified, rb"\g<1>" + now + rb"\g<2>", content)
            if results and name in results:
                content = _with_results(content, results[name])
            entry = zipfile.ZipInfo(name, _ZIP_EPOCH)
            entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, 0o600 << 16, 3
            new.writestr(entry, content, compresslevel=6)
    return buffer.getvalue()
