"""The papers that no supplier prints: portal pages (HTML), the goods-in workbook, bank and ledger exports (CSV)."""

from __future__ import annotations

import html
import random
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.tasks import office, words
from simulator.tasks.office import Sheet

from .layouts import MONTHS
from .world import Invoice, Supplier, World


def order_html(r: random.Random, world: World, supplier: Supplier, invoice: Invoice) -> bytes:
    """A saved portal page: tables in tables, navigation and offers around the one table that matters."""
    order, firm = invoice.order, supplier.company
    shades = [f"#{r.randrange(0xC0C0C0, 0xFFFFFF):06x}" for _ in range(3)]
    menu = r.sample(("Home", "Orders", "Quotations", "Deliveries", "Complaints", "Messages", "Profile", "Help"), 6)
    nav = "".join(f'<td bgcolor="{shades[0]}"><a href="/p/{words.plain(m)}">{m}</a></td>' for m in menu)
    facts = [
        ("Confirmation for order", order.number),
        ("Order date", order.placed.isoformat()),
        ("Confirmed on", order.confirmed.isoformat()),
        ("Requested delivery", order.wanted.isoformat()),
        ("Delivery term", f"{order.incoterm} {world.buyer.address.city}"),
        ("Ordered by", order.buyer.name),
        ("Vendor", f"{supplier.vendor_no} {firm.name}"),
    ]
    head = "\n".join(f"<tr><th align=left>{k}</th><td>{html.escape(v)}</td></tr>" for k, v in facts)
    lines = "\n".join(
        f'<tr class="{"odd" if k % 2 else "even"}"><td>{k * 10}</td><td>{line.product.sku}</td>'
        f"<td>{html.escape(line.product.name)}</td><td align=right>{line.quantity}</td><td>{line.product.unit}</td>"
        f"<td align=right>{line.price_cents / 100:.2f}</td><td align=right>{line.amount_cents / 100:.2f}</td></tr>"
        for k, line in enumerate(order.lines, 1)
    )
    offers = "\n".join(
        f"<tr><td>{html.escape(p.name)}</td><td>{p.sku}</td><td>{p.price_cents / 100:.2f}</td></tr>"
        for p in (words.product(r, firm.sector) for _ in range(r.randint(3, 7)))
    )
    heads = "".join(f"<th>{t}</th>" for t in ("Pos", "Material", "Text", "Qty", "Unit", "Price", "Value"))
    odd, even = f".odd{{background:{shades[1]}}}", f".even{{background:{shades[2]}}}"
    page = f"""<html><head><title>{html.escape(firm.short)}: {order.number}</title>
<style>{odd} {even} td,th{{padding:{r.randint(2, 6)}px}}</style></head>
<body><table width="{r.randrange(820, 1100, 20)}" class="frame"><tr>{nav}</tr>
<tr><td colspan=4 valign=top>
<table class="facts">
{head}
</table>
<table class="items" border=1>
<tr>{heads}</tr>
{lines}
<tr><td colspan=6>Order value {supplier.layout.currency}</td><td align=right>{order.total_cents / 100:.2f}</td></tr>
</table>
</td><td colspan=2 valign=top>
<table class="offers"><tr><th colspan=3>Often ordered together</th></tr>
{offers}
</table></td></tr>
<tr><td colspan=6><small>Session of {html.escape(words.person(r).name)}, release {words.pattern(r, "#.##.#")}.
Prices without tax. The delivery term is {order.incoterm} as defined in the framework agreement.</small></td></tr>
</table></body></html>
"""
    return page.encode()


@dataclass(frozen=True, slots=True)
class LogRow:
    day: date
    order: str
    who: str
    sku: str
    text: str
    quantity: int
    unit: str
    returned: int
    checker: str
    remark: str


def log_rows(r: random.Random, world: World, noise: int) -> list[LogRow]:
    """All deliveries of our suppliers and `noise` of others', by day."""
    rows = []
    for supplier, invoice in world.invoices():
        goods = {line.product.sku: line.product for line in invoice.lines}
        for d in invoice.deliveries:
            remark = r.choice(("damaged in transit", "wrong size", "failed inspection")) if d.returned else _remark(r)
            p = goods[d.sku]
            rows.append(
                LogRow(
                    d.day,
                    invoice.order.number,
                    supplier.company.short,
                    d.sku,
                    p.name,
                    d.quantity,
                    p.unit,
                    d.returned,
                    d.checker,
                    remark,
                )
            )
    for _ in range(noise):
        firm = r.choice(world.strangers)
        p, day = words.product(r, firm.sector), world.start + timedelta(days=r.randint(0, 75))
        order = words.pattern(r, r.choice(("##-####", "Z#####", "SO####@")))
        rows.append(
            LogRow(
                day, order, firm.short, p.sku, p.name, r.randint(1, 60), p.unit, 0, words.pattern(r, "@@"), _remark(r)
            )
        )
    return sorted(rows, key=lambda row: (row.day, row.order, row.sku, row.checker))


def _remark(r: random.Random) -> str:
    return r.choice(("", "", "", "", "ok", "pallet exchanged", "box open, complete", "note missing", "driver waited"))


