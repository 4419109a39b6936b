"""Code that the agent writes, with or without the slips that it later mends.

A slip is a way in which a first version is wrong. Each shows up when the script really runs (see `possible_slips`), and
its repair is a SEARCH/REPLACE of the lines in which the two versions differ.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import SequenceMatcher

from .bench import render
from .brief import Spec
from .invoices import head_values
from .layouts import Layout
from .world import Supplier

_DATE = {
    "words": r"\d{1,2} [A-Z][a-z]+ \d{4}",
    "short": r"\d\d [A-Z][a-z]{2} \d{4}",
    "iso": r"\d{4}-\d\d-\d\d",
    "slash": r"\d\d/\d\d/\d{4}",
    "dot": r"\d\d\.\d\d\.\d{4}",
    "dash": r"\d\d-\d\d-\d{4}",
}
_COLUMN = {
    "pos": r"\d+",
    "sku": r"(?P<sku>\S+)",
    "description": r"(?P<description>.+)",
    "quantity": r"(?P<quantity>\d+)",
    "unit": r"(?P<unit>\S+)",
    "unit_price": r"(?P<unit_price>{PRICE})",
    "amount": r"(?P<amount>{PRICE})",
}


def possible_slips(supplier: Supplier) -> list[str]:
    """Slips in this supplier's reader that its own invoices bring to light."""
    found = []
    if supplier.layout.language != "fr":
        found.append("thousands")
    if any(len(i.lines) > supplier.layout.rows_per_page for i in supplier.invoices):
        found.append("first_page")
    if supplier.layout.dates == "slash" and any(d.day > 12 for i in supplier.invoices for d in (i.issued, i.due)):
        found.append("day_first")
    first, rest = supplier.invoices[0], supplier.invoices[1:]
    if {c for c, _ in first.charges} < {c for i in (first, *rest) for c, _ in i.charges}:
        found.append("charges")
    return found


def reader_module(supplier: Supplier, spec: Spec, doc: str, slips: Collection[str] = ()) -> str:
    style, code = supplier.layout, spec.code
    seen = supplier.invoices[:1] if "charges" in slips else supplier.invoices
    labels = sorted({label for i in seen for label, _ in i.charges})
    charges_head, charges_code = "", "    charges = 0"
    if labels:
        options = "|".join(map(_literal, labels))
        charges_head = f'CHARGES = re.compile(rf"^(?:{options}) (?P<value>{{MONEY}})$", re.M)'
        charges_code = f'    charges = sum({code["cents"]}(m.group("value")) for m in CHARGES.finditer(text))'
    if "vat_id" in spec.fields["invoice"]:
        charges_head = f'VAT_ID = re.compile(r"^{_literal(style.labels["vat_id"])} (?P<value>\\S+)$", re.M)' + (
            f"\n{charges_head}" if charges_head else ""
        )
    head_code, head_call = _head(supplier)
    return render(
        "reader",
        spec,
        reader_doc=doc,
        head_code=head_code,
        head_call=head_call,
        row_code=_row(style),
        price_line='PRICE = r"\\d+[.,]\\d\\d"' if "thousands" in slips else 'PRICE = r"[\\d.,]*\\d[.,]\\d\\d"',
        net_label=_literal(style.labels["net"]),
        tax_label=_literal(style.labels["tax"]),
        gross_label=_literal(style.labels["gross"]),
        currency=style.currency,
        charges_head=charges_head + "\n" * bool(charges_head),
        charges_code=charges_code,
        line_source="pages[0]" if "first_page" in slips else "text",
        line_fields=_line_fields(spec),
        record_fields=_record_fields(supplier, spec, "day_first" in slips),
    )


def _literal(text: str) -> str:
    """A label inside a regex: only what needs a backslash gets one."""
    return re.sub(r"([.#()+*?])", r"\\\1", text)


def _head(supplier: Supplier) -> tuple[str, str]:
    style = supplier.layout
    pairs = [(k, _literal(style.labels[k])) for k, _ in head_values(supplier, supplier.invoices[0])]
    shapes = {"date": _DATE[style.dates], "due": _DATE[style.dates]}
    if style.header == "row":
        values = " ".join(f"(?P<{k}>{shapes.get(k, chr(92) + 'S+')})" for k, _ in pairs)
        labels = " ".join(label for _, label in pairs)
        return (
            f'HEAD = re.compile(\n    r"^{labels}\\n"\n    r"{values}$",\n    re.M,\n)',
            "head = HEAD.search(text).groupdict()",
        )
    colon = ":" if style.header == "colon" else ""
    rows = "\n".join(f'    "{k}": r"^{label}{colon} ({shapes.get(k, chr(92) + "S+")})$",' for k, label in pairs)
    call = "head = {key: re.search(pattern, text, re.M).group(1) for key, pattern in HEAD.items()}"
    return f"HEAD = {{\n{rows}\n}}", call


def _row(style: Layout) -> str:
    cells = [_COLUMN[c] for c in style.columns]
    middle = len(cells) // 2
    return f'    rf"^{" ".join(cells[:middle])} "\n    rf"{" ".join(cells[middle:])}$"'


def _line_fields(spec: Spec) -> str:
    cents, out = spec.code["cents"], spec.code["money_out"]
    code = {f: f'found["{f}"]' for f in ("sku", "description", "unit")}
    code |= {"quantity": 'int(found["quantity"])'}
    code |= {f: f'{out}({cents}(found["{f}"]))' for f in ("unit_price", "amount")}
    return "\n".join(f'                    "{spec.keys[f]}": {code[f]},' for f in spec.line)


