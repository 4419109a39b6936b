"""Makes a world from a seed: partners, contracts, orders, what was billed, delivered and paid, and the deviations."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from datetime import date, timedelta

from simulator.tasks import words
from simulator.tasks.words import Company, Product

from .layouts import Layout, layout
from .world import Contract, Delivery, Invoice, Line, Order, Payment, Supplier, World


def build(seed: int, size: str) -> World:
    """The world of a seed. Where two suppliers by chance count alike it is drawn again, since numbers are keys."""
    for attempt in itertools.count():
        world = _draw(seed, size, attempt)
        numbers = [i.number for _, i in world.invoices()] + [i.order.number for _, i in world.invoices()]
        if len(set(map(words.plain, numbers))) == len(numbers):
            return world
    raise AssertionError("unreachable")


def _draw(seed: int, size: str, attempt: int) -> World:
    r = words.stream(seed, "documents", "world", size, attempt)
    n = 1 if size == "small" else r.choice((1, 2, 2, 2)) if size == "medium" else r.randint(5, 7)
    firms = words.companies(r, n + 1 + 14)
    buyer, partners, strangers = firms[0], firms[1 : n + 1], firms[n + 1 :]
    year = r.randint(2024, 2026)
    start = date(year, r.randint(1, 8), 1)
    streams = [words.stream(seed, "documents", "supplier", k, size, attempt) for k in range(n)]
    suppliers = tuple(_supplier(s, c, start, size) for s, c in zip(streams, partners, strict=True))
    return World(buyer, words.person(r), words.person(r), year, start, suppliers, tuple(strangers))


def _supplier(r: random.Random, company: Company, start: date, size: str) -> Supplier:
    style = layout(r, company.address.country)
    catalogue = {p.sku: p for p in (words.product(r, company.sector) for _ in range(64))}
    contract = _contract(r, company, start, tuple(catalogue.values())[: r.randint(14, 30)])
    shape = r.choice(("@-####", "######", f"@@/{start.year}/###", "##-#####", f"{start.year}####", "@@@-#####"))
    order_shape = r.choice(("PO-#####", "45######", "B##.####", f"{str(start.year)[2:]}/####", "BE-######"))
    head, order_head = words.pattern(r, shape[:-3]), words.pattern(r, order_shape[:-3])
    count = r.randint(2, 3) if size == "medium" else 2
    customer = words.pattern(r, r.choice(("#####", "@####", "D-####")))
    serial, order_serial = r.randint(100, 600), r.randint(100, 600)
    invoices = []
    for k in range(count):
        serial, order_serial = serial + r.randint(3, 90), order_serial + r.randint(3, 90)
        lines = _lines(r, tuple(catalogue.values()), r.randint(12, {"small": 18, "medium": 42, "long": 36}[size]))
        faults = [f for f in ("terms", "bank", "price", "quantity") if r.random() < 0.16]
        faults += [r.choice(("unpaid", "part_paid", "paid_twice"))] if r.random() < 0.4 else []
        numbers = (f"{head}{serial:03d}", f"{order_head}{order_serial:03d}")
        base = start + timedelta(days=21 * k)
        invoices.append(_invoice(r, numbers, customer, lines, contract, style, base, tuple(faults)))
    key = words.plain(company.short.split(" & ")[0].split()[0])
    return Supplier(company, key, words.pattern(r, "7#####"), style, contract, tuple(invoices))


def _contract(r: random.Random, c: Company, start: date, rates: tuple[Product, ...]) -> Contract:
    signed = start - timedelta(days=r.randint(40, 500))
    law = {
        "GB": "England and Wales",
        "IE": "Ireland",
        "DE": "Germany",
        "AT": "Austria",
        "NL": "the Netherlands",
        "FR": "France",
        "DK": "Denmark",
    }[c.address.country]
    number = words.pattern(r, r.choice(("FA-####", "C##-###", "RV/####", "MSA-#####", "K-####-@")))
    starts = date(signed.year, signed.month, 1) + timedelta(days=r.choice((31, 62, 92)))
    contact, signatory = words.person(r), words.person(r)
    return Contract(
        number,
        signed,
        starts,
        r.choice((12, 18, 24, 30, 36, 48)),
        r.choice((30, 45, 60, 90, 120)),
        r.choice((10, 14, 21, 30, 45, 60)),
        r.choice((10, 15, 20, 25, 30)),
        r.choice((5, 7, 8)),
        r.randint(8, 180) * 2_500_00,
        r.choice((40, 50, 65, 80, 90)),
        r.randint(1, 12),
        law,
        c.address.city,
        c.iban,
        contact,
        signatory,
        rates,
    )


def _lines(r: random.Random, goods: tuple[Product, ...], n: int) -> tuple[Line, ...]:
    """At least one line of 1,000.00 or more: real invoices have them, and they are what number parsing trips over."""
    chosen = r.sample(goods, min(n, len(goods)))
    lines = [
        Line(
            p, r.choice((1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 36, 48)), p.price_cents, words.pattern(r, "##@-####")
        )
        for p in chosen
    ]
    if all(line.amount_cents < 100_000 for line in lines):
        lines[-1] = replace(lines[-1], quantity=-(-100_000 // lines[-1].price_cents) + r.randint(1, 9))
    return tuple(lines)


def _invoice(
    r: random.Random,
    numbers: tuple[str, str],
    customer: str,
    lines: tuple[Line, ...],
    contract: Contract,
    style: Layout,
    base: date,
    faults: tuple[str, ...],
) -> Invoice:
    placed = base + timedelta(days=r.randint(0, 12))
    order = Order(
        numbers[1],
        placed,
        placed + timedelta(days=r.randint(1, 3)),
        placed + timedelta(days=r.randint(10, 20)),
        r.choice(("DAP", "FCA", "EXW", "CPT", "DDP")),
        words.person(r),
        lines,
    )
    issued = placed + timedelta(days=r.randint(12, 24))
    days = contract.payment_days if "terms" not in faults else max(5, contract.payment_days - r.choice((4, 7, 5)))
    billed = list(lines)
    odd, short = r.sample(range(len(lines)), 2)
    if "price" in faults:
        billed[odd] = replace(billed[odd], price_cents=billed[odd].price_cents + max(3, billed[odd].price_cents // 11))
    country = contract.iban[:2]
    iban = words.iban(country, words.pattern(r, words.PLACES[country][5])) if "bank" in faults else contract.iban
    labels = style.labels["charges"].split("|")
    chosen = sorted(r.sample(range(len(labels)), r.randint(0, 2)))
    charges = tuple((labels[k], (-1 if k == len(labels) - 1 else 1) * words.cents(r, 400, 18_000)) for k in chosen)
    posted, centre = issued + timedelta(days=r.randint(1, 6)), words.pattern(r, "4#0#")
    bare = Invoice(
        numbers[0],
        issued,
        issued + timedelta(days=days),
        customer,
        iban,
        tuple(billed),
        charges,
        order,
        (),
        (),
        posted,
        centre,
        faults,
        style,
    )
    return replace(bare, deliveries=_deliveries(r, bare, short), payments=_payments(r, bare))


def _deliveries(r: random.Random, invoice: Invoice, short: int) -> tuple[Delivery, ...]:
    """Every line arrives in one or two parts; the `short` one lacks something when the fault says so. A returned piece
    was delivered and counted, so it has to be taken off again."""
    rows = []
    for k, line in enumerate(invoice.lines):
        arriving, returned = line.quantity, 0
        if k == short and "quantity" in invoice.faults:
            if r.random() < 0.5 and line.quantity > 1:
                arriving -= r.randint(1, max(1, line.quantity // 3))
            else:
                returned = r.randint(1, max(1, line.quantity // 3))
        first = r.randint(1, arriving) if arriving > 3 and r.random() < 0.25 else arriving
        for part in (first, arriving - first):
            if part:
                day = invoice.order.wanted + timedelta(days=r.randint(-4, 6))
                rows.append(Delivery(day, line.product.sku, part, min(returned, part), words.pattern(r, "@@")))
                returned -= min(returned, part)
    return tuple(rows)


def _payments(r: random.Random, invoice: Invoice) -> tuple[Payment, ...]:
    when = invoice.due + timedelta(days=r.randint(-6, 3))
    reference = r.choice((f"{invoice.number} {invoice.customer}", f"INV {invoice.number}", f"{invoice.number}"))
    if "unpaid" in invoice.faults:
        return ()
    if "part_paid" in invoice.faults:
        return (Payment(when, invoice.gross_cents - words.cents(r, 900, invoice.gross_cents // 3), reference),)
    first = Payment(when, invoice.gross_cents, reference)
    if "paid_twice" in invoice.faults:
        return (first, Payment(when + timedelta(days=r.randint(5, 16)), invoice.gross_cents, reference))
    return (first,)
