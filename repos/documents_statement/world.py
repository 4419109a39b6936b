"""Facts: suppliers with their invoices and credit notes, what the bank paid and when, and the transfers for several
invoices at once."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from simulator.tasks import words
from simulator.tasks.words import Company, Product

from .._kit_documents.house import House, half_up, house

LABEL = "documents_statement"
#: (suppliers, invoices of each, months of statements)
SIZE: Mapping[str, tuple[int, int, int]] = {"small": (2, 3, 1), "medium": (3, 3, 2), "long": (6, 4, 3)}
#: items of an invoice
LINES: Mapping[str, tuple[int, int]] = {"small": (12, 40), "medium": (20, 80), "long": (40, 105)}
#: language -> label -> ways of printing it
LABELS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "number": "Invoice no|Document no|Our reference",
        "issued": "Invoice date|Date of issue|Tax point",
        "gross": "Total due|Invoice total|Amount payable",
        "credit": "CREDIT NOTE",
        "title": "INVOICE",
        "refers": "Credits invoice|Relates to|For invoice",
        "days": "days",
        "net": "net",
        "carried": "Carried forward|Sub-total c/f",
        "sub": "Total before tax",
        "tax": "VAT",
    },
    "de": {
        "number": "Rechnungs-Nr.|Beleg-Nr.|Rechnungsnummer",
        "issued": "Rechnungsdatum|Belegdatum|Ausgestellt",
        "gross": "Rechnungsbetrag|Gesamtbetrag|Zahlbetrag",
        "credit": "GUTSCHRIFT",
        "title": "RECHNUNG",
        "refers": "Zu Rechnung|Gutschrift zu|Betrifft Rechnung",
        "days": "Tage",
        "net": "netto",
        "carried": "Übertrag|Zwischensumme",
        "sub": "Summe netto",
        "tax": "MwSt.",
    },
    "nl": {
        "number": "Factuurnummer|Documentnummer|Factuurnr.",
        "issued": "Factuurdatum|Opgemaakt op|Datum",
        "gross": "Totaal te betalen|Factuurbedrag|Te voldoen",
        "credit": "CREDITNOTA",
        "title": "FACTUUR",
        "refers": "Betreft factuur|Creditering van|Bij factuur",
        "days": "dagen",
        "net": "netto",
        "carried": "Transport|Subtotaal transport",
        "sub": "Totaal excl. btw",
        "tax": "Btw",
    },
}


@dataclass(frozen=True, slots=True)
class Supplier:
    """labels: as this one prints them. numbers, dates: printed styles. discount_tenths: per mille of the cash discount,
    0 for none, if paid within discount_days."""

    company: Company
    key: str
    labels: Mapping[str, str]
    numbers: str
    dates: str
    discount_tenths: int
    discount_days: int
    net_days: int

    def date(self, day: date) -> str:
        return day.strftime(self.dates)


@dataclass(frozen=True, slots=True)
class Invoice:
    """credit: (number, gross) of the credit note for it. paid: (booked on, cents, transfer), in order; transfer: the
    number of a collective transfer, "" for one that names the invoice."""

    number: str
    issued: date
    lines: tuple[tuple[Product, int], ...]
    tax_percent: int
    outcome: str
    credit: tuple[str, int] | None = None
    paid: tuple[tuple[date, int, str], ...] = ()

    @property
    def net(self) -> int:
        return sum(p.price_cents * n for p, n in self.lines)

    @property
    def gross(self) -> int:
        return self.net + half_up(self.net * self.tax_percent, 100)

    @property
    def due(self) -> int:
        return self.gross - (self.credit[1] if self.credit else 0)


@dataclass(frozen=True, slots=True)
class Move:
    """A movement on the account. reference: printed below it."""

    day: date
    who: str
    reference: str
    cents: int
    supplier: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """unnamed: payments to suppliers that name no invoice. months: first days of the statements' months."""

    house: House
    suppliers: tuple[Supplier, ...]
    invoices: tuple[tuple[Invoice, ...], ...]
    transfers: Mapping[str, tuple[Supplier, date, tuple[tuple[str, int], ...]]]
    unnamed: tuple[Move, ...]
    others: tuple[Move, ...]
    opening: int
    months: tuple[date, ...]
    bank: Mapping[str, str]

    def pairs(self) -> list[tuple[Supplier, Invoice]]:
        return [(s, i) for s, own in zip(self.suppliers, self.invoices, strict=True) for i in own]


