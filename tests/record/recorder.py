"""A real `sim record` in a process of its own, and an upstream that answers with bytes of one's choice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

LIMIT_S = 100.0
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Recorder:
    port: int
    log: Path
    process: subprocess.Popen[str]
    exit_code: int | None = None
    output: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def lines(self, wanted: int, session: str = "") -> list[dict[str, Any]]:
        """Waits until the log has so many lines (of a session)."""
        until_s = time.monotonic() + LIMIT_S
        while time.monotonic() < until_s:
            rows = [json.loads(line) for line in self.log.read_text().splitlines()]
            rows = [row for row in rows if not session or row["session"] == session]
            if len(rows) >= wanted:
                return rows
            await asyncio.sleep(0.02)
        raise AssertionError(f"the log has {self.log.read_text()!r}")

    def kill_writer(self) -> None:
        """The process that writes the log, as if the system had ended it."""
        for child in psutil.Process(self.process.pid).children():
            child.kill()

    def stop(self) -> int:
        if self.exit_code is None:
            self.process.send_signal(signal.SIGINT)
            rest, _ = self.process.communicate(timeout=LIMIT_S)
            self.output += rest
            self.exit_code = self.process.returncode
        return self.exit_code


@contextmanager
def recording(upstream: str, log: Path, *more: str) -> Iterator[Recorder]:
    command = [sys.executable, "-m", "simulator.cli.main", "record", "--upstream", upstream, "--listen", "0"]
    process = subprocess.Popen(
        [*command, "-o", str(log), *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    first = process.stdout.readline()
    assert "passes everything on" in first, first + process.stdout.read()
    recorder = Recorder(int(first.split("/v1", 1)[0].rsplit(":", 1)[1]), log, process, output=first)
    try:
        yield recorder
    finally:
        recorder.stop()
        process.stdout.close()


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[int]:
    """The port of a server that gives each connection to `answer`."""

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def talk(port: int, *pieces: bytes, ends: bytes | None = None, gap_s: float = 0.01) -> bytes:
    """Sends pieces with pauses between them and reads until `ends` or the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(gap_s)
    got = b""
    async with asyncio.timeout(LIMIT_S):
        while ends is None or not got.endswith(ends):
            data = await reader.read(65_536)
            if not data:
                break
            got += data
    writer.close()
    return got
