"""Records on disk while a simulation goes on, in the order in which they end; read back in the order that is wanted.

What stays in memory of a record is its sorting key and its length, so that a run of ten thousand agents is not held.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from simulator.errors import UsageError

#: bytes that wait in memory until they are written
FLUSH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file of records. keys: (n * width) numbers, `width` a record; sizes: of each record its JSON's bytes and those
    of what belongs to it and follows it there."""

    name: str
    path: Path
    width: int
    keys: array[float]
    sizes: array[int]


class SheetWriter:
    def __init__(self, name: str, path: Path, width: int) -> None:
        self._sheet = Sheet(name, path, width, array("d"), array("Q"))
        self._file = path.open("wb", buffering=FLUSH_BYTES)

    def add(self, record: Any, key: Sequence[float], packed: bytes = b"") -> None:
        """UsageError when the disk is full."""
        line = orjson.dumps(record)
        self._sheet.keys.extend(key)
        self._sheet.sizes.extend((len(line), len(packed)))
        try:
            self._file.write(line + packed)
        except OSError as why:
            raise _full(self._sheet.path, why) from why

    def close(self) -> Sheet:
        try:
            self._file.close()
        except OSError as why:
            raise _full(self._sheet.path, why) from why
        return self._sheet


class Spool:
    """One process's part in an existing folder. Keys: see Log."""

    def __init__(self, folder: Path, number: int) -> None:
        self.requests = SheetWriter("requests", folder / f"requests.{number}", 4)
        self.tools = SheetWriter("tools", folder / f"tools.{number}", 5)

    def close(self) -> list[Sheet]:
        return [self.requests.close(), self.tools.close()]


def in_order(sheets: Sequence[Sheet], name: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    """All records of that name by their keys, each with what belongs to it."""
    chosen = [sheet for sheet in sheets if sheet.name == name]
    if not chosen:
        return
    keys = np.concatenate([np.frombuffer(s.keys).reshape(-1, s.width) for s in chosen])
    sizes = [np.frombuffer(s.sizes, np.uint64).astype(np.int64).reshape(-1, 2) for s in chosen]
    starts = np.concatenate([np.cumsum(each.sum(axis=1)) - each.sum(axis=1) for each in sizes])
    of = np.repeat(np.arange(len(chosen)), [len(each) for each in sizes])
    lengths = np.concatenate(sizes)
    files = [sheet.path.open("rb") for sheet in chosen]
    try:
        for n in np.lexsort(keys.T[::-1]).tolist():
            json_bytes, more_bytes = lengths[n].tolist()
            part = os.pread(files[of[n]].fileno(), json_bytes + more_bytes, int(starts[n]))
            yield orjson.loads(part[:json_bytes]), part[json_bytes:]
    finally:
        for file in files:
            file.close()


def _full(path: Path, why: OSError) -> UsageError:
    return UsageError(f"cannot write {path}: {why.strerror}; free some space and run again")
