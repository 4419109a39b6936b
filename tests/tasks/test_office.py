"""Office files: what was put in comes out, and the bytes know no present time."""

from __future__ import annotations

import io
import time
import zipfile
from datetime import date

import docx
import openpyxl
import pypdf
import pytest

from simulator.tasks.office import Formula, Heading, Paragraph, Rule, Sheet, Table, Text, pdf, word, workbook

DAY = date(2025, 3, 14)


def sample_pdf() -> bytes:
    page = [Text(20, 20, "Größe – 12,50 €", 12, bold=True), Rule(20, 30, 190, 30), Text(190, 40, "1.234,50", align="R")]
    return pdf([page, [Text(20, 20, "second")]], DAY, title="T", author="A", producer="P", font="Times")


def sample_word() -> bytes:
    blocks = [Heading(1, "Title"), Paragraph("Text"), Table([("a", "b"), ("1", "2")]), Paragraph("End", bold=True)]
    return word(blocks, DAY, title="T", author="A")


def sample_workbook() -> bytes:
    rows = [["Day", "n"], [DAY, 3], [None, "=SUM(B2:B2)"]]
    return workbook([Sheet("One", rows, [1], ["A1:B1"], [("A", 20)]), Sheet("Two", [["x"]])], DAY, author="A")


def test_pdf_text_in_the_given_order() -> None:
    reader = pypdf.PdfReader(io.BytesIO(sample_pdf()))
    assert [p.extract_text().split("\n") for p in reader.pages] == [["Größe – 12,50 €", "1.234,50"], ["second"]]
    assert reader.metadata is not None and reader.metadata.creation_date_raw == "D:20250314093000Z"


def test_pdf_refuses_what_its_fonts_lack() -> None:
    with pytest.raises(Exception, match=r"outside the range|cannot be encoded|can't encode"):
        pdf([[Text(1, 1, "漢")]], DAY, title="", author="", producer="")


def test_word_blocks_in_order() -> None:
    document = docx.Document(io.BytesIO(sample_word()))
    kinds = [type(block).__name__ for block in document.iter_inner_content()]
    assert kinds == ["Paragraph", "Paragraph", "Table", "Paragraph"]
    assert [[c.text for c in row.cells] for row in document.tables[0].rows] == [["a", "b"], ["1", "2"]]


def test_workbook_values_and_formulas() -> None:
    book = openpyxl.load_workbook(io.BytesIO(sample_workbook()))
    assert book.sheetnames == ["One", "Two"]
    assert book["One"]["A2"].value.date() == DAY and book["One"]["B3"].value == "=SUM(B2:B2)"


def test_a_formula_keeps_its_stored_result() -> None:
    rows = [["n", "double"], [4, Formula("=A2*2", 8)], [1.5, "=A3*2"], [None, Formula("=SUM(B2:B3)", 11.25)]]
    data = workbook([Sheet("One", [["x"]]), Sheet("Two", rows)], DAY, author="A")
    stored = openpyxl.load_workbook(io.BytesIO(data), data_only=True)["Two"]
    written = openpyxl.load_workbook(io.BytesIO(data))["Two"]
    assert [stored[cell].value for cell in ("B2", "B3", "B4")] == [8, None, 11.25]
    assert written["B4"].value == "=SUM(B2:B3)"


@pytest.mark.parametrize("make", [sample_pdf, sample_word, sample_workbook])
def test_bytes_repeat_in_another_second(make) -> None:  # type: ignore[no-untyped-def]
    first = make()
    time.sleep(1.1)  # the libraries stamp whole seconds
    assert make() == first


@pytest.mark.parametrize("make", [sample_word, sample_workbook])
def test_containers_carry_fixed_dates(make) -> None:  # type: ignore[no-untyped-def]
    with zipfile.ZipFile(io.BytesIO(make())) as box:
        assert {entry.date_time for entry in box.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        core = box.read("docProps/core.xml").decode()
    assert core.count("2025-03-14T09:30:00Z") == 2
