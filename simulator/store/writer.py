"""Writing a run folder from inside the load loop.

A record costs the event loop a few microseconds: it is serialised into a list in memory. The loop calls `flush` a few
times a second, which hands everything to the operating system; a SIGKILL then loses what came since the last flush.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from simulator.core.chunks import pack
from simulator.core.record import EngineSample, Pulse, Request, Session, ToolRun
from simulator.errors import UsageError
from simulator.store.layout import SCHEMA
from simulator.store.manifest import MANIFEST, write_json, write_whole
from simulator.store.transcripts import TRANSCRIPTS, Transcripts

CHUNKS = "chunks.bin"
RECORDS, TOOLS, SESSIONS = "records.jsonl", "tools.jsonl", "sessions.jsonl"
ENGINE, PULSE = "engine.jsonl", "pulse.jsonl"
WINDOWS = "windows.json"
DIFFS = "diffs"
#: of a manifest: file of lines -> how many lines the run wrote to it
LINES = "lines"


def mark_of(manifest: Mapping[str, Any]) -> bytes:
    """What each line of an emulated engine's run has last, so that none can pass for a real engine's."""
    return b',"engine":"EMULATED"' if (manifest.get("engine") or {}).get("kind") == "emulated" else b""


class _Appender:
    """One growing file: parts wait in memory until they are flushed with a single write."""

    def __init__(self, path: Path, mark: bytes = b"") -> None:
        self.path, self.mark = path, mark
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._waiting: list[bytes] = []
        self.size = self.lines = 0

    def add(self, part: bytes) -> None:
        self._waiting.append(part)
        self.size += len(part)

    def line(self, record: Any) -> None:
        """With whatever each line is marked with, last."""
        self.add(orjson.dumps(record)[:-1] + self.mark + b"}\n")
        self.lines += 1

    def flush(self) -> None:
        if not self._waiting:
            return
        rest = memoryview(b"".join(self._waiting))
        self._waiting.clear()
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as why:
            self._waiting.append(bytes(rest))  # the line in hand is not torn when there is room later
            raise UsageError(f"cannot write {self.path}: {why.strerror}; free some space and run again") from why

    def close(self) -> None:
        os.close(self._fd)


class RunWriter:
    """Appends to a run folder; made by RunFolder.create. One event loop, one writer: it is not for several threads."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self.path = path
        self._manifest: dict[str, Any] = {"schema": SCHEMA, **manifest}
        self._windows: dict[str, dict[str, float]] = {}
        write_json(path / MANIFEST, self._manifest)
        # chunks first: a flush writes in this order, so a line that can be read has its chunks on disk
        self._chunks = _Appender(path / CHUNKS)
        mark = mark_of(manifest)
        self._emulated = bool(mark)
        self._lines = {name: _Appender(path / name, mark) for name in (RECORDS, TOOLS, SESSIONS, ENGINE, PULSE)}
        self._said = Transcripts(path / TRANSCRIPTS, mark)
        self._open = True

    def request(self, record: Request, deltas_us: Sequence[int], tokens: Sequence[int]) -> None:
        """deltas_us: microseconds since the previous output chunk (the first: since t_sent_s); tokens: in each chunk.
        Sets the record's `chunks` and `chunks_at`."""
        record.chunks = len(deltas_us)
        record.chunks_at = self._chunks.size if record.chunks else -1
        self._chunks.add(pack(deltas_us, tokens))
        self._lines[RECORDS].line(record)

    def tool(self, record: ToolRun) -> None:
        self._lines[TOOLS].line(record)

    def session(self, record: Session) -> None:
        self._lines[SESSIONS].line(record)

    def engine(self, record: EngineSample) -> None:
        self._lines[ENGINE].line(record)

    def pulse(self, record: Pulse) -> None:
        self._lines[PULSE].line(record)

    def window(self, kind: str, start_s: float, end_s: float) -> None:
        """States the measured window of "agent" or "synthetic" traffic, seconds from run start. On disk at once; a
        second call for the same kind corrects the first."""
        self._windows[kind] = {"start_s": start_s, "end_s": end_s}
        write_json(self.path / WINDOWS, {**self._windows, **({"engine": "EMULATED"} if self._emulated else {})})

    def take_request(self, row: Mapping[str, Any], packed: bytes) -> None:
        """A request that another process wrote (merge.py), with its chunks as they are packed."""
        self._lines[RECORDS].line({**row, "chunks_at": self._chunks.size if packed else -1})
        self._chunks.add(packed)

    def take(self, name: str, row: Mapping[str, Any]) -> None:
        """A line that another process wrote."""
        self._lines[name].line(row)

    def diff(self, session: str, patch: str) -> None:
        """The final diff of a session's workspace, as diffs/SESSION.patch."""
        self.write_diff(self.path / DIFFS, session, patch)

    def said(self, session: str, line: bytes) -> None:
        """A line of transcripts/SESSION.jsonl."""
        self._said.add(session, line)

    @staticmethod
    def write_diff(folder: Path, session: str, patch: str) -> None:
        folder.mkdir(exist_ok=True)
        write_whole(folder / f"{session}.patch", patch.encode("utf-8", "surrogateescape"))

    def amend(self, fields: Mapping[str, Any]) -> None:
        """Adds to the manifest what was not known at the start."""
        self._manifest |= fields
        write_json(self.path / MANIFEST, self._manifest)

    def flush(self) -> None:
        self._chunks.flush()
        for lines in self._lines.values():
            lines.flush()
        self._said.flush()

    def finish(self, extra: Mapping[str, Any] | None = None) -> None:
        """Flushes, closes, and writes the manifest again with `ended` (Unix seconds) and the extra fields. Calling it
        again does nothing, so that it can stand in a `finally`."""
        if not self._open:
            return
        self._open = False
        self.flush()
        for file in (self._chunks, *self._lines.values()):
            file.close()
        counts = {name: self._lines[name].lines for name in (RECORDS, TOOLS, SESSIONS)}
        self._manifest |= {"ended": time.time(), LINES: counts, **(extra or {})}
        write_json(self.path / MANIFEST, self._manifest)
