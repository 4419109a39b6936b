"""Faults on purpose: which generation request meets which misfortune, decided by its ordinal and a seed.

    seed: 1
    rules:
      - {kind: status, status: 429, retry_after_s: 1, at: [3, 10]}
      - {kind: status, status: 400, probability: 0.01}      # a context overflow, as the engine words it
      - {kind: hang, hang_s: 30, at: [5]}                   # no headers for so long; without hang_s, ever
      - {kind: cut, after_chunks: 4, probability: 0.02}     # the connection ends in mid-stream
      - {kind: refuse, at: [0]}                             # the connection is closed without an answer
      - {kind: slow_prefill, factor: 5, probability: 0.1}   # this prompt costs five times as much to compute
The first rule that applies wins.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

import xxhash
from pydantic import Field, model_validator

from simulator.engine.embedded.config import FileModel, read_yaml, validate


class Rule(FileModel):
    kind: Literal["status", "hang", "cut", "refuse", "slow_prefill"]
    at: tuple[int, ...] = ()
    probability: float = Field(default=0.0, ge=0, le=1)
    status: Literal[400, 429, 500, 503] = 500
    retry_after_s: float | None = Field(default=None, ge=0)
    hang_s: float | None = Field(default=None, ge=0)
    after_chunks: int = Field(default=1, ge=1)
    factor: float = Field(default=1.0, ge=1)

    @model_validator(mode="after")
    def _applies_sometime(self) -> Rule:
        if not self.at and not self.probability:
            raise ValueError("a rule needs 'at' or 'probability', else it never applies")
        return self


class Faults(Protocol):
    def at(self, ordinal: int) -> Rule | None:
        """The fault of the ordinal-th generation request (from 0, in order of arrival), or None."""
        ...


class Schedule(FileModel):
    seed: int = 0
    rules: tuple[Rule, ...] = ()

    def at(self, ordinal: int) -> Rule | None:
        for n, rule in enumerate(self.rules):
            luck = xxhash.xxh3_64_intdigest(b"%d %d %d" % (self.seed, n, ordinal)) / 2**64
            if ordinal in rule.at or luck < rule.probability:
                return rule
        return None


def load_faults(path: Path) -> Schedule:
    """Raises UsageError that names the file and key."""
    return validate(Schedule, read_yaml(path), path)
