"""ladder.json, as far as a choice between its rungs needs it."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from simulator.core.certify import LIMITED
from simulator.core.choice.choice import Repeat, Rung
from simulator.core.versioned import first_fault, versioned
from simulator.errors import UsageError

SCHEMA = 1
Figures = dict[str, float | None]


class _Part(BaseModel):
    """Later versions may say more; what is not asked for here is left alone."""

    model_config = ConfigDict(extra="ignore")


class _Repeat(_Part):
    pair: int = 0
    run: str | None = None
    agents: Figures | None = None
    synthetic: Figures | None = None
    client_verdict: str | None = None
    doubts: list[str] = []
    error: str | None = None


class _Rung(_Part):
    name: str
    concurrency: int | None = None
    repeats: list[_Repeat] = []


class _Ladder(_Part):
    scenario: str = ""
    engine_kind: str = "unknown"
    random_weights: bool = False
    rungs: list[_Rung] = []


@dataclass(frozen=True, slots=True)
class Ladder:
    """runs: rung -> its run folders, relative to the file."""

    scenario: str
    emulated: bool
    random_weights: bool
    rungs: tuple[Rung, ...]
    runs: dict[str, tuple[str, ...]]


def parse(text: bytes, name: str) -> Ladder:
    """UsageError that names the file and the place when it is no ladder of a version known here."""
    again, give = "restore it or climb the ladder again", "give the ladder.json that `sim ladder` wrote"
    raw = versioned(text, name, SCHEMA, again=again, give=give)
    try:
        ladder = _Ladder.model_validate(raw)
    except ValidationError as why:
        raise UsageError(f"{name}: {first_fault(why)}; restore the file or climb the ladder again") from None
    return Ladder(
        scenario=ladder.scenario,
        emulated=ladder.engine_kind == "emulated",
        random_weights=ladder.random_weights,
        rungs=tuple(_rung(each) for each in ladder.rungs),
        runs={each.name: tuple(r.run for r in each.repeats if r.run) for each in ladder.rungs},
    )


def _rung(rung: _Rung) -> Rung:
    done = [each for each in rung.repeats if not each.error and (each.agents or each.synthetic)]
    repeats = tuple(
        Repeat(each.pair, each.agents, each.synthetic, each.client_verdict == LIMITED, tuple(each.doubts))
        for each in done
    )
    return Rung(rung.name, repeats, failed=len(rung.repeats) - len(done), level=rung.concurrency)
