"""An article's movements and its stock: quantities in pieces, values in cents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

Round = Callable[[Fraction], int]


@dataclass(frozen=True, slots=True)
class Move:
    """kind: "receipt", "issue", "back" (to the supplier, of the receipt `refers`), "count" (quantity found). quantity:
    of a receipt in packs of `pack` pieces; price: cents for one of them. arrived: when the goods came, on paper they
    did on `day`. theirs: consigned, never ours."""

    day: date
    arrived: date
    number: str
    kind: str
    quantity: int
    pack: int
    price: int
    refers: str
    theirs: bool


@dataclass(frozen=True, slots=True)
class Article:
    """method: "fifo" or "average". landed: (receipt, cents) of freight and duty invoiced apart. rebate: per cent off
    all receipts. sells: cents a piece; costs: per cent of it that selling takes."""

    text: str
    method: str
    moves: tuple[Move, ...]
    landed: tuple[tuple[str, int], ...]
    rebate: int
    sells: int
    costs: int


@dataclass(slots=True)
class Layer:
    number: str
    quantity: int
    value: int


def received(a: Article, m: Move, on: frozenset[str], cents: Round) -> tuple[int, int]:
    """(pieces, value)."""
    value = m.quantity * m.price
    if "rebate" in on and a.rebate:
        value = cents(Fraction(value * (100 - a.rebate), 100))
    if "landed" in on:
        value += sum(c for number, c in a.landed if number == m.number)
    return m.quantity * (m.pack if "pack" in on else 1), value


def counted(a: Article, day: date, on: frozenset[str]) -> list[Move]:
    """Movements that count, in order."""
    found = []
    for m in a.moves:
        when = m.arrived if "arrived" in on else m.day
        if when <= day and not (m.theirs and "theirs" in on) and not (m.kind == "count" and "count" not in on):
            found.append((when, m.number, m))
    return [m for *_, m in sorted(found, key=lambda x: x[:2])]


def take(layers: list[Layer], quantity: int, cents: Round) -> int:
    """Value of the oldest pieces, which leave."""
    value = 0
    while quantity and layers:
        first = layers[0]
        part = min(quantity, first.quantity)
        cost = first.value if part == first.quantity else cents(Fraction(first.value * part, first.quantity))
        first.quantity, first.value = first.quantity - part, first.value - cost
        value, quantity = value + cost, quantity - part
        if not first.quantity:
            layers.pop(0)
    return value


def figures(a: Article, day: date, on: frozenset[str], cents: Round) -> dict[str, int]:
    layers: list[Layer] = []
    issued = shrink = bought = 0
    prices: dict[str, Fraction] = {}

    def out(quantity: int) -> int:
        if a.method == "average":
            have, worth = sum(x.quantity for x in layers), sum(x.value for x in layers)
            layers[:] = [Layer("", have, worth)] if have else []
        return take(layers, quantity, cents)

    for m in counted(a, day, on):
        if m.kind == "receipt":
            pieces, value = received(a, m, on, cents)
            layers.append(Layer(m.number, pieces, value))
            prices[m.number] = Fraction(value, pieces)
            bought += value
        elif m.kind == "issue":
            issued += out(m.quantity)
        elif m.kind == "back":
            cost = cents(prices[m.refers] * m.quantity) if "back" in on else 0
            have, worth = sum(x.quantity for x in layers), sum(x.value for x in layers)
            cost = cost if "back" in on else cents(Fraction(worth * m.quantity, have))
            layers[:] = [Layer("", have - m.quantity, worth - cost)]
            bought -= cost
        else:
            shrink += out(sum(x.quantity for x in layers) - m.quantity)
    quantity, cost = sum(x.quantity for x in layers), sum(x.value for x in layers)
    net = Fraction(a.sells * (100 - a.costs), 100) if "costs" in on else Fraction(a.sells)
    value = min(cost, cents(net * quantity))
    return {
        "quantity": quantity, "cost": cost, "issued": issued, "shrink": shrink, "writedown": cost - value,
        "value": value,
        "bought": bought,
    }  # fmt: skip