def goods_in(r: random.Random, world: World, rows: list[LogRow]) -> bytes:
    """A workbook with a sheet a month: a merged title, a heading in row 3, blank rows between days, weekly sums as
    formulas, and sheets that have nothing to do with it."""
    sheets = []
    for year, month in sorted({(row.day.year, row.day.month) for row in rows}):
        cells: list[list[object]] = [[f"Goods-in {world.buyer.address.city}, {MONTHS[month - 1]} {year}"], []]
        cells.append(["Date", "Order", "Supplier", "Code", "Text", "Qty", "Unit", "Returned", "By", "Remark"])
        first, week = 4, None
        for row in (x for x in rows if (x.day.year, x.day.month) == (year, month)):
            if week is not None and row.day.isocalendar()[1] != week:
                cells += [[None, f"week {week}", None, None, None, f"=SUM(F{first}:F{len(cells)})"], []]
                first = len(cells) + 1
            week = row.day.isocalendar()[1]
            day: object = row.day if r.random() < 0.8 else row.day.strftime("%d.%m.%Y")
            cells.append(
                [
                    day,
                    row.order,
                    row.who,
                    row.sku,
                    row.text,
                    row.quantity,
                    row.unit,
                    row.returned or None,
                    row.checker,
                    row.remark or None,
                ]
            )
        sheets.append(Sheet(f"{MONTHS[month - 1][:3]} {year}", cells, [1, 3], ["A1:J1"], [("C", 26), ("E", 34)]))
    gates = [["Gate", "Opens", "Closes", "Supervisor"]]
    gates += [[str(k), f"0{r.randint(5, 8)}:00", f"{r.randint(15, 19)}:30", words.person(r).name] for k in range(1, 5)]
    codes = [["Initials", "Name"]] + [[c, words.person(r).name] for c in sorted({row.checker for row in rows})[:12]]
    sheets += [Sheet("Gates", gates, [1]), Sheet("Initials", codes, [1])]
    return office.workbook(sheets, world.start + timedelta(days=90), author=world.clerk.name)


def bank_csv(r: random.Random, world: World, noise: int) -> bytes:
    """Account movements as the bank exports them: Windows-1252, semicolons, decimal commas, debits negative."""
    moves: list[tuple[date, str, str, int]] = []
    for supplier, invoice in world.invoices():
        moves += [(p.paid, supplier.company.name, p.reference, -p.cents) for p in invoice.payments]
    for _ in range(noise):
        day = world.start + timedelta(days=r.randint(5, 110))
        moves.append((day, *_other_move(r, world, day)))
    moves.sort()
    lines = ["Buchung;Valuta;Auftraggeber/Empfänger;Verwendungszweck;Betrag;Saldo"]
    balance = r.randint(2_000_000, 9_000_000) * 10
    for day, who, text, cents in moves:
        balance += cents
        value = day + timedelta(days=r.choice((0, 0, 1)))
        lines.append(f"{day:%d.%m.%Y};{value:%d.%m.%Y};{who};{text};{_comma(cents)};{_comma(balance)}")
    return ("\r\n".join(lines) + "\r\n").encode("cp1252")


def _other_move(r: random.Random, world: World, day: date) -> tuple[str, str, int]:
    """(counterparty, reference, cents) of a movement that has nothing to do with our suppliers."""
    firm, number = r.choice(world.strangers), words.pattern(r, "####-##")
    match r.choice(("bill", "bill", "bill", "income", "income", "salary", "rent", "card")):
        case "income":
            return firm.name, f"{world.buyer.short} RE {number}", words.cents(r, 4_000, 2_400_000)
        case "salary":
            return words.person(r).name, f"Gehälter {day:%m/%Y}", -words.cents(r, 180_000, 620_000)
        case "rent":
            return firm.name, f"Miete Objekt {firm.address.street}", -words.cents(r, 90_000, 900_000)
        case "card":
            return firm.name, f"Karte {number} {firm.address.city}", -words.cents(r, 900, 40_000)
    return firm.name, r.choice((f"INV {number}", f"Rg. {number}", number)), -words.cents(r, 1_200, 1_800_000)


def _comma(cents: int) -> str:
    return f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,"))


def ledger_csv(r: random.Random, world: World, noise: int) -> bytes:
    """Open-item list of the accounting system: UTF-8 with a byte order mark, commas, ISO dates, quoted texts."""
    rows = []
    for supplier, invoice in world.invoices():
        rows.append(
            (
                invoice.posted,
                supplier.vendor_no,
                supplier.company.name,
                invoice.number,
                invoice.gross_cents,
                invoice.cost_centre,
            )
        )
    for _ in range(noise):
        firm, day = r.choice(world.strangers), world.start + timedelta(days=r.randint(0, 90))
        rows.append(
            (
                day,
                words.pattern(r, "7#####"),
                firm.name,
                words.pattern(r, "@####-##"),
                words.cents(r, 900, 900_000),
                words.pattern(r, "4#0#"),
            )
        )
    lines = ["posted,vendor,vendor_name,document,gross,cost_centre,posted_by,text"]
    for day, vendor, name, document, cents, centre in sorted(rows):
        clerk = words.person(r).last
        text = r.choice(("goods", "services", "freight, inbound", "repair", "consumables", "rent"))
        lines.append(f'{day},{vendor},"{name}",{document},{cents / 100:.2f},{centre},{clerk},"{text}"')
    return ("\ufeff" + "\n".join(lines) + "\n").encode()
