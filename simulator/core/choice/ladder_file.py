"""ladder.json, as far as a choice between its rungs needs it."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.certify import LIMITED
from simulator.core.choice.choice import Repeat, Rung
from simulator.core.ladder.told import LadderTold, RungTold, told


@dataclass(frozen=True, slots=True)
class Ladder:
    """runs: rung -> its run folders, relative to the file. shape: of the synthetic traffic, "512/512"; "" unknown."""

    scenario: str
    shape: str
    emulated: bool
    random_weights: bool
    rungs: tuple[Rung, ...]
    runs: dict[str, tuple[str, ...]]


def parse(text: bytes, name: str) -> Ladder:
    """UsageError that names the file and the place when it is no ladder of a version known here."""
    return ladder_of(told(text, name)[1])


def ladder_of(ladder: LadderTold) -> Ladder:
    return Ladder(
        scenario=ladder.scenario,
        shape=ladder.synthetic_shape or "",
        emulated=ladder.engine_kind == "emulated",
        random_weights=ladder.random_weights,
        rungs=tuple(_rung(each) for each in ladder.rungs),
        runs={each.name: tuple(r.run for r in each.repeats if r.run) for each in ladder.rungs},
    )


def _rung(rung: RungTold) -> Rung:
    done = [each for each in rung.repeats if not each.error and (each.agents or each.synthetic)]
    repeats = tuple(
        Repeat(each.pair, each.agents, each.synthetic, each.client_verdict == LIMITED, tuple(each.doubts))
        for each in done
    )
    return Rung(rung.name, repeats, failed=len(rung.repeats) - len(done), level=rung.concurrency)
