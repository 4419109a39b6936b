"""Who holds how many shares and which office after the last meeting; and the answers of the careless."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._kit_documents.house import half_up
from .world import OFFICES, World, apply


def state(world: World, careless: str = "") -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """(name -> shares, (office, name) -> meeting of appointment). careless: "refused", what was not carried counts;
    "quorum", meetings without a quorum count; "correction", corrections are overlooked."""
    corrected = {
        (m.corrects[0], m.corrects[1]): m.corrects[2]
        for m in world.meetings
        if m.corrects and m.quorate and careless != "correction"
    }
    held, offices = dict(world.founders), dict[tuple[str, str], int]()
    for meeting in world.meetings:
        if not meeting.quorate and careless != "quorum":
            continue
        for k, move in enumerate(meeting.moves):
            if move.refused and careless != "refused":
                continue
            shares = corrected.get((meeting.number, k), move.shares)
            apply(replace(move, shares=shares), held, offices, meeting.number)
    return held, offices


def percent(part: int, whole: int) -> str:
    """With four decimals, halves up."""
    value = half_up(part * 1_000_000, whole)
    return f"{value // 10_000}.{value % 10_000:04d}"


def results(world: World, careless: str = "") -> dict[str, Any]:
    held, offices = state(world, careless)
    total = sum(held.values())
    days = {m.number: m.day.isoformat() for m in world.meetings}
    holders = {name: {"shares": n, "percent": percent(n, total)} for name, n in sorted(held.items()) if n}
    officers = [
        {"office": office, "name": name, "since": days[number], "meeting": str(number)}
        for (office, name), number in sorted(offices.items(), key=lambda x: (OFFICES.index(x[0][0]), x[1], x[0][1]))
    ]
    out = world.house.out
    return {out("holders.json"): holders, out("officers.csv"): officers}
