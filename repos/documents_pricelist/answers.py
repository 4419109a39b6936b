"""The right price list, from the facts alone; and what somebody careless would publish."""

from __future__ import annotations

from typing import Any

from .._kit_documents.house import half_up, money
from .world import Article, Group, Maker, World, discount_of

COLUMNS = ("code", "maker", "name", "unit", "list", "net", "sale", "basis")
BASIS = ("list", "special", "fixed")


def results(world: World, careless: str = "") -> dict[str, Any]:
    """careless: "old", struck-out prices are taken; "per", prices for a hundred are taken for one; "dates", special
    prices hold whenever; "dropped", articles that are no longer delivered stay in the list."""
    rows, left = [], []
    for maker in world.makers:
        for group in maker.groups():
            for a in group.articles:
                if a.on_request:
                    left.append({"code": a.code, "maker": maker.company.name, "reason": "on request"})
                elif a.code in maker.dropped and careless != "dropped":
                    left.append({"code": a.code, "maker": maker.company.name, "reason": "dropped"})
                else:
                    rows.append(_row(world, maker, group, a, careless))
    out = world.house.out
    return {
        out("prices.csv"): sorted(rows, key=lambda row: (row["maker"], row["code"])),
        out("left_out.csv"): sorted(left, key=lambda row: (row["maker"], row["code"])),
    }


def _row(world: World, maker: Maker, group: Group, a: Article, careless: str) -> dict[str, str]:
    printed = a.old_cents if careless == "old" and a.old_cents else a.list_cents
    per = 1 if careless == "per" else a.per
    special = next((s for s in maker.specials if s.code == a.code), None)
    valid = special is not None and (careless == "dates" or special.first <= world.day <= special.last)
    if valid and special is not None:
        net, basis = special.net_cents, "special"
        net = half_up(net, per)
    else:
        net = half_up(printed * (100 - discount_of(maker, group)), 100 * per)
        basis = "fixed" if group.fixed else "list"
    return {
        "code": a.code,
        "maker": maker.company.name,
        "name": a.name,
        "unit": a.unit,
        "list": money(half_up(printed, per)),
        "net": money(net),
        "sale": money(sale(world, net)),
        "basis": basis,
    }


def sale(world: World, net: int) -> int:
    """The mark-up of the net price's class, then up to the next step."""
    percent = next(p for start, p in reversed(world.markup) if net >= start)
    whole, step = net * (100 + percent), world.step_cents * 100
    return -(-whole // step) * world.step_cents
