"""Encodings, documents made by the libraries that people make them with, and definition lines."""

import datetime as dt
import io
import json
import zipfile

import docx
import openpyxl
import pytest
from fpdf import FPDF

from simulator.drive.encodings import decode
from simulator.drive.extract import Unreadable, document
from simulator.drive.outline import definitions


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        ("Grüße €\n".encode(), "Grüße €\n", "utf-8"),
        ("Grüße".encode("utf-8-sig"), "Grüße", "utf-8-sig"),
        ("Grüße".encode("utf-16"), "Grüße", "utf-16"),
        ("Grüße €".encode("cp1252"), "Grüße €", "cp1252"),
        (b"\x81\xfc", "\x81ü", "latin-1"),  # 0x81 is nothing in cp1252
        (b"a\r\nb\rc", "a\r\nb\rc", "utf-8"),
    ],
)
def test_encodings(data, text, encoding):
    assert decode(data) == (text, encoding)


def test_pdf_pages_in_order():
    made = FPDF()
    made.set_font("Helvetica", size=12)
    for number in (1, 2):
        made.add_page()
        made.cell(text=f"Invoice page {number}")
    text = document("x.PDF", bytes(made.output()))
    assert text == "Invoice page 1\n\nInvoice page 2\n"


def test_docx_tables_stay_in_their_place():
    made = docx.Document()
    made.add_paragraph("Before")
    table = made.add_table(rows=2, cols=3)
    for row, words in zip(table.rows, (("a", "b", "c"), ("d", "e\nf", "")), strict=True):
        for cell, word in zip(row.cells, words, strict=True):
            cell.text = word
    table.cell(0, 0).merge(table.cell(0, 1))
    made.add_paragraph("After")
    data = io.BytesIO()
    made.save(data)
    assert document("x.docx", data.getvalue()) == "Before\na b\tc\nd\te f\t\nAfter\n"


def test_xlsx_values_formulas_and_sheets():
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = "Sales"
    sheet.append(["item", "n", "ok", "when"])
    sheet.append(["nut", 2.5, True, dt.datetime(2024, 3, 1)])
    sheet.append([])
    sheet.append(["two\nlines", None, None, dt.datetime(2024, 3, 1, 12, 30)])
    sheet.append(["sum", "=SUM(B2:B3)"])
    made.create_sheet("Empty")
    data = io.BytesIO()
    made.save(data)
    assert document("x.xlsx", data.getvalue()) == (
        "--- Sheet: Sales ---\nitem\tn\tok\twhen\nnut\t2.5\tTRUE\t2024-03-01\ntwo lines\t\t\t2024-03-01 12:30:00\n"
        "sum\t=SUM(B2:B3)\n\n--- Sheet: Empty ---\n"
    )


def test_xlsx_hidden_sheets_are_left_out_and_far_cells_cost_nothing():
    made = openpyxl.Workbook()
    made.active.append(["a", None, "c"])
    made.active.cell(1_048_576, 3, "far")
    made.active.cell(5, 2, "")
    for title, state in (("Secret", "hidden"), ("Deep", "veryHidden")):
        made.create_sheet(title).sheet_state = state
    data = io.BytesIO()
    made.save(data)
    assert document("x.xlsx", data.getvalue()) == "--- Sheet: Sheet ---\na\t\tc\n\t\tfar\n"


def test_xlsx_formulas_show_their_stored_results():
    made = openpyxl.Workbook()
    made.active.append([2, "=A1*21"])
    data = io.BytesIO()
    made.save(data)
    whole = io.BytesIO()
    with zipfile.ZipFile(data) as source, zipfile.ZipFile(whole, "w") as target:
        for name in source.namelist():  # a spreadsheet program would have stored the result
            target.writestr(
                name,
                source.read(name).replace(b"</f><v />", b"</f><v>42</v>").replace(b"</f><v></v>", b"</f><v>42</v>"),
            )
    assert document("x.xlsx", whole.getvalue()) == "--- Sheet: Sheet ---\n2\t42\n"


def test_archives_that_unpack_to_too_much_are_refused():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/sharedStrings.xml", "w") as part:
        for _ in range(310):
            part.write(bytes(1_000_000))
    for name in ("x.xlsx", "x.docx"):
        with pytest.raises(Unreadable, match="unpacks to 310 MB, the limit is 300 MB"):
            document(name, made.getvalue())


def test_notebooks_lose_their_outputs():
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Größe\n"]},
        {
            "cell_type": "code",
            "execution_count": 7,
            "metadata": {},
            "outputs": [{"text": "x" * 9_000}],
            "source": ["1\n"],
        },
    ]
    data = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()
    text = document("a.ipynb", data)
    assert json.loads(text)["cells"] == [cells[0], {**cells[1], "outputs": [], "execution_count": None}]
    assert "Größe" in text and len(text.splitlines()) > 15, "one value a line, so that ranges can be read"
    for damaged in (b"{", b"[]", b'{"cells": 3}', b'{"cells": [1]}'):
        with pytest.raises(Unreadable):
            document("a.ipynb", damaged)


def test_other_files_are_no_documents_and_damaged_ones_say_so():
    assert document("x.csv", b"a") is None
    for name in ("x.pdf", "x.docx", "x.xlsx"):
        with pytest.raises(Unreadable):
            document(name, b"not one")


PYTHON = '''"""class Not: here"""
import os
@decorated(
    1
)
class A(B):
    x = 1

    async def f(self):
        def inner(): ...

    class C:
        def g(self): ...
if os.name:
    def h(): pass
else:
    def h(): ...
'''


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", PYTHON, [6, 9, 12, 13, 15, 17]),
        ("broken.py", "def f(:\n  x\nclass A\n# def no\n", [1, 3]),
        (
            "a.ts",
            "export interface A {\n}\nconst f = (x) => x;\nconst y = 1;\nexport async function g() {}\n",
            [1, 3, 5],
        ),
        ("a.go", "package x\nfunc (s *S) F() {\n}\ntype S struct {\n", [2, 4]),
        ("a.rs", "pub(crate) fn f() {}\nlet fn_ = 1;\nimpl A for B {\n", [1, 3]),
        ("a.rb", "module A\n  def b\n  end\nend\n", [1, 2]),
        ("a.c", "#include <x>\nint main(int argc) {\n  return f(1);\n}\nint f(int);\n", [2]),
        (
            "b.ts",
            "export class A<T> extends B {\n  private x = f(1);\n  constructor(private readonly a: A) {\n    if (a) {\n"
            "    for (const b of c) {\n    }\n  }\n  async get<T>(id: string): Promise<T> {\n    return new Map([{\n"
            "  static get size(): number {\n  #hidden() {\n    items.forEach((x) => {\n    describe('x', () => {\n",
            [1, 3, 8, 10, 11],
        ),
        (
            "A.java",
            "public class A {\n    private final int x;\n    public A(int x) {\n        if (x > 1) {\n"
            "    public static <T> List<T> of(T... x) throws E {\n        foo(x);\n        return new A() {\n",
            [1, 3, 5],
        ),
        ("min.js", "function a() {}\n" + "function b() {" + "x();" * 200 + "}\n", [1]),
        ("deep.py", "def f(): pass\nx = " + "(" * 5_000 + ")" * 5_000 + "\n", [1]),
        ("a.txt", "def f(): pass\n", []),
    ],
)
def test_definitions(name, text, found):
    lines = text.split("\n")
    assert list(definitions(name, text)) == [(n, lines[n - 1].rstrip()) for n in found]
