"""Run folders that several processes write: each writes a part below the run's folder, one process follows the parts
and appends to the run's own files, so that whoever reads the run sees one process's files.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson

from simulator.core.chunks import BYTES_A_CHUNK
from simulator.core.pulses import WorstLag, together
from simulator.core.record import Pulse, SlotState
from simulator.errors import UsageError
from simulator.store.manifest import read_manifest
from simulator.store.tail import Tail
from simulator.store.transcripts import TRANSCRIPTS, Transcripts
from simulator.store.writer import CHUNKS, DIFFS, PULSE, RECORDS, SESSIONS, TOOLS, RunWriter, mark_of

PARTS = "parts"
#: how many pulses one process may be behind the first before the others' are shown without it
PATIENCE = 3
_PULSE = tuple(f.name for f in fields(Pulse))
_SLOT = tuple(f.name for f in fields(SlotState))


def part_folder(run: Path, index: int) -> Path:
    return run / PARTS / str(index)


class PartWriter(RunWriter):
    """A process's part. What stands in one file for the whole run is told instead: tell(("window", kind, start_s,
    end_s)), tell(("amend", fields))."""

    def __init__(self, run: Path, index: int, tell: Callable[[tuple[Any, ...]], None]) -> None:
        folder = part_folder(run, index)
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder, {})
        self._run, self._tell = run, tell
        self._said = Transcripts(run / TRANSCRIPTS, mark_of(read_manifest(run)))  # a session is one process's

    def window(self, kind: str, start_s: float, end_s: float) -> None:
        self._tell(("window", kind, start_s, end_s))

    def amend(self, fields: Mapping[str, Any]) -> None:
        self._tell(("amend", dict(fields)))

    def diff(self, session: str, patch: str) -> None:
        self.write_diff(self._run / DIFFS, session, patch)

    def remove(self) -> None:
        """Nobody follows any more."""
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            self.path.parent.rmdir()  # the last one


class Merger:
    """Follows `count` parts of a run. pulse_s: the beat at which every process writes its pulse."""

    def __init__(self, writer: RunWriter, count: int, pulse_s: float) -> None:
        self._writer, self._run = writer, writer.path
        self._parts = [_Part(part_folder(writer.path, index), pulse_s) for index in range(count)]
        self._latest: list[Pulse | None] = [None] * count
        self._worst = WorstLag(0)
        self._last_s = 0.0

    @property
    def silent(self) -> list[int]:
        """How many looks in a row found no pulse of each process, after its first."""
        return [part.silent for part in self._parts]

    def poll(self, *, last: bool = False) -> None:
        """Appends whatever is new. last: nobody writes any more."""
        records: list[tuple[dict[str, Any], bytes]] = []
        for index, part in enumerate(self._parts):
            for row, packed in part.records():
                # Unique while the run goes on; in order of the calls when it is over.
                row["request"] = row["request"] * len(self._parts) + index
                records.append((row, packed))
        for row, packed in sorted(records, key=lambda found: found[0]["t_end_s"]):
            self._writer.take_request(row, packed)
        for name in (TOOLS, SESSIONS):
            rows = [row for part in self._parts for row in part.rows(name)]
            for row in sorted(rows, key=itemgetter("t_end_s")):
                self._writer.take(name, row)
        for part in self._parts:
            part.read_pulses()
        self._beats(last=last)
        self._writer.flush()

    def starting(self, pulse: Pulse) -> None:
        """Stands for the processes until the first of them has told how it is."""
        if not any(self._latest):
            self._pulse(pulse)
            self._writer.flush()

    def _pulse(self, pulse: Pulse) -> None:
        pulse.t_s = self._last_s = max(pulse.t_s, self._last_s)  # a late beat does not turn time back
        self._writer.pulse(pulse)

    def finish(self) -> None:
        """The last look: numbers the requests in the order of their calls and removes the parts."""
        try:
            self.poll(last=True)
        except UsageError:  # a full disk; the parts' room is what their lines need
            self.remove()
            self._writer.flush()
        finally:
            self.remove()
        _renumber(self._run / RECORDS)

    def remove(self) -> None:
        for part in self._parts:
            part.close()
        shutil.rmtree(self._run / PARTS, ignore_errors=True)

    def _beats(self, *, last: bool) -> None:
        """Puts together the pulses that all processes wrote at one beat; one that stalls is waited for a little."""
        newest = [part.newest for part in self._parts]
        upto = max(newest) if last else max(min(newest), max(newest) - PATIENCE)
        while (beat := min((p.pulses[0][0] for p in self._parts if p.pulses), default=upto + 1)) <= upto:
            fresh = [part.pulses_of(beat) for part in self._parts]
            for index, pulses in enumerate(fresh):
                self._latest[index] = pulses[-1] if pulses else self._latest[index]
            seen = [index for index, pulse in enumerate(self._latest) if pulse is not None]
            latest = [pulse for pulse in self._latest if pulse is not None]
            if len(seen) != self._worst.count:  # while they start
                self._worst = WorstLag(len(seen))
            self._pulse(together(latest, [fresh[index] for index in seen], self._worst))


class _Part:
    """One part as it is read. newest: the last beat that is in."""

    def __init__(self, folder: Path, pulse_s: float) -> None:
        self._folder, self._pulse_s = folder, pulse_s
        self._tails = {name: Tail(folder / name) for name in (RECORDS, TOOLS, SESSIONS, PULSE)}
        self._chunks: IO[bytes] | None = None
        self.pulses: deque[tuple[int, Pulse]] = deque()
        self.newest, self.silent = -1, 0

    def rows(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while rows := list(self._tails[name].objects()):
            found += rows
        return found

    def records(self) -> list[tuple[dict[str, Any], bytes]]:
        """New requests, each with its chunks as they are packed. A record is written after its chunks."""
        return [(row, self._packed(row["chunks_at"], row["chunks"])) for row in self.rows(RECORDS)]

    def _packed(self, at: int, chunks: int) -> bytes:
        if not chunks or at < 0:
            return b""
        if self._chunks is None:
            self._chunks = (self._folder / CHUNKS).open("rb")
        return os.pread(self._chunks.fileno(), chunks * BYTES_A_CHUNK, at)

    def read_pulses(self) -> None:
        rows = self.rows(PULSE)
        self.silent = 0 if rows or self.newest < 0 else self.silent + 1
        for row in rows:
            slots = [SlotState(**{key: slot[key] for key in _SLOT}) for slot in row["slots"]]
            pulse = Pulse(**{**{key: row[key] for key in _PULSE}, "slots": slots})
            self.newest = max(self.newest, round(pulse.t_s / self._pulse_s))
            self.pulses.append((self.newest, pulse))

    def pulses_of(self, beat: int) -> list[Pulse]:
        found: list[Pulse] = []
        while self.pulses and self.pulses[0][0] <= beat:
            found.append(self.pulses.popleft()[1])
        return found

    def close(self) -> None:
        if self._chunks is not None:
            self._chunks.close()


def _renumber(path: Path) -> None:
    """Numbers requests from 0 in the order of their calls. Line by line, since a long run has a million of them."""
    try:
        with path.open("rb") as file:
            calls = np.array([orjson.loads(line)["t_call_s"] for line in file])
    except orjson.JSONDecodeError:
        return  # torn by a full disk, which has been told; the numbers stay unique
    ranks = np.empty(len(calls), dtype=np.int64)
    ranks[np.argsort(calls, kind="stable")] = np.arange(len(calls))
    beside = path.with_name(f".{path.name}")
    try:
        with path.open("rb") as file, beside.open("wb") as numbered:
            for line, rank in zip(file, ranks.tolist(), strict=True):
                numbered.write(orjson.dumps({**orjson.loads(line), "request": rank}) + b"\n")
        os.replace(beside, path)
    except OSError as why:
        beside.unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {why.strerror}; free some space and run again") from why
