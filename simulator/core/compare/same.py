"""Whether two folders hold one run. A copy says nothing that the first does not: it is no repeat and no other side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xxhash

from simulator.core.table import Table
from simulator.errors import UsageError


@dataclass(frozen=True, slots=True)
class Identity:
    """name: short. moment: when the run began, in which process of which machine, and its seed; None where it does not
    say when. figures: digest of what it recorded; "" where that is nothing. virtual: time was simulated, and whoever
    asks for one seed and configuration again gets the same figures."""

    name: str
    moment: tuple[float, int, str, str] | None
    figures: str
    virtual: bool = False

    def is_copy_of(self, other: Identity) -> bool:
        """Both are one run, under whatever names."""
        if self.moment is not None and self.moment == other.moment:
            return True
        return not self.virtual and not other.virtual and bool(self.figures) and self.figures == other.figures

    def repeats(self, other: Identity) -> bool:
        """It adds nothing to the other on the same side."""
        alike = self.virtual and other.virtual and bool(self.figures) and self.figures == other.figures
        return alike or self.is_copy_of(other)


def identity(name: str, manifest: Mapping[str, Any], records: str = "", requests: Table | None = None) -> Identity:
    """records: digest of the lines. requests: the same read, of which a run in virtual time is known by its numbers, as
    its lines name its folder. Without either, by the manifest alone."""
    engine = manifest.get("engine")
    virtual = isinstance(engine, Mapping) and engine.get("virtual") is True
    began, pid, seed = (manifest.get(key) for key in ("t0_unix_s", "pid", "seed"))
    moment = None
    if isinstance(began, int | float) and isinstance(pid, int):
        moment = (float(began), pid, str(manifest.get("host")), str(seed))
    figures = records
    if requests is None or not requests.n:
        figures = ""
    elif virtual:
        figures = f"{seed} {_numbers(requests)}"
    return Identity(name, moment, figures, virtual)


def _numbers(requests: Table) -> str:
    state = xxhash.xxh3_128()
    for name in sorted(requests.numbers):
        state.update(requests[name].tobytes())
    return state.hexdigest()


def distinct(runs: Sequence[Identity]) -> tuple[list[int], list[str]]:
    """(places of the runs without those that repeat an earlier one, a sentence about each that is repeated)."""
    kept: list[int] = []
    again: dict[int, list[str]] = {}
    for place, run in enumerate(runs):
        first = next((each for each in kept if run.repeats(runs[each])), None)
        if first is None:
            kept.append(place)
        else:
            again.setdefault(first, []).append(run.name)
    return kept, [_told(runs[first], names) for first, names in again.items()]


def _told(first: Identity, names: Sequence[str]) -> str:
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    does = "repeats" if len(names) == 1 else "repeat"
    why = (
        "in virtual time a seed and a configuration always give the same figures" if first.virtual else "it is one run"
    )
    return f"{some} {does} {first.name}: {why}, so it is counted once"


def alike(a: Sequence[Identity], b: Sequence[Identity]) -> list[str]:
    """A sentence about the first two runs of both sides that are the same to the last figure, as runs in virtual time
    are whose configurations differ in nothing that matters."""
    for one in a:
        for other in b:
            if one.repeats(other):
                return [
                    f"{one.name} and {other.name} are the same to the last figure: in virtual time a seed and a "
                    "configuration always give the same, so whatever differs between them changed nothing"
                ]
    return []


def apart(a: Sequence[Identity], b: Sequence[Identity]) -> None:
    """UsageError when a run stands on both sides."""
    for one in a:
        for other in b:
            if one.is_copy_of(other):
                both = one.name if one.name == other.name else f"{other.name} is {one.name} again, which"
                raise UsageError(f"{both} stands on both sides; a run compared with itself says nothing")
