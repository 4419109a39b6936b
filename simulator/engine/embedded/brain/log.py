"""The truth about what the oracle said: a line of JSON an answer, and counters for /metrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import orjson

from simulator.engine.embedded.brain.oracle import Told
from simulator.errors import UsageError


class Log:
    """path: where the lines go, at the end of what is there; None, nowhere. UsageError when it cannot be written."""

    def __init__(self, path: Path | None) -> None:
        self.counts: Counter[str] = Counter()
        try:
            self._file = None if path is None else path.open("ab", buffering=0)
        except OSError as error:
            raise UsageError(f"--oracle-log {path}: cannot be written ({error.strerror}); name another file") from None

    def tell(self, told: Told) -> None:
        self.counts[told.mistake or "none"] += 1
        if self._file is not None:
            self._file.write(orjson.dumps(asdict(told), option=orjson.OPT_APPEND_NEWLINE))
