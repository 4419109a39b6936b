"""Starting and ending the embedded engine as a process of its own, so that its CPU is not the client's."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from simulator.engine.embedded.config import DEFAULT_PARAMS, load_params
from simulator.engine.embedded.faults import load_faults
from simulator.engine.scrape import identify
from simulator.engine.serving.causes import ended
from simulator.errors import EngineError

START_LIMIT_S = 30.0
STOP_LIMIT_S = 5.0
TAIL_LINES = 15


@dataclass(frozen=True, slots=True)
class OracleFiles:
    """An oracle's: the solutions that it knows, where it tells what it answered, and its rates of mistakes, as written
    on a command line; "", those of its settings."""

    solutions: Path
    log: Path
    rates: str = ""

    def argv(self) -> tuple[str, ...]:
        rates = ("--oracle", self.rates) if self.rates else ()
        return ("--brain", "oracle", "--solutions", str(self.solutions), "--oracle-log", str(self.log), *rates)


@dataclass(slots=True)
class Engine:
    """A running embedded engine. base_url ends in /v1, as the openai client wants it."""

    base_url: str
    model: str
    pid: int
    params: Path
    log_path: Path
    seed: int
    faults: Path | None
    _process: asyncio.subprocess.Process = field(repr=False)
    _asked: bool = field(default=False, repr=False)

    @property
    def metrics_url(self) -> str:
        return self.base_url.removesuffix("/v1") + "/metrics"

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    def death(self) -> str:
        """How it ended by itself; "" while it runs, and when it was stopped by us."""
        return "" if self.alive or self._asked else f"{ended(self._process.returncode)}; {_tail(self.log_path)}"

    async def changed(self) -> list[str]:
        """It lives and dies with this process, so there is nothing to ask it."""
        return [] if self.alive else [f"the engine {self.death()}"]

    def identity(self) -> dict[str, Any]:
        """What a manifest says about it; `await identify(session, base_url)` adds what the engine itself says."""
        return {
            **emulated(self.params, self.faults),
            "kind": "emulated",
            "model": self.model,
            "base_url": self.base_url,
            "pid": self.pid,
            "seed": self.seed,
        }

    async def stop(self, limit_s: float = STOP_LIMIT_S) -> None:
        """SIGTERM, then SIGKILL after limit_s; returns when the process has ended."""
        self._asked = self.alive
        await _end(self._process, limit_s)


def emulated(params: Path, faults: Path | None) -> dict[str, Any]:
    """What a manifest says of an emulation's settings and of its fault schedule."""
    told: dict[str, Any] = {}
    if faults is not None:
        file = hashlib.sha256(faults.read_bytes()).hexdigest()
        rules = load_faults(faults).model_dump(mode="json", exclude_defaults=True)
        told["faults"] = {"file": faults.name, "sha256": file, **rules}
    return {
        **told,
        "params": params.name,
        "params_sha256": hashlib.sha256(params.read_bytes()).hexdigest(),
        "settings": load_params(params).model_dump(mode="json"),
    }


async def start_embedded(
    params: Path | None = None, log_path: Path = Path(os.devnull), *, seed: int = 0, faults: Path | None = None,
    oracle: OracleFiles | None = None,
) -> Engine:  # fmt: skip
    """Starts an engine on a free loopback port and waits until /health answers. Its output goes to log_path. It ends
    with this process at the latest. faults: a schedule; oracle: its replies are an oracle's. Raises UsageError (params,
    faults) or EngineError (it does not come up; with its log's tail)."""
    params = params or DEFAULT_PARAMS
    load_params(params)
    if faults is not None:
        load_faults(faults)
    command = [sys.executable, "-m", "simulator.engine.embedded", "--port", "0", "--params", str(params)]
    command += ["--seed", str(seed), "--with-parent"]
    if faults is not None:
        command += ["--faults", str(faults)]
    command += oracle.argv() if oracle is not None else ()
    read_fd, write_fd = os.pipe()
    try:
        with log_path.open("ab") as log:
            # a session of its own: Ctrl-C in the terminal reaches the client alone, which then drains and stops us.
            # Standard input stays open as long as this process lives; its end tells the engine to go.
            process = await asyncio.create_subprocess_exec(
                *command,
                "--ready-fd",
                str(write_fd),
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=(write_fd,),
                start_new_session=True,
            )
    except BaseException:
        os.close(read_fd)
        raise
    finally:
        os.close(write_fd)
    try:
        ready = await _ready(read_fd, log_path)
        base_url = f"http://127.0.0.1:{ready['port']}/v1"
        await _healthy(base_url)
    except BaseException:
        await _end(process)
        raise
    return Engine(base_url, ready["model"], ready["pid"], params, log_path, seed, faults, process)


async def _ready(read_fd: int, log_path: Path) -> dict[str, Any]:
    """The engine's line on the pipe; its end without a line means that the engine died."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    with os.fdopen(read_fd, "rb", buffering=0) as pipe:
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            line = await asyncio.wait_for(reader.readline(), START_LIMIT_S)
        except TimeoutError:
            raise EngineError(f"the embedded engine did not start in {START_LIMIT_S:g} s; {_tail(log_path)}") from None
        finally:
            transport.close()
    if not line:
        raise EngineError(f"the embedded engine did not start; {_tail(log_path)}")
    ready: dict[str, Any] = orjson.loads(line)
    return ready


async def _healthy(base_url: str) -> None:
    url = base_url.removesuffix("/v1") + "/health"
    deadline = time.monotonic() + START_LIMIT_S
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=START_LIMIT_S)) as session:
        while True:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with session.get(url) as response:
                    if response.status == 200:
                        return
            if time.monotonic() > deadline:
                raise EngineError(f"{url} did not answer in {START_LIMIT_S:g} s; see the engine's log")
            await asyncio.sleep(0.05)


async def _end(process: asyncio.subprocess.Process, limit_s: float = STOP_LIMIT_S) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), limit_s)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _tail(log_path: Path) -> str:
    try:
        lines = log_path.read_text(errors="replace").strip().splitlines()[-TAIL_LINES:]
    except OSError:
        lines = []
    return f"its log ({log_path}) ends with: " + " | ".join(lines) if lines else f"its log ({log_path}) is empty"


__all__ = ["Engine", "identify", "start_embedded"]
