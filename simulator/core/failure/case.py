"""Failure cases: which scenario meets which faults on which engine, and what must come of it, as expected.yaml says."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from simulator.core.versioned import first_fault
from simulator.core.yaml_text import load_text, refuse_duplicates
from simulator.errors import UsageError

#: figures of core/failure/figures.py that a case may name, besides errors.KIND and defects.KIND
NAMES = (
    "requests.sent", "requests.ok", "requests.again", "requests.closed", "ttft_s", "e2el_s", "cached_share",
    "silence_share", "backoff_s", "sessions.completed", "sessions.failed", "engine.unread_tok", "engine.running",
)  # fmt: skip
COUNTED = ("errors.", "defects.")


class Bounds(BaseModel):
    """At least one of them. In a file a number alone is both."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    min: float | None = None
    max: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        both = isinstance(value, int | float) and not isinstance(value, bool)
        return {"min": value, "max": value} if both else value

    @model_validator(mode="after")
    def _some(self) -> Bounds:
        if self.min is None and self.max is None:
            raise ValueError("give a number, `min` or `max`")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min ({self.min:g}) is above max ({self.max:g})")
        return self

    def hold(self, value: float) -> bool:
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def __str__(self) -> str:
        if self.min == self.max:
            return f"{self.min:g}"
        low = "" if self.min is None else f"at least {self.min:g}"
        high = "" if self.max is None else f"at most {self.max:g}"
        return ", ".join(filter(None, (low, high)))


class Side(BaseModel):
    """Files beside the case's own. engine: also a shipped name."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    faults: str | None = None
    engine: str | None = None


class Case(Side):
    """what: the failure in one sentence; reported: where people report it; scale: what was made shorter, and how.
    expect: figure -> bounds. ends: profile -> words of its sessions' error, "" for none. beside: a second run of the
    scenario, without the failure; ratio: figure -> bounds of this run's by that one's."""

    what: str
    reported: tuple[str, ...] = ()
    scale: str = ""
    scenario: str
    expect: dict[str, Bounds] = {}
    ends: dict[str, str] = {}
    beside: Side | None = None
    ratio: dict[str, Bounds] = Field(default={})

    @field_validator("expect", "ratio")
    @classmethod
    def _known(cls, value: dict[str, Bounds]) -> dict[str, Bounds]:
        for name in value:
            if name not in NAMES and not name.startswith(COUNTED):
                near = difflib.get_close_matches(name, NAMES, n=1)
                raise ValueError(f"`{name}` is no figure{f', did you mean `{near[0]}`?' if near else ''}")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Case:
        if bool(self.ratio) != (self.beside is not None):
            raise ValueError("`beside` and `ratio` go together: a second run, and what is compared with it")
        if not self.expect and not self.ends and not self.ratio:
            raise ValueError("nothing is expected: give `expect`, `ends` or `ratio`")
        return self


@dataclass(frozen=True, slots=True)
class Found:
    """One expectation and what came of it. got: in words."""

    name: str
    wanted: str
    got: str
    met: bool


def parse(text: str, source: str) -> dict[str, Case]:
    """Cases by name, in the file's order. Raises UsageError that names the file and the key."""
    root, raw = load_text(text, source, "list of failure cases")
    refuse_duplicates(root, source)
    if not isinstance(raw, dict) or not raw:
        raise UsageError(f"{source}: must be a mapping from a case's name to what it is; docs/failures.md has one")
    cases = {}
    for name, given in raw.items():
        try:
            cases[str(name)] = Case.model_validate(given)
        except ValidationError as error:
            raise UsageError(f"{source}: case `{name}`: {first_fault(error)}") from None
    return cases


def judge(
    case: Case,
    figures: Mapping[str, float | None],
    ends: Mapping[str, Sequence[str]],
    beside: Mapping[str, float | None] | None = None,
) -> list[Found]:
    """beside: figures of the run without the failure, for cases that have one."""
    found = [_figure(name, bounds, _value(figures, name)) for name, bounds in case.expect.items()]
    for profile, words in case.ends.items():
        told = list(ends.get(profile, ()))
        met = bool(told) and all(words in each if words else not each for each in told)
        wanted = f"failed: {words}" if words else "not failed"
        found.append(Found(f"{profile} sessions", wanted, "; ".join(each or "not failed" for each in told), met))
    for name, bounds in case.ratio.items():
        mine, other = _value(figures, name), _value(beside or {}, name)
        ratio = mine / other if mine is not None and other else None
        found.append(_figure(f"{name} by that without it", bounds, ratio))
    return found


def _value(figures: Mapping[str, float | None], name: str) -> float | None:
    """A kind of error that no request met was met no times."""
    return figures.get(name, 0.0 if name.startswith(COUNTED) else None)


def _figure(name: str, bounds: Bounds, value: float | None) -> Found:
    got = "unknown" if value is None else f"{value:.4g}"
    return Found(name, str(bounds), got, value is not None and bounds.hold(value))
