"""When a client has seen what it wanted of a reply and closes the stream."""

from __future__ import annotations

from collections.abc import Callable

from simulator.core.stream import read_stream
from simulator.drive.meter import StreamCounter


class Enough:
    """Says True from the arrival on that brings the `tok`-th output token. Nothing is read until the meter's cheap
    estimate says that it may have come; then what has come is: the server's own running count where it sends one,
    else its chunks at the mean tokens a chunk of replies that it told of, and before the first of these `count`, tokens
    of a text, of what was said."""

    __slots__ = ("_count", "_counter", "_data", "_look_at", "_tok")

    def __init__(self, counter: StreamCounter, tok: int, count: Callable[[str], int]) -> None:
        self._counter, self._tok, self._count = counter, tok, count
        self._look_at = tok / 2
        self._data: list[bytes] = []

    def __call__(self, data: bytes) -> bool:
        self._data.append(data)
        self._counter.catch_up()
        estimate = self._counter.output_tok
        if estimate < self._look_at:
            return False
        come = self._come()
        self._look_at = estimate + (self._tok - come) / 2
        return come >= self._tok

    def _come(self) -> int:
        reading = read_stream((0.0, data) for data in self._data)
        if reading.output_tok is not None:
            return reading.output_tok
        if (scaled := self._counter.scaled(len(reading.times_s))) is not None:
            return scaled
        return self._count(said) if (said := reading.said) else 0
