"""An invoice as its supplier prints it: the pages of a PDF."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date

from simulator.tasks import office, words
from simulator.tasks.office import Rule, Text

from .clauses import grouped
from .world import Invoice, Supplier, World

_WIDTHS = {"pos": 9, "sku": 24, "description": 66, "quantity": 13, "unit": 17, "unit_price": 23, "amount": 26}
_RIGHT = {"quantity", "unit_price", "amount"}
_LINE_MM = 5.2

#: printed small under the totals: rules, remittance notes, advertising; nobody asked for it
_SMALL = (
    "[Goods|Deliveries] remain [our|the seller's] property until paid in full. [Place of performance|Venue]: {city}.",
    "[Complaints|Claims] are to be made within {n} days of receipt, quoting {ref}.",
    "[Please|Kindly] [quote|state] {ref} with every payment. Contact in accounts: {who}, {phone}.",
    "Our office is closed from {n} to {m} {month}; [orders|e-mails] are answered by {who}.",
    "New: {product}. Ask {who} for a sample or see {domain}/news.",
    "Registered office {city}, register no. {n}{m}{n}. Managing director: {who}.",
    "Bank charges outside the single payments area are borne by the [payer|remitter].",
)


def invoice_pdf(r: random.Random, world: World, supplier: Supplier, invoice: Invoice) -> bytes:
    style = supplier.layout
    title = f"{style.labels['title']} {invoice.number}"
    pages = _pages(r, world, supplier, invoice)
    maker = r.choice(("Navigo ERP 8", "Faktura Plus", "Ledgerline 2024", "BookWorks 5.1", "Orbis Print Service"))
    author = supplier.company.name
    return office.pdf(pages, invoice.issued, title=title, author=author, producer=maker, font=style.font)


def _pages(r: random.Random, world: World, supplier: Supplier, invoice: Invoice) -> list[list[Text | Rule]]:
    style, rows = supplier.layout, list(invoice.lines)
    chunks = [rows[: style.rows_per_page]]
    for start in range(style.rows_per_page, len(rows), style.rows_per_page + 8):
        chunks.append(rows[start : start + style.rows_per_page + 8])
    pages, carried, position = [], 0, 1
    for number, chunk in enumerate(chunks, 1):
        page: list[Text | Rule] = []
        y = _letterhead(page, world, supplier, invoice) if number == 1 else 18.0
        if number > 1:
            label = style.labels["page"]
            page.append(Text(20, y, f"{supplier.company.short} {invoice.number} {label} {number}/{len(chunks)}", 8))
            y += 2 * _LINE_MM
        y = _table_head(page, supplier, y)
        if number > 1:
            y = _total(page, supplier, y, style.labels["carried"], style.money(carried))
        for line in chunk:
            cells = {"pos": str(position), "sku": line.product.sku, "description": line.product.name}
            cells |= {"quantity": str(line.quantity), "unit": line.product.unit}
            cells |= {"unit_price": style.money(line.price_cents), "amount": style.money(line.amount_cents)}
            y = _row(page, supplier, y, cells)
            if style.lots:
                page.append(Text(34, y, f"{style.labels['lot']} {line.lot}", 7))
                y += _LINE_MM
            carried, position = carried + line.amount_cents, position + 1
        if number < len(chunks):
            _total(page, supplier, y, style.labels["carried"], style.money(carried))
        else:
            _foot(r, page, supplier, invoice, y)
        pages.append(page)
    return pages


def _letterhead(page: list[Text | Rule], world: World, supplier: Supplier, invoice: Invoice) -> float:
    style, firm, y = supplier.layout, supplier.company, 14.0
    page.append(Text(20, y, firm.name, 13, bold=True))
    for text in (*firm.address.lines, f"{firm.phone}  {firm.domain}", f"{style.labels['vat_id']} {firm.vat_id}"):
        y += _LINE_MM
        page.append(Text(20, y, text, 8))
    y += 8
    for text in (world.buyer.name, *world.buyer.address.lines):
        y += _LINE_MM
        page.append(Text(20, y, text, 10))
    y += 12
    page.append(Text(20, y, style.labels["title"], 14, bold=True))
    y += 9
    pairs = [(style.labels[k], v) for k, v in head_values(supplier, invoice)]
    if style.header == "row":
        step = 170 / len(pairs)
        page += [
            Text(20 + k * step, y, label, _small_size(supplier, 7), bold=True) for k, (label, _) in enumerate(pairs)
        ]
        page += [
            Text(20 + k * step, y + _LINE_MM, value, _small_size(supplier, 8)) for k, (_, value) in enumerate(pairs)
        ]
        return y + 3 * _LINE_MM
    for label, value in pairs:
        page.append(Text(20, y, f"{label}: {value}" if style.header == "colon" else f"{label} {value}"))
        y += _LINE_MM
    return y + _LINE_MM


def _small_size(supplier: Supplier, size: float) -> float:
    """Courier runs so wide that neighbouring columns would touch, and then no extractor finds the gap."""
    return size * 0.78 if supplier.layout.font == "Courier" else size


def head_values(supplier: Supplier, invoice: Invoice) -> tuple[tuple[str, str], ...]:
    """(label key, printed value) of the block above the items, in printed order."""
    show = supplier.layout.date
    return (
        ("number", invoice.number),
        ("date", show(invoice.issued)),
        ("order", invoice.order.number),
        ("customer", invoice.customer),
        ("due", show(invoice.due)),
    )


def _table_head(page: list[Text | Rule], supplier: Supplier, y: float) -> float:
    _row(page, supplier, y, supplier.layout.labels, bold=True)
    page.append(Rule(20, y + _LINE_MM - 0.6, 198, y + _LINE_MM - 0.6))
    return y + 1.4 * _LINE_MM


def _row(page: list[Text | Rule], supplier: Supplier, y: float, cells: Mapping[str, str], bold: bool = False) -> float:
    x = 20.0
    for column in supplier.layout.columns:
        width = _WIDTHS[column]
        right = column in _RIGHT
        page.append(
            Text(x + width - 2 if right else x, y, cells[column], _small_size(supplier, 8), bold, "R" if right else "L")
        )
        x += width
    return y + _LINE_MM


def _total(page: list[Text | Rule], supplier: Supplier, y: float, label: str, value: str, bold: bool = False) -> float:
    edge = 18.0 + sum(_WIDTHS[c] for c in supplier.layout.columns)
    page.append(Text(110, y, label, 9, bold))
    page.append(Text(edge, y, value, 9, bold, "R"))
    return y + _LINE_MM


def _foot(r: random.Random, page: list[Text | Rule], supplier: Supplier, invoice: Invoice, y: float) -> None:
    style, labels = supplier.layout, supplier.layout.labels
    page.append(Rule(110, y, 198, y))
    y += 2
    for label, cents in invoice.charges:
        y = _total(page, supplier, y, label, style.money(cents))
    y = _total(page, supplier, y, labels["net"], style.money(invoice.net_cents))
    y = _total(page, supplier, y, f"{labels['tax']} {style.vat_percent} %", style.money(invoice.tax_cents))
    y = _total(page, supplier, y, f"{labels['gross']} {style.currency}", style.money(invoice.gross_cents), bold=True)
    y += _LINE_MM
    bank = f"{'IBAN' if style.bank_first else 'Bank / IBAN'} {grouped(invoice.iban)}"
    page.append(Text(20, y, bank))
    for text in r.sample(_SMALL, r.randint(3, 6)):
        y += _LINE_MM * 0.9
        page.append(Text(20, y, _small(r, supplier, invoice, text), 7))


def _small(r: random.Random, supplier: Supplier, invoice: Invoice, text: str) -> str:
    firm, who = supplier.company, words.person(r).name
    month = supplier.layout.date(date(invoice.issued.year, r.randint(1, 12), r.randint(1, 28)))
    product = words.product(r, firm.sector).name
    numbers = {"n": r.randint(5, 12), "m": r.randint(13, 28)}
    return words.say(r, text, city=firm.address.city, ref=invoice.number, who=who, phone=firm.phone, month=month,
                     product=product, domain=firm.domain, **numbers)  # fmt: skip
