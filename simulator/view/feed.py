"""Reads a run folder as it grows and folds what is new into a LiveState. A poll without news costs a few stat calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
import psutil

from simulator.store.regular import open_regular, read_regular
from simulator.store.tail import Tail
from simulator.view.state import LiveState

#: how much of a long file's past is read when the view is opened in mid-run
PAST_BYTES = 16_000_000
_START_SLACK_S = 30.0


class RecentTail(Tail):
    """A Tail that starts at the first whole line of the last `past_bytes`: of a run that has been going for hours, a
    live view needs the last minutes."""

    def __init__(self, path: Path, past_bytes: int = PAST_BYTES) -> None:
        super().__init__(path)
        try:
            with open_regular(path) as file:
                start = file.seek(0, 2) - past_bytes
                if start > 0:
                    file.seek(start - 1)
                    file.readline()
                    self._at = file.tell()
        except FileNotFoundError:
            pass


class Feed:
    """The run folder `run_dir`. `poll(state)` is true when anything was new. `ignored` counts unreadable lines."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.ignored = 0
        self._tails = {name: RecentTail(run_dir / f"{name}.jsonl") for name in _FOLDS}
        self._seen: dict[str, tuple[int, int]] = {}

    def poll(self, state: LiveState) -> bool:
        news = False
        for name in ("manifest", "windows", "summary"):
            document = self._changed(name)
            if document is not None:
                setattr(state, name, document)
                news = True
        for name, tail in self._tails.items():
            while lines := tail.lines():
                news = True
                for line in lines:
                    self._fold(_FOLDS[name], state, line)
        return news

    def silent_s(self) -> float:
        """Seconds since the run last showed a sign of life: its last pulse, or the start of its manifest."""
        ages = []
        for name in ("pulse.jsonl", "manifest.json"):
            try:
                ages.append(time.time() - (self.run_dir / name).stat().st_mtime)
            except FileNotFoundError:
                continue
        return max(0.0, min(ages, default=0.0))

    def _fold(self, fold: Callable[[LiveState, Mapping[str, Any]], None], state: LiveState, line: bytes) -> None:
        # A line that is torn, or of a schema that this version does not know, must not take the view down.
        try:
            fold(state, orjson.loads(line))
        except (orjson.JSONDecodeError, KeyError, TypeError):
            self.ignored += 1

    def _changed(self, name: str) -> Mapping[str, Any] | None:
        """The JSON document if it is new since the last call; one that is being rewritten is tried again later."""
        path = self.run_dir / f"{name}.json"
        try:
            stat = path.stat()
            seen = (stat.st_mtime_ns, stat.st_size)
            if self._seen.get(name) == seen:
                return None
            document = orjson.loads(read_regular(path))
        except (FileNotFoundError, orjson.JSONDecodeError):
            return None
        self._seen[name] = seen
        return document if isinstance(document, dict) else None


_FOLDS: dict[str, Callable[[LiveState, Mapping[str, Any]], None]] = {
    "pulse": LiveState.on_pulse,
    "records": LiveState.on_record,
    "sessions": LiveState.on_session,
    "engine": LiveState.on_engine,
}


def process_gone(manifest: Mapping[str, Any]) -> bool | None:
    """Whether the process that writes the run is dead; None when the manifest does not name it. A younger process
    under the same id is another one."""
    pid = manifest.get("pid")
    if not isinstance(pid, int):
        return None
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return True
        started_s = manifest.get("t0_unix_s")
        return isinstance(started_s, int | float) and process.create_time() > started_s + _START_SLACK_S
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
