"""The listener: opens its port, starts the process that writes, passes bytes on until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import signal
import ssl
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from simulator.errors import UsageError
from simulator.record.exchange import Exchange, pack
from simulator.record.relay import Relays
from simulator.record.scribe import create
from simulator.record.upstream import Upstream
from simulator.record.watch import Watch

#: what may wait for the writing process before exchanges are given up
MOST_WAITING_BYTES = 512 << 20
BACKLOG = 4096
LAST_S = 60.0


@dataclass(frozen=True, slots=True)
class Settings:
    """log: the file to be made. ca: certificates besides the system's, for the upstream."""

    upstream: Upstream
    host: str
    port: int
    log: Path
    session_header: str = ""
    chunks: bool = False
    ca: Path | None = None


@dataclass(slots=True)
class Told:
    """written: what the writing process says at its end (scribe.Written), {} when it died. passed: requests that are
    not recorded. lost: exchanges that could not be handed to it."""

    written: dict[str, Any]
    passed: Counter[str]
    lost: int
    exchanges: int


@dataclass(slots=True)
class Hand:
    """Gives exchanges to the writing process. A Recorder."""

    session_header: str
    say: Callable[[str], None]
    pipe: asyncio.StreamWriter
    passed: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    count: int = 0
    dead: bool = False
    t0_s: float = field(default_factory=time.monotonic)
    learned: dict[str, None] = field(default_factory=dict)

    def now_s(self) -> float:
        return time.monotonic() - self.t0_s

    def number(self) -> int:
        self.count += 1
        return self.count - 1

    def learn(self, secrets: Iterable[str]) -> None:
        """They go with the next exchange: also with one that began earlier, whose reply may say them."""
        if not self.dead:
            self.learned.update(dict.fromkeys(secrets))

    def take(self, exchange: Exchange) -> None:
        if self.dead or self.pipe.transport.get_write_buffer_size() > MOST_WAITING_BYTES:
            if not self.lost:
                self.say("what passes from now on is not recorded: the log cannot be written fast enough, or at all")
            self.lost += 1
            return
        exchange.secrets = tuple(self.learned)
        self.learned.clear()
        self.pipe.write(pack(exchange))


async def record(settings: Settings, say: Callable[[str], None], ready: Callable[[int], None]) -> Told:
    """Until SIGINT or SIGTERM. say: one line for people; ready: the port. Raises UsageError."""
    try:
        create(settings.log).close()
    except FileExistsError:
        raise UsageError(f"{settings.log} is there already; give -o a new name, logs are never overwritten") from None
    except OSError as error:
        raise UsageError(f"-o {settings.log}: {error.strerror}; give a file in a folder that can be written") from None
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    scribe = await _start(settings)
    assert scribe.stdin is not None
    hand = Hand(settings.session_header, say, scribe.stdin)
    watcher = loop.create_task(_watch_scribe(scribe, hand))
    relays = Relays(settings.upstream, lambda: Watch(hand, settings.upstream), _tls(settings))
    try:
        server = await _listen(settings, relays)
    except UsageError:
        scribe.stdin.close()
        await watcher
        settings.log.unlink()
        raise
    gc.collect()
    gc.freeze()  # a collector's round over what stays anyway would hold up what passes
    ready(server.sockets[0].getsockname()[1])
    await stop.wait()
    server.close()
    for side in list(relays.open):
        if side.transport is not None:
            side.transport.abort()
    if relays.open:  # what was open is told as cut
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await relays.all_closed.wait()
    written = await _end(scribe, watcher, hand)
    return Told(written, hand.passed, hand.lost, hand.count)


async def _start(settings: Settings) -> asyncio.subprocess.Process:
    command = [sys.executable, "-m", "simulator.record.scribe", str(settings.log)]
    if settings.chunks:
        command.append("--chunks")
    # in a session of its own: a terminal's Ctrl-C is for this process alone, also while the scribe still imports
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, start_new_session=True)


async def _watch_scribe(scribe: asyncio.subprocess.Process, hand: Hand) -> bytes:
    """Its last words; when it ends before its time the recording is over, and the passing on is not."""
    assert scribe.stdout is not None
    told = await scribe.stdout.read()
    await scribe.wait()
    hand.dead = True
    return told


async def _end(scribe: asyncio.subprocess.Process, watcher: asyncio.Task[bytes], hand: Hand) -> dict[str, Any]:
    assert scribe.stdin is not None
    scribe.stdin.close()
    try:
        async with asyncio.timeout(LAST_S):
            told = await watcher
    except TimeoutError:
        scribe.kill()
        told = await watcher
    try:
        written: dict[str, Any] = orjson.loads(told)
    except orjson.JSONDecodeError:
        return {}
    return written


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if not settings.upstream.tls:
        return None
    try:
        return ssl.create_default_context(cafile=None if settings.ca is None else str(settings.ca))
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"--ca {settings.ca}: no certificates can be read ({error}); give a PEM file") from None


async def _listen(settings: Settings, relays: Relays) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    try:
        return await loop.create_server(relays, settings.host, settings.port, backlog=BACKLOG)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {settings.host}:{settings.port} ({error.strerror}); choose another --listen"
        ) from None