def discount(supplier: Supplier, due: int) -> int:
    return half_up(due * supplier.discount_tenths, 1000)


def build(seed: int, size: str, attempt: int = 0) -> World:
    n, each, months = SIZE[size]
    base = house(
        seed,
        LABEL,
        size,
        n,
        invoices="invoices|payables|supplier_docs",
        statement="statement|bank|account",
        match="match|reconcile|pairing",
        advices="advices|own_advices|remittances",
    )
    r = words.stream(seed, LABEL, "world", size, attempt)
    last = base.day.replace(day=1)
    firsts = [last]
    while len(firsts) < months:
        firsts.insert(0, (firsts[0] - timedelta(days=1)).replace(day=1))
    bases = [(f - timedelta(days=1)).replace(day=1) for f in firsts]
    suppliers = tuple(_supplier(r, c, k) for k, c in enumerate(base.partners))
    transfers: dict[str, tuple[Supplier, date, tuple[tuple[str, int], ...]]] = {}
    invoices = tuple(_invoices(r, s, k, each, bases, transfers, LINES[size]) for k, s in enumerate(suppliers))
    end = _end(bases[-1])
    unnamed = tuple(
        Move(
            words.day(r, bases[0], end),
            s.company.name,
            f"{r.choice(('Prepayment per phone', 'Order deposit', 'as agreed'))} {words.pattern(r, '##')}",
            -words.cents(r, 20_000, 300_000),
            s.key,
        )
        for s in r.sample(suppliers, max(1, n // 2))
    )
    others = tuple(_other(r, base, words.day(r, bases[0], end)) for _ in range(months * r.randint(56, 80)))
    free = [x for x in words.LAST if words.plain(x) not in {s.key for s in suppliers}]  # file names begin with it
    name = f"{r.choice(free)} & {r.choice(words.LAST)} Bank"
    style = {
        "numbers": r.choice(("en", "de", "ch")),
        "dates": r.choice(("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y")),
        "sign": r.choice(("after", "letter", "before")),
        "name": name,
        "iban": base.firm.iban,
        "number": r.choice(("Statement", "Account statement", "Extract")),
    }
    opening = r.randint(4_000_000, 30_000_000) + sum(c for own in invoices for i in own for _, c, _ in i.paid)
    return World(base, suppliers, invoices, transfers, unnamed, others, opening, tuple(bases), style)


def _end(month: date) -> date:
    return (month + timedelta(days=32)).replace(day=1) - timedelta(days=1)


def _supplier(r: random.Random, company: Company, k: int) -> Supplier:
    language = {"DE": "de", "AT": "de", "NL": "nl"}.get(company.address.country, "en")
    labels = {name: r.choice(text.split("|")) for name, text in LABELS[language].items()}
    numbers = {"en": "en", "de": "de", "nl": "de"}[language]
    dates = r.choice(("%d.%m.%Y", "%d-%m-%Y", "%Y-%m-%d", "%d/%m/%Y", "%d.%m.%y"))
    grants = k < 2 or r.random() < 0.7
    key = words.plain(company.short.split(" & ")[0].split()[0])
    return Supplier(
        company,
        key,
        labels,
        numbers,
        dates,
        r.choice((20, 25, 30)) if grants else 0,
        r.choice((7, 8, 10)),
        r.choice((21, 30)),
    )


def _invoices(
    r: random.Random,
    s: Supplier,
    k: int,
    each: int,
    months: list[date],
    transfers: dict[str, tuple[Supplier, date, tuple[tuple[str, int], ...]]],
    lines_of: tuple[int, int],
) -> tuple[Invoice, ...]:
    """The first two suppliers have what makes the question hard; the others have it by chance."""
    outcomes = {0: ["collective", "collective", "late"], 1: ["exact", "discount", "open"]}.get(k, [])
    more = [
        "exact",
        "exact",
        "discount" if s.discount_tenths else "exact",
        "late" if s.discount_tenths else "part",
        "part",
        "twice",
        "open",
    ]
    outcomes = outcomes or (["collective", "collective"] if r.random() < 0.5 else [])
    outcomes += [r.choice(more) for _ in range(each - len(outcomes))]
    shape = r.choice(("@-####", "######", "@@/##/###", "##-#####", "@@@-#####"))
    head, serial = words.pattern(r, shape[:-3]), r.randint(100, 700)
    goods = [words.product(r, s.company.sector) for _ in range(110)]
    made: list[Invoice] = []
    for outcome in outcomes:
        serial += r.randint(2, 40)
        issued = words.day(r, months[0], _end(months[-1]) - timedelta(days=26))
        lines = tuple((p, r.choice((1, 2, 3, 4, 5, 6, 8, 10, 12, 20))) for p in r.sample(goods, r.randint(*lines_of)))
        made.append(Invoice(f"{head}{serial:03d}", issued, lines, r.choice((19, 20, 21)), outcome))
    credited = {1: 0}.get(k, r.randrange(each) if r.random() < 0.4 else -1)
    if credited >= 0:
        bill = made[credited]
        note = (f"{r.choice(('C', 'GS', 'CN'))}{words.pattern(r, '#####')}", words.cents(r, 2_000, bill.gross // 3))
        made[credited] = replace(bill, credit=note)
    return tuple(_settled(r, s, made, transfers, months))


def _settled(
    r: random.Random,
    s: Supplier,
    made: list[Invoice],
    transfers: dict[str, tuple[Supplier, date, tuple[tuple[str, int], ...]]],
    months: list[date],
) -> list[Invoice]:
    together = [i for i in made if i.outcome == "collective"]
    if together:
        day = min(max(i.issued for i in together) + timedelta(days=r.randint(12, 20)), _end(months[-1]))
        number = words.pattern(r, r.choice(("ZA-#####", "RA#####", "P######")))
        transfers[number] = (s, day, tuple((i.number, i.due) for i in together))
        made = [replace(i, paid=((day, i.due, number),)) if i in together else i for i in made]
    return [i if i.paid else replace(i, paid=_payments(r, s, i)) for i in made]


def _payments(r: random.Random, s: Supplier, i: Invoice) -> tuple[tuple[date, int, str], ...]:
    less = discount(s, i.due)
    early, late = i.issued + timedelta(days=r.randint(3, s.discount_days)), s.discount_days + r.randint(1, 9)
    normal = i.issued + timedelta(days=r.randint(14, 25))
    match i.outcome:
        case "open":
            return ()
        case "discount":
            return ((early, i.due - less, ""),)
        case "late":
            return ((i.issued + timedelta(days=late), i.due - less, ""),)
        case "part":
            return ((normal, i.due - words.cents(r, 500, i.due // 2), ""),)
        case "twice":
            return ((normal - timedelta(days=6), i.due, ""), (normal + timedelta(days=1), i.due, ""))
    return ((normal, i.due, ""),)


def _other(r: random.Random, base: House, day: date) -> Move:
    firm, number = r.choice(base.strangers), words.pattern(r, "####-##")
    match r.choice(("bill", "bill", "income", "income", "salary", "card", "fee")):
        case "income":
            return Move(day, firm.name, f"{base.firm.short} {number}", words.cents(r, 9_000, 2_400_000))
        case "salary":
            return Move(day, words.person(r).name, f"Salary {day:%m/%Y}", -words.cents(r, 180_000, 620_000))
        case "card":
            return Move(
                day, f"Card {firm.address.city}", f"terminal {words.pattern(r, '######')}", -words.cents(r, 900, 40_000)
            )
        case "fee":
            return Move(day, "Account charges", f"period {day:%m/%y}", -words.cents(r, 200, 4_000))
    return Move(day, firm.name, r.choice((f"INV {number}", f"bill {number}", number)), -words.cents(r, 1_200, 900_000))
