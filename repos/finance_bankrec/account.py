"""An account in the ledger and at the bank, and what lies between the two; cents, money that comes in is positive."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import date, timedelta

OLD = timedelta(days=180)
CARD = "CARD"


@dataclass(frozen=True, slots=True)
class Entry:
    """Of the ledger. batch: entries of one batch are paid as one sum, under the batch's reference; "" for none."""

    day: date
    ref: str
    partner: str
    amount: int
    batch: str


@dataclass(frozen=True, slots=True)
class Line:
    """Of the statement."""

    booked: date
    value: date
    ref: str
    amount: int


@dataclass(frozen=True, slots=True)
class Account:
    opening: int
    entries: tuple[Entry, ...]
    lines: tuple[Line, ...]


@functools.lru_cache(maxsize=4096)
def key(ref: str, on: frozenset[str]) -> str:
    return re.sub(r"[^0-9A-Z]", "", ref.upper()).lstrip("0") if "ref" in on else ref


def counted(a: Account, day: date, on: frozenset[str]) -> list[Line]:
    return [x for x in a.lines if (x.value if "value" in on else x.booked) <= day]


def figures(a: Account, day: date, on: frozenset[str]) -> dict[str, int]:
    lines = counted(a, day, on)
    bank = a.opening + sum(x.amount for x in lines)
    ledger = a.opening + sum(x.amount for x in a.entries)
    if "storno" in on:
        lines = _without_reversed(lines, on)
    open_lines: dict[str, list[int]] = {}
    for x in lines:
        open_lines.setdefault(key(x.ref, on), []).append(x.amount)
    errors = outstanding = unbooked = 0
    seen: set[tuple[str, int]] = set()
    due: dict[str, tuple[date, int]] = {}
    for e in a.entries:
        name = key(e.batch if e.batch and "batch" in on else e.ref, on)
        if "dup" in on and (e.ref, e.amount) in seen:
            errors -= e.amount
            continue
        again = (e.ref, e.amount) in seen
        seen.add((e.ref, e.amount))
        if e.batch and "batch" in on:
            before = due.get(name, (e.day, 0))
            due[name] = (max(before[0], e.day), before[1] + e.amount)
        else:
            due[f"{name}#{len(due)}" if again else name] = (e.day, e.amount)
    for name, (when, amount) in due.items():
        found = open_lines.get(name.partition("#")[0], [])
        if amount in found:
            found.remove(amount)
        elif found and "swap" in on:
            gap = found.pop(0) - amount
            if name.startswith(CARD) and "fee" in on:
                unbooked += gap
            else:
                errors += gap
        elif "old" in on and when < day - OLD:
            errors -= amount
        else:
            outstanding += amount
    unbooked += sum(x for found in open_lines.values() for x in found)
    return {
        "ledger": ledger, "bank": bank, "outstanding": outstanding, "unbooked": unbooked, "errors": errors,
        "adjusted": ledger + unbooked + errors,
    }  # fmt: skip


def _without_reversed(lines: list[Line], on: frozenset[str]) -> list[Line]:
    """Without pairs of one reference whose amounts cancel."""
    kept: list[Line | None] = []
    places: dict[tuple[str, int], list[int]] = {}
    for x in lines:
        name = key(x.ref, on)
        if twins := places.get((name, -x.amount)):
            kept[twins.pop()] = None
        else:
            places.setdefault((name, x.amount), []).append(len(kept))
            kept.append(x)
    return [x for x in kept if x is not None]
