"""A model call as traffic: when, how long, how much, and which blocks of the prompt were there before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: tokens of a block, wherever blocks are made here
BLOCK_TOK = 64


@dataclass(frozen=True, slots=True)
class Sent:
    """branch: 0 the session's own conversation; n, its n-th sub-agent. at_s: on a clock that all sessions share, None
    without one; order: by which calls are taken one after the other, a time or what comes nearest to one. gap_s: from
    the end of the branch's reply before it to this one's start. tools: names of the calls of its reply. keep, fresh:
    blocks of the prompt, the first `keep` of the branch's last prompt and then `fresh`; equal names are equal prefixes.
    """

    session: str
    branch: int
    turn: int
    at_s: float | None
    order: float
    took_s: float | None
    gap_s: float | None
    prompt_tok: int
    output_tok: int
    cached_tok: int | None
    tools: tuple[str, ...]
    keep: int
    fresh: Sequence[int]
    spawned: bool = False


@dataclass(frozen=True, slots=True)
class Traffic:
    """calls: in their `order`. block_tok: tokens a block. shared_clock: times of different sessions can be compared.
    notes: what was estimated, in words. kind: "trace" | "run". marks: what must not be missed (EMULATED...)."""

    name: str
    kind: str
    calls: tuple[Sent, ...]
    block_tok: int
    shared_clock: bool
    notes: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
