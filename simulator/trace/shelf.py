"""A trace on disk from which single sessions are taken: read and checked once as a whole, then by their places."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from simulator.trace.trace_file import TracedSession, located, one


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session's lines lie, and what decides when it is played. start_s: None, it does not say."""

    session: str
    offset: int
    length: int
    clock: str
    start_s: float | None
    first_prompt_tok: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """places: in the order in which the sessions began, else in the file's. shared: of block names that mean the same
    everywhere in a format, those that stand in more than one session. digest: of the file."""

    path: Path
    places: tuple[Place, ...]
    shared: frozenset[tuple[str, int]]
    digest: str

    def take(self, number: int) -> TracedSession:
        place = self.places[number]
        with self.path.open("rb") as file:
            file.seek(place.offset)
            return one(file.read(place.length), f"{self.path}, session {place.session!r}")


def open_shelf(path: Path) -> Shelf:
    """UsageError for whatever is wrong with the trace."""
    places: list[Place] = []
    owner: dict[tuple[str, int], int] = {}
    shared: set[tuple[str, int]] = set()
    for number, (session, offset, length) in enumerate(located(path)):
        line = session.line
        first = session.branch(0)[0]
        places.append(Place(line.session, offset, length, line.clock, line.start_s, first.prompt_tok))
        if line.block_scope == "trace":
            for key in {(line.format, block) for turn in session.turns for block in turn.add_blocks or ()}:
                if owner.setdefault(key, number) != number:
                    shared.add(key)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if len({place.clock for place in places}) == 1 and all(place.start_s is not None for place in places):
        places.sort(key=lambda place: place.start_s or 0.0)
    return Shelf(path, tuple(places), frozenset(shared), digest)


def recorded_starts(shelf: Shelf) -> tuple[float, ...] | None:
    """Seconds from the first session's start to each one's; None when the trace does not say."""
    starts = [place.start_s for place in shelf.places]
    known = [s for s in starts if s is not None]
    if len(known) < len(starts) or len({place.clock for place in shelf.places}) != 1:
        return None
    return tuple(round(s - known[0], 6) for s in known)
