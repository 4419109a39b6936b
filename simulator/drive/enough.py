"""When a client has seen what it wanted of a reply and closes the stream."""

from __future__ import annotations

import re

from simulator.drive.meter import StreamCounter

_USED = re.compile(rb'"completion_tokens": ?(\d+)')


class Enough:
    """Counts like `counter`, and says True from the arrival on that brings the `tok`-th output token. The server's own
    running count rules where it sends one with every chunk; else the meter's estimate (chunks times the mean tokens a
    chunk of this run). A count split between two reads is found in the next one."""

    __slots__ = ("_counter", "_tok")

    def __init__(self, counter: StreamCounter, tok: int) -> None:
        self._counter, self._tok = counter, tok

    def __call__(self, data: bytes) -> bool:
        self._counter.catch_up()
        used = _USED.findall(data)
        return (int(used[-1]) if used else self._counter.output_tok) >= self._tok
