"""What importers are given, and what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simulator.trace.draft import Draft


@dataclass(frozen=True, slots=True)
class Left:
    """Something that was not imported. line: 0, the whole file."""

    path: Path
    line: int
    why: str


@dataclass(slots=True)
class Asked:
    """One import. used: files that belong to what was imported. left: what was not, and why. aside: how many of what
    is no part of any session, by what it is: nobody misses it."""

    used: set[Path] = field(default_factory=set)
    left: list[Left] = field(default_factory=list)
    aside: Counter[str] = field(default_factory=Counter)

    def leave(self, path: Path, why: object, line: int = 0) -> None:
        self.left.append(Left(path, line, str(why)))


Importer = Callable[[Path, Asked], Iterator[Draft]]
