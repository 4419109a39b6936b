"""What is asked for: where papers lie, which fields go into which file, under which name and in which format.

A seed has its own key names, field sets, money format, folders and code identifiers, so that no two sessions write the
same JSON or the same scripts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from simulator.tasks import words

from .world import DEVIATIONS, Supplier, World

#: fact -> JSON keys in snake case to choose from
KEYS: Mapping[str, str] = {
    "number": "invoice_no|invoice_number|document_no",
    "date": "invoice_date|issued_on|date_of_issue",
    "due": "due_date|due_on|payable_by",
    "order": "order_no|po_number|our_order",
    "customer": "customer_no|account_no",
    "supplier": "supplier|vendor_name|seller",
    "vat_id": "vat_id|supplier_vat_id|tax_id",
    "currency": "currency|currency_code",
    "lines": "lines|items|positions",
    "charges": "charges|extra_charges|surcharges",
    "net": "net|net_total|net_amount",
    "tax_rate": "vat_percent|tax_rate|vat_rate",
    "tax": "vat|vat_amount|tax_amount",
    "gross": "gross|gross_total|total_due",
    "iban": "iban|bank_account|pay_to_iban",
    "sku": "code|article|sku",
    "description": "description|text|name",
    "quantity": "quantity|qty",
    "unit": "unit|uom",
    "unit_price": "unit_price|price",
    "amount": "amount|line_total|value",
    "contract": "contract_no|agreement_no|contract_id",
    "starts": "starts_on|effective_from|valid_from",
    "term": "term_months|initial_term_months",
    "notice": "notice_days|notice_period_days",
    "payment": "payment_days|terms_days|net_days",
    "discount": "discount_percent|cash_discount_percent",
    "discount_days": "discount_days|discount_within_days",
    "cap": "liability_cap|liability_limit",
    "interest": "default_interest|late_interest_percent",
    "review": "price_review_month|review_month",
    "law": "governing_law|law",
    "contact": "contact|account_manager|contact_person",
    "placed": "ordered_on|order_date",
    "wanted": "requested_for|wanted_on|delivery_date",
    "incoterm": "delivery_term|incoterm",
    "buyer": "ordered_by|buyer",
    "vendor": "vendor_no|vendor_id",
    "total": "order_value|total",
    "received": "received|accepted",
    "returned": "returned_total|returned_units",
    "last": "last_delivery|last_received_on",
    "posted": "posted_on|booked_on",
    "cost_centre": "cost_centre|cost_center",
    "paid": "paid|paid_total",
    "count": "payments|payment_count",
    "last_paid": "last_paid_on|last_payment",
    "open": "open|still_open|balance",
}
FLAGS: Mapping[str, str] = {
    "terms": "due_too_early|terms_shortened|TERMS",
    "bank": "iban_differs|bank_changed|BANK",
    "price": "price_above_order|price_deviation|PRICE",
    "quantity": "billed_not_received|short_delivery|QTY",
    "unpaid": "not_paid|unpaid|OPEN",
    "part_paid": "partly_paid|underpaid|PARTIAL",
    "paid_twice": "paid_twice|overpaid|DOUBLE",
}
#: identifiers in the repository's code
NAMES: Mapping[str, str] = {
    "tools": "tools|lib|common|helpers|support",
    "readers": "readers|parsers|extract|adapters|importers",
    "norm": "normalise|formats|values|convert|scalars",
    "cents": "to_cents|parse_amount|read_money|amount_in_cents",
    "iso": "to_iso|parse_date|iso_date|read_date",
    "iban_ok": "iban_ok|valid_iban|iban_is_valid|check_iban",
    "money_out": "as_money|money_out|render_money|emit_amount",
    "validate": "validate|verify|check_output|lint_output",
    "base": "base|common_pdf|shared|frame",
    "pages": "page_texts|pdf_pages|pages_of|read_pages",
    "save": "save|write_json|store|dump_record",
    "schema": "fields|schema|spec|wanted",
    "show": "show|peek|dump|preview",
    "bank": "bank|payments|statement",
    "goods": "goods_in|deliveries|receipts",
    "orders": "orders|confirmations|portal",
    "cross": "crosscheck|compare|reconcile|deviations",
    "parse": "parse|read_invoice|extract_invoice|from_pdf",
}

ALWAYS = {
    "invoice": ("number", "date", "due", "order", "supplier", "lines", "charges", "net", "tax", "gross", "iban"),
    "contract": ("contract", "supplier", "payment", "iban"),
    "order": ("order", "lines", "total"),
}
MAYBE = {
    "invoice": ("customer", "vat_id", "currency", "tax_rate"),
    "contract": (
        "starts",
        "term",
        "notice",
        "discount",
        "discount_days",
        "cap",
        "interest",
        "review",
        "law",
        "contact",
    ),
    "order": ("placed", "wanted", "incoterm", "buyer", "vendor"),
}


@dataclass(frozen=True, slots=True)
class Spec:
    """keys: fact -> JSON key. fields: document kind -> facts asked for. line: facts of an invoice line.
    minor: money as integer cents instead of "1234.50". paths: what -> path. code: identifier -> name.
    sums_in_summary: the readers' command line tells whether an invoice adds up, not only the validator.
    """

    keys: Mapping[str, str]
    fields: Mapping[str, tuple[str, ...]]
    line: tuple[str, ...]
    minor: bool
    flags: Mapping[str, str]
    code: Mapping[str, str]
    paths: Mapping[str, str]
    sums_in_summary: bool

    def money(self, cents: int) -> str | int:
        return cents if self.minor else f"{cents / 100:.2f}"

    def out(self, what: str) -> str:
        """Path of the JSON file for a paper, e.g. "invoice:R-1" -> out/invoices/NAME.json."""
        folder = {"invoice": "invoices", "contract": "contracts", "order": "orders"}[what.split(":")[0]]
        return f"out/{folder}/{self.paths[what].rsplit('/', 1)[-1].rsplit('.', 1)[0]}.json"


def _camel(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(part.capitalize() for part in rest)


def make_spec(r: random.Random, world: World) -> Spec:
    camel = r.random() < 0.4
    keys = {fact: r.choice(names.split("|")) for fact, names in KEYS.items()}
    if camel:
        keys = {fact: _camel(name) for fact, name in keys.items()}
    fields = {}
    for kind, always in ALWAYS.items():
        chosen = set(r.sample(MAYBE[kind], r.randint(len(MAYBE[kind]) // 2, len(MAYBE[kind]) - 1)))
        fields[kind] = tuple(f for f in KEYS if f in chosen or f in always)
    line = ("sku", *(f for f in ("description", "unit") if r.random() < 0.6), "quantity", "unit_price", "amount")
    flags = {d: FLAGS[d].split("|")[k] for k in [r.randrange(3)] for d in DEVIATIONS}
    code = {name: r.choice(options.split("|")) for name, options in NAMES.items()}
    paths = _paths(r, world)
    paths["schema"] = f"{r.choice(('schema', 'config', 'spec', 'docs'))}/{code['schema']}.json"
    return Spec(keys, fields, line, r.random() < 0.35, flags, code, paths, r.random() < 0.5)


def _paths(r: random.Random, world: World) -> dict[str, str]:
    order = r.choice(("flat", "supplier", "kind"))
    names = {
        "invoice": r.choice(("{key}_{n}.pdf", "invoice-{n}-{key}.pdf", "{date}_{key}_{n}.pdf", "scan_{key}_{n}.pdf")),
        "contract": r.choice(("{key}-agreement-{n}.docx", "contract_{n}_{key}.docx", "{key}_{n}_signed.docx")),
        "order": r.choice(
            ("{key}-order-{n}.html", "confirmation_{n}.html", "portal_{key}_{n}.html", "{date}-{n}.html")
        ),
    }

    def place(kind: str, supplier: Supplier, number: str, day: date) -> str:
        name = names[kind].format(key=supplier.key, n=words.plain(number), date=f"{day:%y%m%d}")
        folder = {"flat": "", "supplier": f"{supplier.key}/", "kind": f"{kind}s/"}[order]
        return f"inbox/{folder}{name}"

    out = {}
    for s in world.suppliers:
        out[f"contract:{s.key}"] = place("contract", s, s.contract.number, s.contract.signed)
        for i in s.invoices:
            out[f"invoice:{i.number}"] = place("invoice", s, i.number, i.issued)
            out[f"order:{i.order.number}"] = place("order", s, i.order.number, i.order.confirmed)
    folder = r.choice(("inbox", "inbox/exports", "inbox/internal"))
    out["goods"] = f"{folder}/{r.choice(('goods-in', 'receiving_log', 'yard_book', 'deliveries'))}_{world.year}.xlsx"
    out["bank"] = (
        f"{folder}/{r.choice(('umsaetze', 'bank_export', 'account_movements', 'kontoauszug'))}_{world.year}.csv"
    )
    out["ledger"] = f"{folder}/{r.choice(('open_items', 'ap_ledger', 'postings', 'vendor_items'))}_{world.year}.csv"
    names = "house_rules", "notation", "formats", "conventions", "writing_values"
    out["formats"] = f"{r.choice(('docs', 'doc', 'rules'))}/{r.choice(names)}.md"
    return out