def _record_fields(supplier: Supplier, spec: Spec, month_first: bool) -> str:
    cents, out, iso = spec.code["cents"], spec.code["money_out"], spec.code["iso"]
    order = ", day_first=False" if month_first else ""
    code = {
        "number": 'head["number"]',
        "order": 'head["order"]',
        "customer": 'head["customer"]',
        "lines": "lines",
        "date": f'{iso}(head["date"]{order})',
        "due": f'{iso}(head["due"]{order})',
        "charges": f"{out}(charges)",
        "supplier": "text.splitlines()[0]",
        "vat_id": 'VAT_ID.search(text).group("value")',
        "currency": f'"{supplier.layout.currency}"',
        "tax_rate": 'int(TAX.search(text).group("rate"))',
        "iban": 'IBAN.search(text).group("value").replace(" ", "")',
    }
    code |= {f: f'{out}({cents}({f.upper()}.search(text).group("value")))' for f in ("net", "tax", "gross")}
    return "\n".join(f'        "{spec.keys[f]}": {code[f]},' for f in spec.fields["invoice"])


def orders_module(spec: Spec, doc: str) -> str:
    out, cents = spec.code["money_out"], spec.code["cents"]
    code = {
        "order": 'facts["Confirmation for order"]',
        "lines": "lines",
        "placed": 'facts["Order date"]',
        "wanted": 'facts["Requested delivery"]',
        "incoterm": 'facts["Delivery term"].split()[0]',
        "buyer": 'facts["Ordered by"]',
        "vendor": 'facts["Vendor"].split()[0]',
        "total": f"{out}({cents}(total))",
    }
    fields = "\n".join(f'        "{spec.keys[f]}": {code[f]},' for f in spec.fields["order"])
    strict = 'table == "items" and len(cells) == 7 and cells[0].isdigit()'
    return render("orders", spec, orders_doc=doc, order_fields=fields, items_test=strict)


def goods_module(spec: Spec, doc: str, slips: Collection[str] = ()) -> str:
    return render(
        "goods",
        spec,
        goods_doc=doc,
        minus="" if "returns" in slips else " - returned",
        sheets="book.worksheets[:1]" if "sheet" in slips else "book",
    )


def bank_module(spec: Spec, doc: str, slips: Collection[str] = ()) -> str:
    exact = "reference == number"
    bounded = 're.search(rf"(?<![\\w/-]){re.escape(number)}(?![\\w/-])", reference) is not None'
    return render(
        "bank",
        spec,
        bank_doc=doc,
        bank_path=spec.paths["bank"],
        ledger_path=spec.paths["ledger"],
        bank_encoding="utf-8" if "encoding" in slips else "cp1252",
        ledger_encoding="utf-8-sig",
        match=exact if "exact" in slips else bounded,
        gross_in=f'record["{spec.keys["gross"]}"]'
        if spec.minor
        else f'{spec.code["cents"]}(record["{spec.keys["gross"]}"])',
    )


def cross_module(spec: Spec, doc: str, slips: Collection[str] = ()) -> str:
    return render(
        "cross",
        spec,
        cross_doc=doc,
        part_paid="paid < gross" if "part" in slips else "0 < paid < gross",
        number_code="value" if spec.minor else 'int(value.replace(".", ""))',
    )


def show_module(spec: Spec, doc: str) -> str:
    return render("show", spec, show_doc=doc)


def repair(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """SEARCH/REPLACE blocks that turn one text into the other, with a line of context on each side where a changed line
    alone would not be found first at its own place."""
    a, b = before.splitlines(keepends=True), after.splitlines(keepends=True)
    blocks = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        low, high = (i1, i2) if tag == "replace" and before.count("".join(a[i1:i2])) == 1 else (max(0, i1 - 1), i2 + 1)
        blocks.append(("".join(a[low:high]), "".join(a[low:i1]) + "".join(b[j1:j2]) + "".join(a[i2:high])))
    return tuple(blocks)


def reader_test(supplier: Supplier, spec: Spec, doc: str) -> str:
    """A test of a reader's patterns on lines as this supplier prints them."""
    style, invoice = supplier.layout, supplier.invoices[-1]
    cases = []
    for position, line in enumerate(invoice.lines[:5], 1):
        cells = {"pos": str(position), "sku": line.product.sku, "description": line.product.name}
        cells |= {"quantity": str(line.quantity), "unit": line.product.unit}
        cells |= {"unit_price": style.money(line.price_cents), "amount": style.money(line.amount_cents)}
        printed = " ".join(cells[c] for c in style.columns)
        cases.append((printed, line.product.sku, str(line.quantity), cells["amount"]))
    net, gross = style.money(invoice.net_cents), style.money(invoice.gross_cents)
    others = [f"{style.labels['carried']} {net}", " ".join(style.labels[c] for c in style.columns)]
    others += [f"{style.labels['lot']} {line.lot}" for line in invoice.lines[:1] if style.lots]
    rows = "".join(f"            {case!r},\n" for case in cases)
    return render(
        "test_reader",
        spec,
        test_doc=doc,
        key=supplier.key,
        cases=f"(\n{rows}        )",
        others=repr(tuple(others)),
        net_line=f"{style.labels['net']} {net}",
        net=net,
        gross=gross,
        gross_line=f"{style.labels['gross']} {style.currency} {gross}",
    )
