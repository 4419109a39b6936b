"""What each person gets back and what the cards cost, from the facts alone; and what somebody careless would say."""

from __future__ import annotations

from typing import Any

from .._kit_documents.house import money
from .world import KM_RATE_CENTS, Traveller, World


def results(world: World, careless: str = "") -> dict[str, Any]:
    """careless: "private" items count; "cap" is for each meal, not for a day; "later": on days without a rate the next
    one is taken; "card": what the card paid is given back too."""
    out = world.house.out
    people = {t.person.name: _person(world, t, careless) for t in world.travellers}
    missing = [
        {
            "date": c.day.isoformat(),
            "holder": c.holder,
            "merchant": c.merchant,
            "amount": money(c.cents),
            "currency": c.currency,
        }
        for c in sorted(world.charges, key=lambda c: (c.day, c.holder, c.merchant, c.cents))
        if not c.claimed
    ]
    return {out("expenses.json"): dict(sorted(people.items())), out("missing.csv"): missing}


def _person(world: World, t: Traveller, careless: str) -> dict[str, Any]:
    by_kind: dict[str, int] = {}
    meals: dict[Any, int] = {}
    own = card = cut = 0
    for number, item in enumerate(t.items):
        if item.private and careless != "private":
            continue
        euros = world.euros(item.cents, item.currency, item.day, later=careless == "later")
        if item.kind == "meal":
            day = number if careless == "cap" else item.day
            before, meals[day] = meals.get(day, 0), meals.get(day, 0) + euros
            over = max(0, meals[day] - world.cap_cents) - max(0, before - world.cap_cents)
            cut, euros = cut + over, euros - over
        by_kind[item.kind] = by_kind.get(item.kind, 0) + euros
        if item.card and careless != "card":
            card += euros
        else:
            own += euros
    mileage = sum(trip.km * KM_RATE_CENTS for trip in t.trips)
    if mileage:
        by_kind["mileage"] = mileage
    return {
        "cost_centre": t.centre,
        "reimburse": money(own + mileage),
        "card": money(card),
        "cut": money(cut),
        "by_kind": {kind: money(cents) for kind, cents in sorted(by_kind.items())},
    }
