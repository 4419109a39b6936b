"""Faults on purpose: which generation request meets which misfortune. docs/faults.md describes the file.

    seed: 1
    rules:
      - {kind: rate_limited, retry_after_s: 1, at: [3, 10]}          # the 4th and the 11th request
      - {kind: overflow, of: chat, probability: 0.01}                # of the agents' requests, one in a hundred
      - {kind: cut, after_chunks: 4, contains: invoices-0007, times: 1}
      - {kind: slow_prefill, factor: 5, from_s: 60, until_s: 90}     # for half a minute
The first rule that applies wins. What a rule does is mishaps.py's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import xxhash
from pydantic import Field, model_validator

from simulator.engine.embedded.config import FileModel, read_yaml, validate

#: eleven days; `hang` without hang_s is the way to say for ever
MOST_S = 1e6

Kind = Literal[
    # in place of an answer
    "refuse", "status", "overflow", "bad_request", "unauthorized", "not_found", "rate_limited", "server_error",
    "unavailable", "hang", "death",
    # in place of the stream
    "page", "json_body", "malformed", "empty", "reasoning_only", "bad_arguments", "unknown_tool", "call_in_text",
    "trickle",
    # in the stream
    "cut", "half_close", "no_finish", "hang_in_stream", "error_in_stream", "length", "usage_wrong", "usage_missing",
    "slow_decode", "slow_prefill", "burst", "deaf",
]  # fmt: skip
#: keys that belong to some kinds only
OWN_KEYS: dict[str, tuple[str, ...]] = {
    "status": ("status",),
    "retry_after_s": ("status", "rate_limited", "server_error", "unavailable"),
    "hang_s": ("hang", "hang_in_stream"),
    "after_chunks": ("cut", "half_close", "no_finish", "hang_in_stream", "error_in_stream", "burst"),
    "gap_s": ("slow_decode", "trickle"),
    "factor": ("slow_prefill",),
}


class Rule(FileModel):
    """When: `at`, ordinals from 0, or `probability`, among the requests that `of` and `contains` (a text in the body)
    choose; without either, all of those. from_s, until_s: only so long after the first request of all. times: no more
    than so often."""

    kind: Kind
    at: tuple[Annotated[int, Field(ge=0)], ...] = ()
    probability: float | None = Field(default=None, ge=0, le=1)
    of: Literal["any", "chat", "completions"] = "any"
    contains: str | None = Field(default=None, min_length=1)
    from_s: float = Field(default=0.0, ge=0)
    until_s: float | None = Field(default=None, gt=0)
    times: int | None = Field(default=None, ge=1)
    status: Literal[400, 401, 403, 404, 429, 500, 502, 503] = 500
    retry_after_s: float | None = Field(default=None, ge=0, le=MOST_S)
    hang_s: float | None = Field(default=None, ge=0, le=MOST_S)
    after_chunks: int = Field(default=1, ge=0)
    gap_s: float = Field(default=0.5, gt=0, le=MOST_S)
    factor: float = Field(default=1.0, ge=1, le=1e6)

    @model_validator(mode="after")
    def _sensible(self) -> Rule:
        given = self.model_fields_set
        if not given & {"at", "probability", "contains", "from_s", "until_s", "times", "of"}:
            raise ValueError(
                "a rule needs 'at', 'probability', 'contains', 'of', 'times' or a time, else it never applies"
            )
        for key, kinds in OWN_KEYS.items():
            if key in given and self.kind not in kinds:
                raise ValueError(f"'{key}' goes with {', '.join(kinds)}, not with {self.kind}")
        if self.until_s is not None and self.until_s <= self.from_s:
            raise ValueError(f"until_s ({self.until_s:g}) is not after from_s ({self.from_s:g})")
        return self

    def covers(self, chat: bool, body: bytes) -> bool:
        if self.of != "any" and (self.of == "chat") != chat:
            return False
        return self.contains is None or self.contains.encode() in body


class Schedule(FileModel):
    seed: int = 0
    rules: tuple[Rule, ...] = ()


class Faults:
    """A schedule at work: it counts what it meets."""

    def __init__(self, schedule: Schedule) -> None:
        self._seed, self._rules = schedule.seed, schedule.rules
        self._met, self._hit = [0] * len(self._rules), [0] * len(self._rules)
        self._first_s: float | None = None

    def meet(self, *, chat: bool, body: bytes, now_s: float) -> Rule | None:
        """The fault of a generation request that arrives now; None for none. now_s: on any clock, but one."""
        if self._first_s is None:
            self._first_s = now_s
        chosen: int | None = None
        for n, rule in enumerate(self._rules):
            if not rule.covers(chat, body):
                continue
            ordinal, self._met[n] = self._met[n], self._met[n] + 1
            if chosen is None and self._applies(n, rule, ordinal, now_s - self._first_s):
                chosen = n
        if chosen is None:
            return None
        self._hit[chosen] += 1
        return self._rules[chosen]

    def _applies(self, n: int, rule: Rule, ordinal: int, t_s: float) -> bool:
        if t_s < rule.from_s or (rule.until_s is not None and t_s >= rule.until_s):
            return False
        if rule.times is not None and self._hit[n] >= rule.times:
            return False
        if not rule.at and rule.probability is None:
            return True
        luck = xxhash.xxh3_64_intdigest(b"%d %d %d" % (self._seed, n, ordinal)) / 2**64
        return ordinal in rule.at or luck < (rule.probability or 0.0)


def load_faults(path: Path) -> Schedule:
    """Raises UsageError that names the file and key."""
    return validate(Schedule, read_yaml(path), path, "docs/faults.md")
