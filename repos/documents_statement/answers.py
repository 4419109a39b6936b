"""The right answers, from the facts alone; and those of somebody careless."""

from __future__ import annotations

from typing import Any

from .._kit_documents.house import money
from .world import Invoice, Move, Supplier, World, discount

STATUS = ("paid", "discount", "short", "open", "overpaid")


def results(world: World, careless: str = "") -> dict[str, Any]:
    """careless: "late", discounts count whenever they were taken; "collective", transfers for several invoices are not
    resolved; "credit", credit notes are overlooked."""
    out = world.house.out
    rows = {i.number: _entry(s, i, careless) for s, i in world.pairs()}
    unnamed = [
        {"date": m.day.isoformat(), "supplier": m.who, "amount": money(-m.cents), "reference": m.reference}
        for m in sorted(world.unnamed, key=lambda m: (m.day, m.who))
    ]
    return {out("reconciliation.json"): dict(sorted(rows.items())), out("unmatched.csv"): unnamed}


def _entry(s: Supplier, i: Invoice, careless: str) -> dict[str, Any]:
    payments = [p for p in i.paid if not (careless == "collective" and p[2])]
    credit = 0 if careless == "credit" or not i.credit else i.credit[1]
    due, paid = i.gross - credit, sum(cents for _, cents, _ in payments)
    less = discount(s, due)
    in_time = bool(payments) and (payments[-1][0] - i.issued).days <= s.discount_days
    deducted = less if less and paid == due - less and (in_time or careless == "late") else 0
    rest = due - paid - deducted
    status = "paid" if not deducted else "discount"
    if rest:
        status = "open" if not paid else "short" if rest > 0 else "overpaid"
    return {
        "supplier": s.company.name,
        "gross": money(i.gross),
        "credited": money(credit),
        "paid": money(paid),
        "paid_on": payments[-1][0].isoformat() if payments else None,
        "deducted": money(deducted),
        "rest": money(rest),
        "status": status,
    }


def moves(world: World) -> list[Move]:
    """All movements of the account in the order of their days."""
    found = [*world.unnamed, *world.others]
    for number, (s, day, parts) in world.transfers.items():
        found.append(Move(day, s.company.name, f"Transfer {number}", -sum(c for _, c in parts), s.key))
    for k, (s, i) in enumerate(world.pairs()):
        for day, cents, transfer in i.paid:
            if not transfer:
                text = (f"INV {i.number}", f"{i.number} {s.company.address.city}", i.number, f"re {i.number}, thanks")[
                    k % 4
                ]
                found.append(Move(day, s.company.name, text, -cents, s.key))
    return sorted(found, key=lambda m: (m.day, m.who, m.reference, m.cents))
