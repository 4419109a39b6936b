"""Reading a run folder, whole or damaged. Each file is read when it is first asked for, and once."""

from __future__ import annotations

import dataclasses
import gzip
import os
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from simulator.core.chunks import Chunks
from simulator.core.intact import faults
from simulator.core.record import EngineSample, Pulse, Request, Session, ToolRun
from simulator.core.run import RunData
from simulator.core.summary import SCHEMA as SUMMARY_SCHEMA
from simulator.core.table import Builder, Table
from simulator.errors import UsageError
from simulator.store import columns
from simulator.store.layout import LAYOUT, Layout
from simulator.store.manifest import read_json, read_manifest, write_json, write_whole
from simulator.store.regular import open_regular
from simulator.store.source import DIGEST, may_be_of, source
from simulator.store.writer import CHUNKS, ENGINE, LINES, PULSE, RECORDS, SESSIONS, TOOLS, WINDOWS

#: about 500 records: their objects then live and die inside the processor's cache, twice as fast as in large batches
BLOCK_BYTES = 256 << 10
#: columns of records.jsonl, kept for the next reader
COLUMNS = "records.npz"
SUMMARY, REPORT, PAGE = "summary.json", "report.md", "report.html"
#: a counter or gauge that is larger, or below zero, was never scraped
MOST = 1e18
#: runs that ended so have written all that they did
WHOLE = ("", "time limit")
#: traffic kind -> the manifest's key for the plan of its open loop
ARRIVALS = {"agent": "session_arrivals", "synthetic": "request_arrivals"}
T = TypeVar("T")


