"""What is paid for each claim, from the facts alone; and what somebody careless would pay."""

from __future__ import annotations

from datetime import date
from typing import Any

from .._kit_documents.house import half_up, money
from .world import COVERED, Claim, Conditions, World

REASONS = ("", "outside the period", "excluded cause")


def results(world: World, careless: str = "") -> dict[str, Any]:
    """careless: "years", age is a difference of years; "cause", the holder's cause counts; "limit", limits are put on
    each item; "late", late reports cost nothing."""
    out = world.house.out
    entries = {c.number: assess(world.conditions, c, careless) for c in world.claims}
    asked = [
        {"claim": c.number, "item": i.name, "amount": money(i.cents * i.count)}
        for c in world.claims
        for i in sorted(c.items, key=lambda i: (i.name, i.cents * i.count))
        if i.bought is None
    ]
    return {
        out("claims.json"): dict(sorted(entries.items())),
        out("queries.csv"): sorted(asked, key=lambda q: q["claim"]),
    }


def full_years(bought: date, loss: date) -> int:
    return loss.year - bought.year - ((loss.month, loss.day) < (bought.month, bought.day))


def assess(k: Conditions, c: Claim, careless: str = "") -> dict[str, Any]:
    cause = c.claimed if careless == "cause" else c.established
    covered = c.policy.first <= c.loss <= c.policy.last
    reason = "" if covered else REASONS[1]
    if covered and cause not in COVERED:
        reason = REASONS[2]
    goods = _goods(k, c, careless)
    net = sum(cents for _, cents in c.works)
    repair = net if c.policy.business else net + half_up(net * k.tax_percent, 100)
    late = (c.reported - c.loss).days > k.report_days and careless != "late"
    cut = half_up((goods + repair) * k.late_percent, 100) if late else 0
    own = k.deductible.get(cause, 0)
    paid = max(0, min(goods + repair - cut, c.policy.sum_cents) - own)
    return {
        "policy": c.policy.number,
        "holder": c.policy.holder,
        "cause": cause,
        "reason": reason,
        "goods": money(goods),
        "repair": money(repair),
        "late": money(cut),
        "deductible": money(own if not reason else 0),
        "paid": money(paid if not reason else 0),
    }


def _goods(k: Conditions, c: Claim, careless: str) -> int:
    sums: dict[str, int] = {}
    for i in c.items:
        if i.bought is None:
            continue
        years = c.loss.year - i.bought.year if careless == "years" else full_years(i.bought, c.loss)
        percent = max(k.floor, 100 - k.yearly.get(i.category, 0) * years)
        value = half_up(i.cents * i.count * percent, 100)
        if careless == "limit" and i.category in k.limits:
            value = min(value, k.limits[i.category])
        sums[i.category] = sums.get(i.category, 0) + value
    if careless == "limit":
        return sum(sums.values())
    return sum(min(cents, k.limits.get(category, cents)) for category, cents in sums.items())
