"""When sessions and requests arrive, as a scenario says it."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[float, Field(gt=0)]


class Block(BaseModel):
    """A part of a scenario's file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


#: arrivals that are written down; more of them are no scenario file any more
MAX_TIMES = 200_000


class _Arrival(Block):
    """When things arrive. closed: the next starts when the last one ends. Open loops, on a clock that nothing shifts:
    constant, equal gaps; poisson, gaps drawn by the seed; trace, written down: `times_s`, seconds from the start in
    rising order, or `file`, one such number a line, beside the scenario; each multiplied by `scale` (0.5: twice as
    fast). recorded: when the sessions of the scenario's `trace` began. total: no more than so many in all."""

    kind: Literal["closed", "poisson", "constant", "trace", "recorded"] = "closed"
    times_s: Annotated[tuple[Annotated[float, Field(ge=0)], ...], Field(min_length=1, max_length=MAX_TIMES)] | None = (
        None
    )
    file: Annotated[str, Field(min_length=1)] | None = None
    scale: Positive = 1.0
    total: Annotated[int, Field(gt=0, le=MAX_TIMES)] | None = None

    @property
    def open(self) -> bool:
        return self.kind != "closed"

    @property
    def rate_per_s(self) -> float | None:
        """The rate of a drawn or constant schedule."""
        raise NotImplementedError

    def _checked(self, rate_key: str) -> None:
        drawn, rate = self.kind in ("poisson", "constant"), self.rate_per_s
        if drawn and rate is None:
            raise ValueError(f"`kind: {self.kind}` needs its rate, `{rate_key}`")
        if rate is not None and not drawn:
            raise ValueError(
                f"`{rate_key}` goes with `kind: poisson` or `kind: constant`, not with `kind: {self.kind}`"
            )
        if self.kind != "trace":
            for key in ("times_s", "file"):
                if getattr(self, key) is not None:
                    raise ValueError(f"`{key}` goes with `kind: trace`, not with `kind: {self.kind}`")
            if self.scale != 1.0 and self.kind != "recorded":
                raise ValueError(f"`scale` goes with `kind: trace` or `recorded`, not with `kind: {self.kind}`")
        elif self.times_s is None and self.file is None:
            raise ValueError("`kind: trace` needs `times_s`, a list of seconds, or `file`, one number a line")
        if self.kind == "closed" and self.total is not None:
            raise ValueError("`total` goes with an open loop: `kind: poisson`, `constant` or `trace`")
        times = self.times_s or ()
        for number, (before, after) in enumerate(pairwise(times), 2):
            if after < before:
                raise ValueError(f"arrival {number} of the trace, {after:g} s, is before its predecessor, {before:g} s")


class Arrival(_Arrival):
    """Of sessions. In an open loop a session begins when it is due, whatever became of the others; the two caps keep a
    burst of a closed loop from overrunning an endpoint and are no arrival process."""

    sessions_per_s: Positive | None = None
    request_starts_per_s: Positive | None = None
    session_starts_per_s: Positive | None = None

    @property
    def rate_per_s(self) -> float | None:
        return self.sessions_per_s

    @model_validator(mode="after")
    def _whole(self) -> Arrival:
        self._checked("sessions_per_s")
        for cap in ("request_starts_per_s", "session_starts_per_s"):
            if self.open and getattr(self, cap) is not None:
                raise ValueError(f"`{cap}` is a cap that would bend an open loop's arrivals; leave it out")
        return self


class SyntheticArrival(_Arrival):
    """Of synthetic requests."""

    requests_per_s: Positive | None = None

    @property
    def rate_per_s(self) -> float | None:
        return self.requests_per_s

    @model_validator(mode="after")
    def _whole(self) -> SyntheticArrival:
        self._checked("requests_per_s")
        return self