class Run:
    """A run folder opened for reading; made by RunFolder.open.

    damage: what could not be read so far, file name -> count of torn or broken lines (for chunks.bin: of requests
    whose chunks are missing). It is complete after `data()`. keep_columns_from_bytes: from this size on, a finished
    run's records are parsed once and their columns kept beside them. layout: what is read, and how what is older.
    """

    def __init__(
        self, path: Path, *, keep_columns_from_bytes: int = columns.WORTH_BYTES, layout: Layout = LAYOUT
    ) -> None:
        self.path = path
        self._keep_from = keep_columns_from_bytes
        self._layout = layout
        self.manifest = read_manifest(path, layout)
        self._schema = int(self.manifest["schema"])
        self.damage: dict[str, int] = {}

    @cached_property
    def requests(self) -> Table:
        table = self._records()
        lost = (table["chunks"] > 0) & ~self.chunks.present(table)
        if lost.any():
            self.damage[CHUNKS] = int(np.count_nonzero(lost))
            table = table.replace(chunks_at=np.where(lost, -1.0, table["chunks_at"]))
        return table

    @cached_property
    def chunks(self) -> Chunks:
        path = self.path / CHUNKS
        packed = path.with_name(f"{CHUNKS}.gz")
        if not path.exists() and packed.exists():
            return Chunks(_unpacked(packed))
        if not path.exists():
            return Chunks(np.zeros(0, dtype=np.uint16))
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size // 2
            if not size:  # an empty file cannot be mapped
                return Chunks(np.zeros(0, dtype=np.uint16))
            return Chunks(np.memmap(file, dtype="<u2", mode="r", shape=(size,)))

    @cached_property
    def tools(self) -> Table:
        return self._table(TOOLS, ToolRun)

    @cached_property
    def pulses(self) -> Table:
        return self._table(PULSE, Pulse)

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        return self._objects(SESSIONS, Session)

    @cached_property
    def engine(self) -> tuple[EngineSample, ...]:
        return self._objects(ENGINE, EngineSample)

    @cached_property
    def windows(self) -> dict[str, tuple[float, float]]:
        stated = self._layout.raised(WINDOWS, read_json(self.path / WINDOWS) or {}, self._schema)
        found: dict[str, tuple[float, float]] = {}
        for kind, window in stated.items():
            if kind == "engine":
                continue
            try:
                found[kind] = (float(window["start_s"]), float(window["end_s"]))
            except (KeyError, TypeError, ValueError):
                self._harm(WINDOWS, 1)
        return found

    @cached_property
    def source(self) -> dict[str, Any]:
        """What a fold is of: how many lines of records there are, and their digest."""
        return source(self.path / RECORDS)

    @cached_property
    def unsound(self) -> tuple[str, ...]:
        """Why the records are not all there once, a clause each."""
        whole = self.ended and self.manifest.get("stopped", "") in WHOLE
        found = faults(
            self.requests,
            self.chunks,
            [each.session for each in self.sessions],
            complete=whole,
            unreadable=self.damage.get(RECORDS, 0),
        )
        return (*self._cut_or_grown(), *found)

    def _cut_or_grown(self) -> Iterator[str]:
        """Files with another number of lines than the run wrote. Older versions did not say how many that were."""
        written = self.manifest.get(LINES)
        held = {RECORDS: self.requests.n, TOOLS: self.tools.n, SESSIONS: len(self.sessions)}
        for name, lines in held.items():
            stated = written.get(name) if isinstance(written, dict) else None
            there = lines + self.damage.get(name, 0)
            if isinstance(stated, int) and stated != there:
                yield f"{name} has {there:,} line{'s' * (there != 1)}, and the run wrote {stated:,}"

    @property
    def ended(self) -> bool:
        return "ended" in self.manifest

    def data(self) -> RunData:
        """Everything that the folds of core need. The objectives are the manifest's `slo`, where it has them."""
        slo = self.manifest.get("slo")
        arrivals = {kind: self.manifest.get(key) for kind, key in ARRIVALS.items()}
        return RunData(
            requests=self.requests,
            chunks=self.chunks,
            tools=self.tools,
            sessions=self.sessions,
            engine=self.engine,
            pulses=self.pulses,
            windows=self.windows,
            ended=self.ended,
            damage=dict(self.damage),
            slo=slo if isinstance(slo, dict) else {},
            arrivals={kind: plan for kind, plan in arrivals.items() if isinstance(plan, dict)},
            mode=str(self.manifest.get("mode") or "replay"),
            unsound=self.unsound,
        )

    def rows(self, name: str) -> Iterator[list[dict[str, Any]]]:
        """The JSON objects of a file of lines as they stand, a small block at a time; what is none enters `damage`."""
        return self._batches(name)

    @property
    def keeps_chunks(self) -> bool:
        """Whether there is a file of chunk times. Without one a new fold knows less than the one at the run's end."""
        return any((self.path / name).exists() for name in (CHUNKS, f"{CHUNKS}.gz"))

    @property
    def summary(self) -> dict[str, Any] | None:
        """summary.json as it stands; None when there is none yet, or one of an older form or of other records, which is
        to be folded again."""
        found = read_json(self.path / SUMMARY)
        stated = found.get("schema") if found else None
        if not found or (isinstance(stated, int) and stated < SUMMARY_SCHEMA):
            return None
        return found if may_be_of(found, self.source, self.windows) else None

    def write_summary(self, summary: dict[str, Any], place: Path | None = None) -> None:
        """Beside the records, or in another folder."""
        write_json((place or self.path) / SUMMARY, summary)

    def write_report(self, text: str, place: Path | None = None) -> None:
        write_whole((place or self.path) / REPORT, text.encode())

    def write_page(self, content: bytes, place: Path | None = None) -> None:
        write_whole((place or self.path) / PAGE, content)

    def _harm(self, name: str, count: int) -> None:
        if count:
            self.damage[name] = self.damage.get(name, 0) + count

    def _table(self, name: str, record: type) -> Table:
        builder = Builder(record)
        for rows in self._batches(name):
            self._harm(name, builder.add(rows))
        return builder.build()

    def _records(self) -> Table:
        """Requests; of a finished run with many of them, from the columns that an earlier reader left."""
        lines, kept = self.path / RECORDS, self.path / COLUMNS
        if not self.ended or not lines.exists() or lines.stat().st_size < self._keep_from:
            return self._table(RECORDS, Request)
        key = columns.digest(self.source[DIGEST], Request, self._layout.newest)
        found = columns.load(kept, key)
        if found is None:
            found = self._table(RECORDS, Request), self.damage.get(RECORDS, 0)
            columns.save(kept, found[0], key, found[1])
        else:
            self._harm(RECORDS, found[1])
        return found[0]

    def _objects(self, name: str, record: type[T]) -> tuple[T, ...]:
        known = {field.name: str(field.type) for field in dataclasses.fields(record)}  # type: ignore[arg-type]
        found: list[T] = []
        for rows in self._batches(name):
            for row in rows:
                try:
                    values = {key: row[key] for key in row.keys() & known.keys()}
                    if not all(_fits(value, known[key]) for key, value in values.items()):
                        raise TypeError("a value of another kind")
                    found.append(record(**values))
                except TypeError:  # a field without a default is missing
                    self._harm(name, 1)
        return tuple(found)

    def _batches(self, name: str) -> Iterator[list[dict[str, Any]]]:
        """JSON objects of a file of lines, a small block at a time. A missing file has none."""
        path = self.path / name
        if not path.exists() and path.with_name(f"{name}.gz").exists():  # a published run
            path = path.with_name(f"{name}.gz")
        try:
            held = open_regular(path)
        except FileNotFoundError:
            return
        except OSError as why:
            raise UsageError(f"{path} cannot be read: {why.strerror}; restore it or remove it") from why
        with held, _plain(held, path) as file:
            while lines := _some(file, path):
                if not lines[-1].endswith(b"\n"):  # torn by a kill, even if it happens to parse
                    lines.pop()
                    self._harm(name, 1)
                rows, bad = _parse(lines)
                self._harm(name, bad)
                if self._schema < self._layout.newest:
                    rows = [self._layout.raised(name, row, self._schema) for row in rows]
                yield rows


