"""Facts: a company's shares and officers, and the meetings at which they changed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from simulator.tasks import words
from simulator.tasks.words import Company

from .._kit_documents.house import House, house, people

LABEL = "documents_minutes"
#: (meetings in the book, of each volume, movements of shares and officers a meeting)
SIZE: Mapping[str, tuple[int, int, tuple[int, int]]] = {
    "small": (6, 3, (2, 3)),
    "medium": (16, 4, (2, 4)),
    "long": (44, 6, (2, 4)),
}
OFFICES = ("director", "secretary", "auditor")


@dataclass(frozen=True, slots=True)
class Move:
    """kind: "issue", "cancel" (who, shares), "transfer" (who to other, shares), "appoint", "resign" (who, office).
    refused: it was proposed and not carried."""

    kind: str
    who: str
    other: str = ""
    shares: int = 0
    office: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Meeting:
    """corrects: (number of an earlier meeting, which of its moves, number of shares as it should be). quorate: whether
    enough members were there; without, nothing that was resolved is valid. places: number of each move among the items
    of the meeting, of which there are `items`; a correction is the first item."""

    number: int
    day: date
    moves: tuple[Move, ...]
    quorate: bool
    corrects: tuple[int, int, int] | None
    present: tuple[str, ...]
    chair: str
    places: tuple[int, ...]
    items: int


@dataclass(frozen=True, slots=True)
class World:
    house: House
    company: Company
    founders: Mapping[str, int]
    meetings: tuple[Meeting, ...]
    volumes: tuple[tuple[Meeting, ...], ...]
    quorum: int


def build(seed: int, size: str, attempt: int = 0) -> World:
    n, each, span = SIZE[size]
    base = house(
        seed,
        LABEL,
        size,
        1,
        book="book|minute_book|folios",
        ledger="ledger|share_ledger|holders",
        state="state|extract_state|standing",
    )
    r = words.stream(seed, LABEL, "world", size, attempt)
    names = [p.name for p in people(r, 14 if size == "long" else 9)]
    founders = {name: r.randrange(40, 400, 10) for name in names[:4]}
    quorum = 3
    held, offices = dict(founders), {}
    day = base.day - timedelta(days=40 * n + r.randint(60, 200))
    meetings: list[Meeting] = []
    for number in range(1, n + 1):
        day += timedelta(days=r.randint(24, 44))
        quorate = number != n - 2 and (number < 4 or number == n - 1 or r.random() > 0.07)
        moves = _moves(r, number, names, held, offices, r.randint(*span), quorate)
        corrects = _correction(r, meetings, held, number, n) if quorate else None
        first, total = 2 if corrects else 1, len(moves) + r.randint(11, 14) + bool(corrects)
        places = tuple(sorted(r.sample(range(first, total + 1), len(moves))))
        present = r.sample(names, r.randint(quorum, 6) if quorate else r.randint(1, quorum - 1))
        meetings.append(Meeting(number, day, moves, quorate, corrects, tuple(present), present[0], places, total))
    volumes = tuple(tuple(meetings[i : i + each]) for i in range(0, n, each))
    return World(base, base.partners[0], founders, tuple(meetings), volumes, quorum)


def apply(move: Move, held: dict[str, int], offices: dict[tuple[str, str], int], number: int = 0) -> None:
    """offices: (office, name) -> number of the meeting of appointment."""
    match move.kind:
        case "issue":
            held[move.who] = held.get(move.who, 0) + move.shares
        case "cancel":
            held[move.who] -= move.shares
        case "transfer":
            held[move.who] -= move.shares
            held[move.other] = held.get(move.other, 0) + move.shares
        case "appoint":
            offices[move.office, move.who] = number
        case "resign":
            offices.pop((move.office, move.who), None)


def _moves(
    r: random.Random,
    number: int,
    names: list[str],
    held: dict[str, int],
    offices: dict[tuple[str, str], int],
    count: int,
    quorate: bool,
) -> tuple[Move, ...]:
    """What is resolved, applied as it goes where it is valid. Nobody gives away more than a third of what is held."""
    out: list[Move] = []
    for k in range(count + (2 if number == 1 else 0)):
        move = _move(r, names, held, offices, first=number == 1 and k < 2)
        if number == 3 and k == 0:
            rich = max(held, key=lambda name: (held[name], name))
            move = Move("transfer", rich, next(x for x in names if x != rich), 8)
        refused = number > 2 and k > 0 and (r.random() < 0.12 or (number == 4 and k == 1))
        if move.kind in ("appoint", "resign") and not quorate:
            refused = False
        made = Move(move.kind, move.who, move.other, move.shares, move.office, refused)
        out.append(made)
        if quorate and not refused:
            apply(made, held, offices, number)
    return tuple(out)


def _move(
    r: random.Random, names: list[str], held: dict[str, int], offices: dict[tuple[str, str], int], *, first: bool
) -> Move:
    rich = [name for name in sorted(held) if held[name] >= 60]
    kind = "appoint" if first else r.choice(("issue", "transfer", "transfer", "cancel", "appoint", "resign"))
    if kind == "resign" and not offices:
        kind = "appoint"
    match kind:
        case "transfer" if rich:
            who = r.choice(rich)
            return Move("transfer", who, r.choice([x for x in names if x != who]), r.randint(3, held[who] // 3))
        case "cancel" if rich:
            who = r.choice(rich)
            return Move("cancel", who, shares=r.randint(2, held[who] // 5))
        case "appoint":
            free = [(o, x) for o in OFFICES for x in names if (o, x) not in offices]
            office, who = r.choice(free)
            return Move("appoint", who, office=office)
        case "resign":
            office, who = r.choice(sorted(offices))
            return Move("resign", who, office=office)
    return Move("issue", r.choice(names), shares=r.randint(5, 90))


def _correction(
    r: random.Random, meetings: list[Meeting], held: dict[str, int], number: int, n: int
) -> tuple[int, int, int] | None:
    """The meeting before the last one always corrects an issue; others do so by chance."""
    forced = number == n - 1
    if not forced and (number < 3 or r.random() > 0.2):
        return None
    known = {(m.corrects[0], m.corrects[1]) for m in meetings if m.corrects}
    for earlier in reversed(meetings):
        for k, move in enumerate(earlier.moves):
            open_ = earlier.quorate and not move.refused and (earlier.number, k) not in known
            if move.kind == "issue" and move.shares >= 5 and open_:
                better = move.shares + r.randint(1, 9)
                held[move.who] += better - move.shares
                return (earlier.number, k, better)
    return None
