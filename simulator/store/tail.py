"""Reading a file of lines while another process appends to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from simulator.store.regular import open_regular

READ_BYTES = 8 << 20


class Tail:
    """Each call gives the complete lines that were added since the last one. A line still being written waits for the
    next call; a file that does not exist yet has no lines; one that shrank was replaced and is read from its start.

    block_bytes: about how much one call reads at most, so that a viewer that opens a long run stays responsive."""

    def __init__(self, path: Path | str, block_bytes: int = READ_BYTES) -> None:
        self.path = Path(path)
        self._at = 0
        self._block_bytes = block_bytes

    def lines(self) -> list[bytes]:
        """New lines without their newline; [] when there are none. Of a long file, call again until it is empty to
        reach the end."""
        try:
            with open_regular(self.path) as file:
                if file.seek(0, 2) < self._at:
                    self._at = 0
                file.seek(self._at)
                block = file.read(self._block_bytes)
                if len(block) == self._block_bytes and b"\n" not in block:
                    block += file.readline()
        except FileNotFoundError:
            return []
        whole = block[: block.rfind(b"\n") + 1]
        self._at += len(whole)
        return whole.split(b"\n")[:-1]

    def objects(self) -> Iterator[dict[str, Any]]:
        """The same as parsed JSON objects; lines that are none are passed over."""
        for line in self.lines():
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(value, dict):
                yield value
