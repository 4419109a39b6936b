"""When a client that takes one call a reply has it: as soon as it is whole, while the stream goes on."""

from __future__ import annotations

import orjson

from simulator.cline.live.classic_calls import NEEDED, PARAMS
from simulator.cline.live.xml import XmlReader
from simulator.core.deltas import Deltas


class FirstCall:
    """Given each read of a reply; True from the one on that completes its first call. xml: calls stand in the text."""

    def __init__(self, *, xml: bool) -> None:
        self._deltas = Deltas()
        self._reader = XmlReader(tuple(NEEDED), PARAMS) if xml else None
        self._calls: dict[int, str] = {}
        self._seen = False

    def __call__(self, data: bytes) -> bool:
        for delta in self._deltas.feed(data):
            if self._reader is not None:
                self._reader.feed(delta.text)
                self._seen = self._seen or bool(self._reader.calls)
            for index, (_, arguments) in delta.calls.items():
                self._calls[index] = self._calls.get(index, "") + arguments
        return self._seen or (self._reader is None and self._whole())

    def _whole(self) -> bool:
        """Another call has begun, or the arguments of the first are an object."""
        if len(self._calls) > 1:
            return True
        arguments = next(iter(self._calls.values()), "")
        if not arguments.rstrip().endswith("}"):
            return False
        try:
            return isinstance(orjson.loads(arguments), dict)
        except orjson.JSONDecodeError:
            return False