def _plain(file: IO[bytes], path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else file


def _some(file: IO[bytes], path: Path) -> list[bytes]:
    """The next lines, none at the end."""
    try:
        return file.readlines(BLOCK_BYTES)
    except (OSError, EOFError, zlib.error) as why:
        raise UsageError(f"{path} cannot be unpacked: {why}; restore it or remove it") from why


def _unpacked(packed: Path) -> NDArray[np.uint16]:
    try:
        with open_regular(packed) as held_packed, gzip.GzipFile(fileobj=held_packed) as file:
            held = file.read()
    except (OSError, EOFError) as why:
        raise UsageError(f"{packed} cannot be unpacked: {why}; restore it or remove it") from why
    return np.frombuffer(held, dtype="<u2", count=len(held) // 2)


def _fits(value: Any, kind: str) -> bool:
    """Whether a JSON value can stand in a field of that annotation."""
    if kind.startswith("dict"):
        return isinstance(value, dict) and all(isinstance(v, int | float) and 0 <= v <= MOST for v in value.values())
    if kind.startswith("str"):
        return isinstance(value, str)
    if value is None:
        return "None" in kind
    return isinstance(value, int | float) if kind.startswith(("int", "float", "bool")) else True


def _parse(lines: list[bytes]) -> tuple[list[dict[str, Any]], int]:
    """Objects in the lines, and how many lines were none. One call of the parser for all, unless one is broken."""
    try:
        rows = orjson.loads(b"[" + b",".join(lines) + b"]")
        if len(rows) == len(lines) and all(type(row) is dict for row in rows):
            return rows, 0
    except orjson.JSONDecodeError:
        pass
    good: list[dict[str, Any]] = []
    for line in lines:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            good.append(value)
    return good, len(lines) - len(good)
