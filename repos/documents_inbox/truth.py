"""The right answers, derived from the world alone and never from what a reader wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .brief import Spec
from .world import DEVIATIONS, Invoice, Supplier, World


def truth(world: World, spec: Spec) -> dict[str, Any]:
    """path of an output file -> its right content."""
    files: dict[str, Any] = {}
    for s in world.suppliers:
        files[spec.out(f"contract:{s.key}")] = _keyed(spec, "contract", contract_facts(s, spec))
        for i in s.invoices:
            files[spec.out(f"invoice:{i.number}")] = _keyed(spec, "invoice", invoice_facts(s, i, spec))
            files[spec.out(f"order:{i.order.number}")] = _keyed(spec, "order", order_facts(s, i, spec))
    pairs = world.invoices()
    files["out/deliveries.json"] = {i.order.number: goods_facts(i, spec) for _, i in pairs}
    files["out/payments.json"] = {i.number: payment_facts(i, spec) for _, i in pairs}
    files["out/crosscheck.json"] = {i.number: deviations(s, i, spec) for s, i in pairs}
    return files


def _keyed(spec: Spec, kind: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {spec.keys[f]: facts[f] for f in spec.fields[kind]}


def invoice_facts(s: Supplier, i: Invoice, spec: Spec) -> dict[str, Any]:
    lines = [
        {
            "sku": x.product.sku,
            "description": x.product.name,
            "unit": x.product.unit,
            "quantity": x.quantity,
            "unit_price": spec.money(x.price_cents),
            "amount": spec.money(x.amount_cents),
        }
        for x in i.lines
    ]
    return {
        "number": i.number,
        "date": i.issued.isoformat(),
        "due": i.due.isoformat(),
        "order": i.order.number,
        "customer": i.customer,
        "supplier": s.company.name,
        "vat_id": s.company.vat_id,
        "currency": s.layout.currency,
        "lines": [{spec.keys[f]: x[f] for f in spec.line} for x in lines],
        "charges": spec.money(sum(c for _, c in i.charges)),
        "net": spec.money(i.net_cents),
        "tax_rate": s.layout.vat_percent,
        "tax": spec.money(i.tax_cents),
        "gross": spec.money(i.gross_cents),
        "iban": i.iban,
    }


def contract_facts(s: Supplier, spec: Spec) -> dict[str, Any]:
    c = s.contract
    return {
        "contract": c.number,
        "supplier": s.company.name,
        "starts": c.starts.isoformat(),
        "term": c.term_months,
        "notice": c.notice_days,
        "payment": c.payment_days,
        "discount": f"{c.discount_tenths / 10:.1f}",
        "discount_days": c.discount_days,
        "cap": spec.money(c.cap_cents),
        "interest": f"{c.interest_tenths / 10:.1f}",
        "review": c.review_month,
        "law": c.law,
        "iban": c.iban,
        "contact": c.contact.name,
    }


def order_facts(s: Supplier, i: Invoice, spec: Spec) -> dict[str, Any]:
    o = i.order
    keys = spec.keys
    lines = [
        {keys["sku"]: x.product.sku, keys["quantity"]: x.quantity, keys["unit_price"]: spec.money(x.price_cents)}
        for x in o.lines
    ]
    return {
        "order": o.number,
        "lines": lines,
        "placed": o.placed.isoformat(),
        "wanted": o.wanted.isoformat(),
        "incoterm": o.incoterm,
        "buyer": o.buyer.name,
        "vendor": s.vendor_no,
        "total": spec.money(o.total_cents),
    }


def goods_facts(i: Invoice, spec: Spec) -> dict[str, Any]:
    received: dict[str, int] = {}
    for d in i.deliveries:
        received[d.sku] = received.get(d.sku, 0) + d.quantity - d.returned
    return {
        spec.keys["received"]: received,
        spec.keys["returned"]: sum(d.returned for d in i.deliveries),
        spec.keys["last"]: max(d.day for d in i.deliveries).isoformat(),
    }


def payment_facts(i: Invoice, spec: Spec) -> dict[str, Any]:
    paid = sum(p.cents for p in i.payments)
    return {
        spec.keys["posted"]: i.posted.isoformat(),
        spec.keys["cost_centre"]: i.cost_centre,
        spec.keys["paid"]: spec.money(paid),
        spec.keys["count"]: len(i.payments),
        spec.keys["last_paid"]: max(p.paid for p in i.payments).isoformat() if i.payments else None,
        spec.keys["open"]: spec.money(i.gross_cents - paid),
    }


def deviations(s: Supplier, i: Invoice, spec: Spec) -> list[str]:
    """Computed from the facts, not from what was planted."""
    agreed = {x.product.sku: x.price_cents for x in i.order.lines}
    received: dict[str, int] = {}
    for d in i.deliveries:
        received[d.sku] = received.get(d.sku, 0) + d.quantity - d.returned
    paid = sum(p.cents for p in i.payments)
    found = {
        "terms": (i.due - i.issued).days < s.contract.payment_days,
        "bank": i.iban != s.contract.iban,
        "price": any(x.price_cents > agreed[x.product.sku] for x in i.lines),
        "quantity": any(x.quantity > received.get(x.product.sku, 0) for x in i.lines),
        "unpaid": paid == 0,
        "part_paid": 0 < paid < i.gross_cents,
        "paid_twice": paid > i.gross_cents,
    }
    return [spec.flags[d] for d in DEVIATIONS if found[d]]
