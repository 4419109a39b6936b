"""ladder.json as it is read again, by whichever verb: one door, so that what one of them refuses no other takes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from simulator.core.ladder.identity import SCHEMA
from simulator.core.versioned import first_fault, versioned
from simulator.errors import UsageError

Figure = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Figures = dict[str, Figure | None]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    """Later versions may say more; what is not asked for here is left alone."""

    model_config = ConfigDict(extra="ignore", strict=True)


class RepeatTold(_Part):
    pair: Count = 0
    lane: int | None = None
    life: int | None = None
    run: str | None = None
    seed: int | None = None
    started_unix_s: Figure | None = None
    agents: Figures | None = None
    synthetic: Figures | None = None
    client_verdict: str | None = None
    certified: bool = False
    doubts: list[str] = []
    engine: dict[str, Any] | None = None
    error: str | None = None


class RungTold(_Part):
    name: str
    rung: str | None = None
    concurrency: Count | None = None
    digest: str | None = None
    argv: list[str] = []
    env: dict[str, str] = {}
    repeats: list[RepeatTold] = []


class LifeTold(_Part):
    life: Count
    rung: str = ""
    start_s: Figure | None = None
    wall_s: Figure | None = None
    runs_s: list[Figure] = []


class LadderTold(_Part):
    scenario: str = ""
    synthetic_shape: str | None = None
    engine_kind: str = "unknown"
    random_weights: bool = False
    seed: int | None = None
    pairs: Count = 0
    started_unix_s: Figure | None = None
    interleaving: str | None = None
    left_out: list[str] = []
    engines_met: list[str] = []
    rungs: list[RungTold] = []
    lives: list[LifeTold] = []

    @model_validator(mode="after")
    def _has_distinct_names(self) -> LadderTold:
        names = [(rung.name, rung.concurrency) for rung in self.rungs]
        if (twice := next((each for each in names if names.count(each) > 1), None)) is not None:
            raise ValueError(f"two rungs are called {twice[0]}")
        return self

    @model_validator(mode="after")
    def _has_each_run_once(self) -> LadderTold:
        """A run that was named or copied twice is no second repeat."""
        seen: dict[object, str] = {}
        for rung in self.rungs:
            for each in rung.repeats:
                if each.run is None or each.error:
                    continue
                keys = [each.run] if each.started_unix_s is None else [each.run, (each.started_unix_s, each.seed)]
                if (first := next((seen[key] for key in keys if key in seen), None)) is not None:
                    raise ValueError(f"{each.run} of {rung.name} is {first} again, and a run counts once")
                seen |= dict.fromkeys(keys, f"{each.run} of {rung.name}")
        return self


def told(text: bytes, name: str) -> tuple[dict[str, Any], LadderTold]:
    """What the file says, with what is left out filled in, and the same as checked. UsageError that names the file and
    the place when it is no ladder of a version known here."""
    again, give = "restore it or climb the ladder again", "give the ladder.json that `sim ladder` wrote"
    raw = versioned(text, name, SCHEMA, again=again, give=give)
    try:
        checked = LadderTold.model_validate(raw)
    except ValidationError as why:
        raise UsageError(f"{name}: {first_fault(why)}; restore the file or climb the ladder again") from None
    return _over(raw, checked.model_dump()), checked


def _over(said: dict[str, Any], filled: dict[str, Any]) -> dict[str, Any]:
    """What a file says over what it does not, in its lists of objects too; both have the same shape."""
    found = {**filled, **said}
    for key in filled.keys() & said.keys():
        if isinstance(said[key], list) and all(isinstance(each, dict) for each in said[key]):
            found[key] = [_over(one, other) for one, other in zip(said[key], filled[key], strict=True)]
    return found
