"""The text inside PDF, DOCX, XLSX and IPYNB documents."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from simulator.drive.encodings import clean, decode

SHEET_ROWS = 50_000
#: what is in a DOCX or XLSX may be so large when unpacked; more would fill the memory
MAX_UNPACKED_BYTES = 300_000_000


class Unreadable(Exception):
    """A document that its library cannot read; str() says why."""


def extractor(name: str) -> Callable[[bytes], str] | None:
    """How to get the text out of a document of this name; None: it is a text file."""
    ending = name.rpartition(".")[2].lower()
    return {"pdf": pdf, "docx": docx, "xlsx": xlsx, "ipynb": ipynb}.get(ending)


def document(name: str, data: bytes) -> str | None:
    """Text of a document, or None for any other file. Unreadable: damaged or encrypted."""
    extract = extractor(name)
    if extract is None:
        return None
    try:
        return clean(extract(data))
    except Exception as error:  # three libraries, each with many ways to dislike a file
        raise Unreadable(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from error


def unpacked(data: bytes) -> io.BytesIO:
    """`data`, once it is known to be no archive that unpacks to more than memory should hold."""
    file = io.BytesIO(data)
    with zipfile.ZipFile(file) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > MAX_UNPACKED_BYTES:
        raise ValueError(f"it unpacks to {size / 1e6:,.0f} MB, the limit is {MAX_UNPACKED_BYTES / 1e6:.0f} MB")
    return file


def pdf(data: bytes) -> str:
    """Pages in order, a blank line between them."""
    import pypdf

    return "\n\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages) + "\n"


def docx(data: bytes) -> str:
    """Paragraphs and tables in the order of the document; a table's row is a line with TAB between cells."""
    import docx as library

    return "\n".join(_blocks(library.Document(unpacked(data)))) + "\n"


def _blocks(container: Any) -> Iterator[str]:
    for block in container.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                cells = {id(cell._tc): cell for cell in row.cells}  # a merged cell comes once for each column
                yield "\t".join(" ".join(" ".join(_blocks(cell)).split()) for cell in cells.values())
        else:
            yield block.text


def xlsx(data: bytes) -> str:
    """Each visible sheet under its own heading, TAB between cells, empty rows left out; a formula shows its stored
    result, or itself when the file has none. At most 50,000 rows a sheet."""
    import openpyxl

    values = openpyxl.load_workbook(unpacked(data), data_only=True)
    formulas = openpyxl.load_workbook(io.BytesIO(data))
    parts: list[str] = []
    for sheet in values.worksheets:
        if sheet.sheet_state != "visible":
            continue
        parts.append(f"--- Sheet: {sheet.title} ---")
        parts += _rows(sheet, formulas[sheet.title])
        parts.append("")
    return "\n".join(parts)


def _rows(results: Any, written: Any) -> Iterator[str]:
    # the cells that are there, not all up to the last: one cell in a far corner would take hours
    shown = 0
    for _, places in itertools.groupby(sorted(results._cells), key=lambda place: place[0]):
        cells: list[str] = []
        for row, column in places:
            value = results._cells[row, column].value
            text = _cell(written.cell(row, column).value if value is None else value)
            if text:
                cells += [""] * (column - 1 - len(cells)) + [text]
        if not cells:
            continue
        if shown == SHEET_ROWS:
            yield f"[... only the first {SHEET_ROWS} rows are shown]"
            return
        shown += 1
        yield "\t".join(cells)


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case dt.datetime() if value.time() == dt.time():
            return value.date().isoformat()
        case dt.datetime():
            return value.isoformat(sep=" ")
        case str():
            return " ".join(value.split("\n"))
        case _:
            return str(getattr(value, "text", value))


def ipynb(data: bytes) -> str:
    """The notebook as it is stored, less what its cells printed and how often they were run."""
    notebook = json.loads(decode(data)[0])
    for cell in notebook["cells"]:
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
