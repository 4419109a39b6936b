"""The process that writes: exchanges come in through standard input, lines go into the log.

    python -m simulator.record.scribe FILE [--chunks]

It is a process of its own so that reading a long reply never holds up a byte that passes. It ends when its input does,
and then says on standard output what it wrote, as one JSON object.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

import orjson

from simulator.record.exchange import SIZES_BYTES, Exchange, sizes, unpack
from simulator.record.lines import Lines


@dataclass(slots=True)
class Written:
    """lines, failed (a reply that was no 2xx, or none), sessions by how they were found, unread: lines with notes."""

    lines: int = 0
    failed: int = 0
    bytes: int = 0
    sessions: set[str] = field(default_factory=set)
    by: dict[str, int] = field(default_factory=dict)
    unread: int = 0
    error: str = ""


def create(path: Path) -> BinaryIO:
    """For its owner's eyes: it holds what people typed. Raises OSError, FileExistsError where there is one."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600), "wb")


def write(exchanges: BinaryIO, log: BinaryIO, *, chunks: bool) -> Written:
    written, lines = Written(), Lines(chunks=chunks)
    while (exchange := _next(exchanges)) is not None:
        try:
            line = lines.line(exchange)
        except Exception as why:  # one odd exchange must not end the recording
            line = lines.lost(exchange, why)
        try:
            log.write(line)
            log.flush()
        except OSError as error:
            written.error = error.strerror or str(error)
            return written
        _count(written, line, exchange)
    return written


def _next(exchanges: BinaryIO) -> Exchange | None:
    start = exchanges.read(SIZES_BYTES)
    if len(start) < SIZES_BYTES:
        return None
    parts = [exchanges.read(size) for size in sizes(start)]
    if [len(part) for part in parts] != list(sizes(start)):
        return None  # whoever passed them on has died in the middle of one
    return unpack(*parts)


def _count(written: Written, line: bytes, exchange: Exchange) -> None:
    said = orjson.loads(line)
    written.lines += 1
    written.bytes += len(line)
    written.failed += not 200 <= exchange.status < 300
    written.unread += "notes" in said
    if said["session"]:
        written.sessions.add(said["session"])
    written.by[said["session_by"]] = written.by.get(said["session_by"], 0) + 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulator.record.scribe")
    parser.add_argument("file", type=Path)
    parser.add_argument("--chunks", action="store_true")
    args = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # it ends when the one that passes bytes on does
        signal.signal(number, signal.SIG_IGN)
    os.nice(5)  # on a small machine what passes comes first
    written = Written()
    with suppress(OSError), open(args.file, "ab") as log:  # what a full disk did not take is told below, once
        written = write(sys.stdin.buffer, log, chunks=args.chunks)
    told = {**asdict(written), "sessions": len(written.sessions)}
    sys.stdout.buffer.write(orjson.dumps(told) + b"\n")
    return 1 if written.error else 0


if __name__ == "__main__":
    sys.exit(main())
