"""What the agent says: sentences from files/talk.yaml, no variant twice before all had their turn."""

from __future__ import annotations

import random
from collections.abc import Mapping

from simulator.tasks import words

from .brief import Spec
from .clauses import grouped, long_date
from .data import grammar
from .invoices import head_values
from .setting import counted, period
from .world import Invoice, Supplier, World


class Talk:
    """`line(beat, part)`: part is "plan" (what comes next) or "saw" (what the last result showed)."""

    def __init__(self, r: random.Random, common: Mapping[str, object]) -> None:
        self._r = r
        self._common = common
        self._decks: dict[tuple[str, str], list[str]] = {}

    def line(self, beat: str, part: str, **values: object) -> str:
        return self._draw((beat, part), grammar("talk")[beat][part], values)

    def reason(self, beat: str, **values: object) -> str:
        """A further thought that goes with a plan, "" when there is none for this beat."""
        variants = grammar("reasons").get(beat)
        return self._draw((beat, "reason"), variants, values) if variants else ""

    def _draw(self, key: tuple[str, str], variants: list[str], values: Mapping[str, object]) -> str:
        deck = self._decks.setdefault(key, [])
        if not deck:
            deck += self._r.sample(variants, len(variants))
        return words.say(self._r, deck.pop(), **{**self._common, **values})


def common_values(world: World, spec: Spec) -> dict[str, object]:
    notation = "money is an integer in cents" if spec.minor else "money is a text with two decimals"
    keys = spec.keys
    return {
        **spec.code,
        **{k: keys[k] for k in ("iban", "received", "returned", "open", "charges")},
        **{f"f_{d}": code for d, code in spec.flags.items()},
        **{f"k_{k}": keys[k] for k in ("payment", "iban", "cap", "discount", "term")},
        "formats": spec.paths["formats"],
        "schema": spec.paths["schema"],
        "who": world.requester.name,
        "buyer": world.buyer.short,
        "clerk_words": f"{world.clerk.name} and colleagues",
        "period": period(world),
        "agreements": counted(len(world.suppliers), "agreement"),
        "n_suppliers": counted(len(world.suppliers), "supplier"),
        "pdfs": len(world.invoices()),
        "money": notation,
        "number": keys["number"],
        "n_inv": len(spec.fields["invoice"]),
        "n_con": len(spec.fields["contract"]),
        "n_ord": len(spec.fields["order"]),
        "line_keys": ", ".join(f"`{keys[f]}`" for f in spec.line),
        "camel": "All keys are camel case." if any(c.isupper() for c in keys["due"] + keys["date"]) else "Snake case.",
    }


def invoice_values(supplier: Supplier, invoice: Invoice) -> dict[str, object]:
    style, money = supplier.layout, supplier.layout.money
    labels = style.labels
    charges = ", ".join(f'"{label}" {money(c)}' for label, c in invoice.charges)
    header = {
        "colon": "label, colon, value",
        "plain": "label and value side by side",
        "row": "labels above their values",
    }
    pages = 1 + max(0, -(-(len(invoice.lines) - style.rows_per_page) // (style.rows_per_page + 8)))
    first, largest = invoice.lines[0], max(line.amount_cents for line in invoice.lines)
    days = (invoice.due - invoice.issued).days
    agreed = supplier.contract.payment_days
    return {
        "supplier": supplier.company.short,
        "city": supplier.company.address.city,
        "key": supplier.key,
        "count": len(supplier.invoices),
        "all_papers": "both papers" if len(supplier.invoices) == 2 else f"all {len(supplier.invoices)} papers",
        "number": invoice.number,
        "date": style.date(invoice.issued),
        "due": style.date(invoice.due),
        "order": invoice.order.number,
        "currency": style.currency,
        "lines": len(invoice.lines),
        "pages": pages,
        "page_words": f"{pages} pages" if pages > 1 else "one page",
        "net": money(invoice.net_cents),
        "gross": money(invoice.gross_cents),
        "vat": style.vat_percent,
        "money_sample": money(largest),
        "header_words": header[style.header],
        "columns": ", ".join(labels[c] for c in style.columns),
        "iban_start": grouped(invoice.iban)[:9],
        "charge_words": f"charges {charges}" if charges else "no charges",
        "charge_sum": money(sum(c for _, c in invoice.charges)),
        "lots": f'each with a "{labels["lot"]}" row below' if style.lots else "one row each",
        "iso_date": invoice.issued.isoformat(),
        "iso_due": invoice.due.isoformat(),
        "sku": first.product.sku,
        "qty": first.quantity,
        "price": money(first.price_cents),
        "due_words": f"It allows {days} days; the agreement has to tell whether that is right."
        if days != agreed
        else f"It falls due after {days} days.",
        **{f"l_{k}": labels[k] for k in ("due", "net", "tax", "gross", "carried", "lot")},
        "l_number": dict((k, labels[k]) for k, _ in head_values(supplier, invoice))["number"],
    }


def contract_values(supplier: Supplier, spec: Spec) -> dict[str, object]:
    c, names = (
        supplier.contract,
        {
            "cap": "the liability cap",
            "starts": "the start",
            "term": "the term",
            "notice": "the notice period",
            "discount": "the cash discount",
            "law": "the law",
            "review": "the price review",
            "contact": "the contact",
            "interest": "default interest",
        },
    )
    wanted = [names[f] for f in spec.fields["contract"] if f in names]
    return {
        "supplier": supplier.company.short,
        "contract": c.number,
        "payment": c.payment_days,
        "discount": f"{c.discount_tenths / 10:g}",
        "discount_days": c.discount_days,
        "iban_start": grouped(c.iban)[:9],
        "iban": grouped(c.iban),
        "signed": long_date(c.signed),
        "starts": long_date(c.starts),
        "notice": c.notice_days,
        "cap": f"{c.cap_cents / 100:,.2f}",
        "term": c.term_months,
        "interest": f"{c.interest_tenths / 10:g}",
        "law": c.law,
        "review": f"month {c.review_month}",
        "contact": c.contact.name,
        "rates": len(c.rates),
        "currency": supplier.layout.currency,
        "wanted_words": ", ".join(wanted[:4]) + " and the payment terms",
        "starts_words": f"{c.starts.isoformat()} as the start"
        if "starts" in spec.fields["contract"]
        else "nothing that the schema does not ask for",
    }
