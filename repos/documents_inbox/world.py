"""The facts: a buyer, its suppliers, what was agreed, ordered, delivered, invoiced and paid, and where these differ.

Everything printed, parsed and checked later is derived from here. Money in integer cents.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from simulator.tasks.words import Company, Person, Product

from .layouts import Layout

#: deviations that the cross-check has to find, in the order in which the brief lists them
DEVIATIONS = ("terms", "bank", "price", "quantity", "unpaid", "part_paid", "paid_twice")


@dataclass(frozen=True, slots=True)
class Line:
    product: Product
    quantity: int
    price_cents: int
    lot: str

    @property
    def amount_cents(self) -> int:
        return self.quantity * self.price_cents


@dataclass(frozen=True, slots=True)
class Contract:
    """discount_percent is in tenths (25 is 2.5 %) for payment within discount_days."""

    number: str
    signed: date
    starts: date
    term_months: int
    notice_days: int
    payment_days: int
    discount_tenths: int
    discount_days: int
    cap_cents: int
    interest_tenths: int
    review_month: int
    law: str
    court: str
    iban: str
    contact: Person
    signatory: Person
    rates: tuple[Product, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """What the supplier confirmed through the portal; lines as agreed, before any deviation."""

    number: str
    placed: date
    confirmed: date
    wanted: date
    incoterm: str
    buyer: Person
    lines: tuple[Line, ...]

    @property
    def total_cents(self) -> int:
        return sum(line.amount_cents for line in self.lines)


@dataclass(frozen=True, slots=True)
class Payment:
    paid: date
    cents: int
    reference: str


@dataclass(frozen=True, slots=True)
class Delivery:
    day: date
    sku: str
    quantity: int
    returned: int
    checker: str


@dataclass(frozen=True, slots=True)
class Invoice:
    """charges: label -> cents, a rebate is negative. faults: the planted deviations, a subset of DEVIATIONS."""

    number: str
    issued: date
    due: date
    customer: str
    iban: str
    lines: tuple[Line, ...]
    charges: tuple[tuple[str, int], ...]
    order: Order
    deliveries: tuple[Delivery, ...]
    payments: tuple[Payment, ...]
    posted: date
    cost_centre: str
    faults: tuple[str, ...]
    layout: Layout

    @property
    def net_cents(self) -> int:
        return sum(line.amount_cents for line in self.lines) + sum(c for _, c in self.charges)

    @property
    def tax_cents(self) -> int:
        return (self.net_cents * self.layout.vat_percent + 50) // 100

    @property
    def gross_cents(self) -> int:
        return self.net_cents + self.tax_cents


@dataclass(frozen=True, slots=True)
class Supplier:
    company: Company
    key: str
    vendor_no: str
    layout: Layout
    contract: Contract
    invoices: tuple[Invoice, ...]


@dataclass(frozen=True, slots=True)
class World:
    buyer: Company
    requester: Person
    clerk: Person
    year: int
    start: date
    suppliers: tuple[Supplier, ...]
    strangers: tuple[Company, ...]

    def invoices(self) -> list[tuple[Supplier, Invoice]]:
        return [(s, i) for s in self.suppliers for i in s.invoices]
