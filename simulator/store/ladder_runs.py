"""Which run folders a ladder has, and what each of them is in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simulator.core.ladder.told import LadderTold, RungTold, told
from simulator.errors import UsageError
from simulator.store.ladder import LADDER
from simulator.store.manifest import MANIFEST
from simulator.store.regular import read_regular


@dataclass(frozen=True, slots=True)
class LadderRun:
    """A repeat that came to its end. rung: without its level. here: whether its folder is; somebody who gives a ladder
    away may have kept only some."""

    path: Path
    rung: str
    pair: int
    concurrency: int | None
    here: bool


def is_ladder(folder: Path) -> bool:
    return (folder / LADDER).is_file() and not (folder / MANIFEST).exists()


def ladder_told(folder: Path) -> LadderTold:
    """Its ladder.json, checked. UsageError when that cannot be read or is none."""
    try:
        return told(read_regular(folder / LADDER), str(folder / LADDER))[1]
    except OSError as why:
        raise UsageError(f"{folder / LADDER} cannot be read: {why.strerror}; restore it") from None


def ladder_runs(folder: Path) -> list[LadderRun]:
    """In the order of the ladder's rungs, and of their pairs. UsageError when its ladder.json is none."""
    return [
        LadderRun(
            folder / each.run,
            _plain(rung),
            each.pair,
            rung.concurrency,
            here=(folder / each.run / MANIFEST).is_file(),
        )
        for rung in ladder_told(folder).rungs
        for each in rung.repeats
        if each.run is not None and not each.error
    ]


def _plain(rung: RungTold) -> str:
    return rung.rung or rung.name.removesuffix(f"@{rung.concurrency}")
