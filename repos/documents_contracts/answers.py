"""The register of what is in force on a day, from the facts alone; and what somebody careless would enter."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from .._kit_documents.house import money
from .world import FIELDS, Agreement, Amendment, World, add_months

AHEAD_DAYS = 180


def results(world: World, careless: str = "") -> dict[str, Any]:
    """careless: "draft", what nobody signed counts; "future", amendments count before their time; "number", they are
    applied in the order of their numbers; "none", they are overlooked."""
    entries = {a.number: entry(world, a, careless) for a in world.agreements}
    out = world.house.out
    return {out("register.json"): dict(sorted(entries.items())), out("calendar.csv"): calendar(world.day, entries)}


def applied(world: World, a: Agreement, careless: str = "") -> list[Amendment]:
    found = [
        x
        for x in a.amendments
        if (x.state == "signed" or careless == "draft") and (x.effective <= world.day or careless == "future")
    ]
    if careless == "none":
        return []
    return sorted(found, key=lambda x: x.number if careless == "number" else (x.effective, x.number))


def entry(world: World, a: Agreement, careless: str = "") -> dict[str, Any]:
    terms, source = dict(a.terms), dict.fromkeys(FIELDS, "agreement")
    for x in applied(world, a, careless):
        for field, value in x.changes.items():
            terms[field], source[field] = value, f"amendment {x.number}"
    ends, status = _end(world.day, a, terms)
    renews = terms["renewal_months"] > 0 and status == "active"
    return {
        "partner": a.partner.name,
        "starts": a.starts.isoformat(),
        "ends": ends.isoformat(),
        "status": status,
        "payment_days": terms["payment_days"],
        "price_cap": f"{terms['price_cap'] / 10:.1f}",
        "liability_cap": money(terms["liability_cap"] * 100),
        "notice_days": terms["notice_days"],
        "renewal_months": terms["renewal_months"],
        "notice_until": (ends - timedelta(days=terms["notice_days"])).isoformat() if renews else None,
        "sources": source,
    }


def _end(day: date, a: Agreement, terms: dict[str, int]) -> tuple[date, str]:
    months, more = a.term_months, terms["renewal_months"]

    def end() -> date:
        return add_months(a.starts, months) - timedelta(days=1)

    reached = a.notice or day
    while more and end() < reached:
        months += more
    if a.notice is None:
        return end(), "active" if end() >= day else "expired"
    if more and a.notice > end() - timedelta(days=terms["notice_days"]):
        months += more
    return end(), "terminated"


def calendar(day: date, entries: dict[str, dict[str, Any]]) -> list[dict[str, str]]:
    last = (day + timedelta(days=AHEAD_DAYS)).isoformat()
    rows = []
    for number, e in entries.items():
        if e["notice_until"] and day.isoformat() <= e["notice_until"] <= last:
            rows.append({"date": e["notice_until"], "agreement": number, "event": "notice"})
        if not e["notice_until"] and day.isoformat() <= e["ends"] <= last:
            rows.append({"date": e["ends"], "agreement": number, "event": "end"})
    return sorted(rows, key=lambda row: (row["date"], row["agreement"]))
