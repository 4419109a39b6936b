"""One emulated engine under a closed loop of requests of one shape, in virtual time.

A shape with a cached share is a conversation: its prompts grow from half of the mean length to one and a half, each
having the one before it as its beginning, in as many turns as give that share to a cache that keeps everything to the
token. What an engine really finds is then its own doing: pages, recurrent states that it saved or did not, what it had
to evict. Conversations are met at all ages, as a running service is.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.core.grid import Shape
from simulator.core.stats import ratio
from simulator.engine.embedded.config import EngineParams
from simulator.engine.embedded.loop import Loop
from simulator.engine.embedded.traffic import Turn

#: requests that are measured: so many of each place, and at least so many in all
EACH, LEAST = 2, 24
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
    """The clients of a cell. Each place sends turn after turn until enough have been answered after every place had its
    first reply."""

    def __init__(self, shape: Shape, at_once: int) -> None:
        self._shape, self._at_once = shape, at_once
        self.wanted = max(EACH * at_once, LEAST, 2 * turns(shape))
        self._unanswered, self._done = at_once, 0

    def place(self, number: int) -> Iterator[Turn]:
        n, kept = turns(self._shape), 0
        turn = number * n // self._at_once
        first = True
        while True:
            yield Turn(0.0, _prompt(self._shape, turn), self._shape.output_tok, kept)
            self._done += not self._unanswered
            self._unanswered -= first
            if self._done >= self.wanted:
                return
            first = False
            kept = _prompt(self._shape, turn) if turn + 1 < n else 0
            turn = (turn + 1) % n


def speed(params: EngineParams, shape: Shape, at_once: int) -> float | None:
    """Output tokens a second while at_once requests are open, after all have been answered once. None when the engine
    cannot take the longest prompt."""
    if longest(shape) + shape.output_tok > params.max_model_len:
        return None
    places = _Places(shape, at_once)
    heard = Loop(params).play([places.place(n) for n in range(at_once)])
    later = [each.end_s for each in heard.done if each.end_s > heard.answered_s]
    end_s = later[min(places.wanted, len(later)) - 1]
    tokens = sum(n for at_s, n in heard.out if heard.answered_s < at_s <= end_s)
    return ratio(float(tokens), end_s - heard.answered_s)
