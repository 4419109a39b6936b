"""File bytes to text: encodings, and the text inside PDF, DOCX and XLSX documents."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any

SHEET_ROWS = 50_000


class Unreadable(Exception):
    """A document that its library cannot read; str() says why."""


def decode(data: bytes) -> tuple[str, str]:
    """(text, encoding). UTF-8 and UTF-16 by their marks, then UTF-8 if it is valid, else cp1252, else Latin-1."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data.decode("utf-8-sig", errors="replace"), "utf-8-sig"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace"), "utf-16"
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def extractor(name: str) -> Callable[[bytes], str] | None:
    """How to get the text out of a document of this name; None: it is a text file."""
    ending = name.rpartition(".")[2].lower()
    return {"pdf": pdf, "docx": docx, "xlsx": xlsx}.get(ending)


def document(name: str, data: bytes) -> str | None:
    """Text of a document, or None for any other file. Unreadable: damaged or encrypted."""
    extract = extractor(name)
    if extract is None:
        return None
    try:
        return extract(data)
    except Exception as error:  # three libraries, each with many ways to dislike a file
        raise Unreadable(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from error


def pdf(data: bytes) -> str:
    """Pages in order, a blank line between them."""
    import pypdf

    return "\n\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages) + "\n"


def docx(data: bytes) -> str:
    """Paragraphs and tables in the order of the document; a table's row is a line with TAB between cells."""
    import docx as library

    return "\n".join(_blocks(library.Document(io.BytesIO(data)))) + "\n"


def _blocks(container: Any) -> Iterator[str]:
    for block in container.iter_inner_content():
        if hasattr(block, "rows"):
            for row in block.rows:
                cells = {id(cell._tc): cell for cell in row.cells}  # a merged cell comes once for each column
                yield "\t".join(" ".join(" ".join(_blocks(cell)).split()) for cell in cells.values())
        else:
            yield block.text


def xlsx(data: bytes) -> str:
    """Each sheet under its own heading, TAB between cells, empty rows left out; a formula shows its stored result,
    or itself when the file has none. At most 50,000 rows a sheet."""
    import openpyxl

    values = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    formulas = openpyxl.load_workbook(io.BytesIO(data))
    parts: list[str] = []
    for sheet in values.worksheets:
        parts.append(f"--- Sheet: {sheet.title} ---")
        rows = zip(sheet.iter_rows(values_only=True), formulas[sheet.title].iter_rows(values_only=True), strict=True)
        parts += _rows(rows)
        parts.append("")
    return "\n".join(parts)


def _rows(rows: Iterable[tuple[tuple[Any, ...], tuple[Any, ...]]]) -> Iterator[str]:
    shown = 0
    for results, written in rows:
        cells = [_cell(w if r is None else r) for r, w in zip(results, written, strict=True)]
        line = "\t".join(cells).rstrip("\t")
        if not line:
            continue
        if shown == SHEET_ROWS:
            yield f"[... only the first {SHEET_ROWS} rows are shown]"
            return
        shown += 1
        yield line


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
