"""One emulated engine under a closed loop of requests of one shape, in virtual time.

A shape with a cached share is a conversation: its prompts grow from half of the mean length to one and a half, each
having the one before it as its beginning, in as many turns as give that share to a cache that keeps everything to the
token. What an engine really finds is then its own doing: pages, recurrent states that it saved or did not, what it had
to evict. Conversations are met at all ages, as a running service is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from simulator.core.grid import Shape
from simulator.core.stats import ratio
from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.loop import Loop
from simulator.engine.embedded.traffic import Turn

#: rounds and replies that are measured at least: places begin in step, and where replies vary need long to leave it
ROUNDS, REPLIES = 4, 500
#: by what that may grow until a rate's standard error is within this share of it
MOST, CLOSE = 8, 0.015
#: a conversation's prompts run from this share of their mean to 2 less it
FIRST = 0.5


def turns(shape: Shape) -> int:
    """Of a conversation; 1 without a cached share. Of n turns' prompts, n means together, the first is new whole,
    half a mean, and the others bring one mean more: 1.5 / n is new."""
    return max(2, round((2 - FIRST) / (1 - shape.cached))) if shape.cached else 1


def longest(shape: Shape) -> int:
    """Tokens of its longest prompt."""
    return _prompt(shape, turns(shape) - 1)


def _prompt(shape: Shape, turn: int) -> int:
    n = turns(shape)
    if n == 1:
        return shape.input_tok
    return max(1, round(shape.input_tok * (FIRST + 2 * (1 - FIRST) * turn / (n - 1))))


class _Places:
    """The clients of a cell: all go on sending until each has had so many rounds of replies after its first one."""

    def __init__(self, shape: Shape, at_once: int, rounds: int) -> None:
        self._shape, self._at_once, self._rounds = shape, at_once, rounds
        self._behind = at_once

    def place(self, number: int) -> Iterator[Turn]:
        n, kept = turns(self._shape), 0
        turn = number * n // self._at_once
        for replies in itertools.count():
            self._behind -= replies == self._rounds + 1
            if not self._behind:
                return
            yield Turn(0.0, _prompt(self._shape, turn), self._shape.output_tok, kept)
            kept = _prompt(self._shape, turn) if turn + 1 < n else 0
            turn = (turn + 1) % n


def speed(params: EngineParams, shape: Shape, at_once: int) -> float | None:
    """Output tokens a second while at_once requests are open, after all have been answered once, over whole rounds (a
    reply or more of every place); MOST times as many where the first do not tell the rate within CLOSE. None when the
    engine cannot take the longest prompt."""
    if longest(shape) + shape.output_tok > params.max_model_len:
        return None
    first = max(ROUNDS, math.ceil(max(REPLIES, 2 * turns(shape)) / at_once))
    rate, error = _measured(params, shape, at_once, first)
    if rate is not None and error > CLOSE * rate:
        rate, error = _measured(params, shape, at_once, MOST * first)
    return rate


def _measured(params: EngineParams, shape: Shape, at_once: int, rounds: int) -> tuple[float | None, float]:
    """(rate, its standard error from round to round)."""
    places = _Places(shape, at_once, rounds)
    heard = Loop(params).play([places.place(n) for n in range(at_once)])
    ends: dict[int, list[float]] = {}
    for each in heard.done:
        ends.setdefault(each.slot, []).append(each.end_s)
    edges = np.array([max(place[k] for place in ends.values()) for k in range(rounds + 1)])
    at_s, tok = np.array([at for at, _ in heard.out]), np.array([n for _, n in heard.out], dtype=float)
    inside, span_s = (at_s > edges[0]) & (at_s <= edges[-1]), edges[-1] - edges[0]
    rate = ratio(float(tok[inside].sum()), float(span_s))
    if rate is None:
        return None, 0.0
    round_s = np.diff(edges)
    made = np.array([tok[(at_s > low) & (at_s <= high)].sum() for low, high in itertools.pairwise(edges)])
    # of a ratio of sums: what each round made beyond the rate times its length
    left_over = made - rate * round_s
    return rate, float(math.sqrt(rounds / (rounds - 1) * (left_over**2).sum()) / span_s)
