"""An engine's life, from a free port to freed memory: started by its configuration, known by more than its address,
ended with all of its processes. vLLM and the embedded engine alike."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from simulator.engine.launch import OracleFiles
from simulator.engine.scrape import scrape
from simulator.engine.serving import causes
from simulator.engine.serving.config import EngineConfig
from simulator.engine.serving.gpu import Gpu, freed, gpus
from simulator.engine.serving.identity import describe, differences, unserved, who
from simulator.engine.serving.impossible import outside, version_of
from simulator.engine.serving.prepare import prepare
from simulator.engine.serving.process import Process, family, holder
from simulator.errors import EngineError, UsageError

#: a word about the start every so many seconds
TELL_S = 10.0
#: for requests in flight to end; for SIGTERM; for the GPU's memory
DRAIN_S, TERM_S, FREED_S = 15.0, 30.0, 60.0
#: of a log's end, looked at for a cause: with hundreds of requests open a dead engine writes megabytes after it
LOG_BYTES = 8_000_000
LOCAL = "127.0.0.1"
Say = Callable[[str], None]


@dataclass(slots=True)
class Engine:
    """A running engine that is ours. url ends in /v1, as the openai client wants it. identity: what a manifest says."""

    config: EngineConfig
    url: str
    model: str
    identity: dict[str, Any]
    log: Path
    api_key: str = field(repr=False)
    _process: Process = field(repr=False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    @property
    def root(self) -> str:
        return self.url.removesuffix("/v1")

    async def changed(self) -> list[str]:
        """What of its identity is not as it was at the start, a clause each; empty: the engine that was started."""
        if not self.alive:
            return [f"the engine {self.death()}"]
        try:
            async with _session(self.api_key) as session:
                now = await who(session, self.url, self._process)
        except EngineError as error:
            return [str(error)]
        return differences(self.identity, now)

    def death(self) -> str:
        """How it ended by itself and why, as far as its log tells; "" while it runs, and when it was stopped by us."""
        return "" if self.alive or self._process.asked_to_end else _obituary(self._process, self.log)


@asynccontextmanager
async def started(
    config: EngineConfig, *, port: int | None = None, log: Path, seed: int = 0, faults: Path | None = None,
    env: Mapping[str, str] | None = None, say: Say = lambda text: None, term_s: float = TERM_S,
    oracle: OracleFiles | None = None,
) -> AsyncIterator[Engine]:  # fmt: skip
    """The engine of a configuration, ready to answer; stopped at the end, whatever happens, also when this process is
    killed. port: None finds a free one. log: gets its output. seed, faults, oracle: of the embedded engine. env: set
    beyond this process's environment and the configuration's. say: told what goes on, a phrase each. term_s: how long
    SIGTERM may take before SIGKILL.

    Raises UsageError before anything is started, EngineError when it does not come up, with the cause where its log
    tells one."""
    full = {**os.environ, **config.env, **(env or {})}
    port = _usable(port)
    before = [] if config.embedded else await gpus(full)
    command = command_line(config, await _model(config, full, before, say), port, seed, faults, oracle)
    process = await Process.start(command, full, log)
    begun, calm = time.monotonic(), False
    key = full.get("VLLM_API_KEY", "")
    try:
        url = f"http://{LOCAL}:{port}/v1"
        async with _session(key) as session:
            await _ready(config, process, session, url, log, say)
            _is_ours(process, port)
            told = describe(config, command, {**config.env, **(env or {})}, full, before)
            told |= await who(session, url, process)
            told |= {"base_url": url, "start_s": round(time.monotonic() - begun, 1)}
        if wrong := outside(version_of(told["version"]), config.vllm) or unserved(config.model.served, told):
            raise EngineError(f"{config.name}: {wrong}")
        if config.embedded:
            told |= _emulation(config, seed, faults)
        model = config.model.served
        yield Engine(config, url, model, {**told, "model": model}, log, key, process)
        calm = True
    finally:
        await _stop(process, f"http://{LOCAL}:{port}", key, term_s, drain=calm)
        if process.left:
            say(causes.outlived(process.left))
        if before and (held := await freed(before, full, FREED_S)):
            say(f"{held:,} MiB of GPU memory are still held {FREED_S:g} s after the engine ended")


async def _model(config: EngineConfig, env: Mapping[str, str], found: Sequence[Gpu], say: Say) -> str:
    """What to serve, "" of the embedded engine. UsageError when this cannot go well."""
    if config.embedded:
        return ""
    say(f"{config.name}: asking vLLM which flags it has")
    before = await prepare(config, env, found)
    if before.refused:
        raise UsageError("\n".join(f"{config.source} ({config.name}): {each}" for each in before.refused))
    for doubt in before.doubts:
        say(f"{config.name}: {doubt}")
    return before.model


def command_line(
    config: EngineConfig, model: str, port: int, seed: int = 0, faults: Path | None = None,
    oracle: OracleFiles | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """All that is started. model: what vLLM is told to serve, as prepare() found it."""
    address = ("--host", LOCAL, "--port", str(port))
    if config.embedded:
        told = oracle.argv() if oracle is not None else ()
        return (*config.argv, *address, "--seed", str(seed), *(("--faults", str(faults)) if faults else ()), *told)
    if faults is not None:
        raise UsageError(f"--faults is for the embedded engine, and {config.source} is vLLM; leave one of the two out")
    tokenizer = ("--tokenizer", config.model.tokenizer) if config.model.tokenizer else ()
    named = ("--served-model-name", config.model.served)
    return (*config.command, model, *config.argv[len(config.command) :], *tokenizer, *named, *address)


def _usable(port: int | None) -> int:
    """A port that nobody listens on. UsageError names who does, where that may be known."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOCAL, port or 0))
        except (OSError, OverflowError):
            found = holder(port or 0)
            by = f" by process {found[0]} ({found[1]})" if found else ""
            raise UsageError(
                f"port {port} is in use{by}; end that if it is yours, or leave --port out for a free one"
            ) from None
        return int(probe.getsockname()[1])


async def _ready(
    config: EngineConfig, process: Process, session: aiohttp.ClientSession, url: str, log: Path, say: Say
) -> None:
    """Until /health and /v1/models answer."""
    begun = told = time.monotonic()
    while True:
        if await _answers(session, url.removesuffix("/v1") + "/health") and await _answers(session, f"{url}/models"):
            return
        now = time.monotonic()
        if not process.alive:
            raise EngineError(f"{config.name} did not start: the engine {_obituary(process, log)}")
        if now - begun > config.ready_limit_s:
            lines = _lines(log)
            why = causes.cause(lines, None)
            raise EngineError(
                f"{config.name} did not start within {config.ready_limit_s:g} s{f': {why}' if why else ''}; its log "
                f"({log}) ends with: {causes.tail(lines)}; raise ready_limit_s if it only takes longer"
            )
        if now - told >= TELL_S:
            told = now
            say(f"{config.name} starts, {now - begun:.0f} s: {causes.tail(_lines(log), 1)[:100]}")
        await process.wait(0.1 if now - begun < 10 else 0.5)


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    with contextlib.suppress(aiohttp.ClientError, TimeoutError, OSError):
        async with session.get(url, timeout=aiohttp.ClientTimeout(total=5)) as response:
            return response.status == 200
    return False


def _is_ours(process: Process, port: int) -> None:
    """Raises EngineError when another process took the port before ours did."""
    found = holder(port)
    if found is not None and found[0] not in family(process.pid):
        raise EngineError(f"port {port} is answered by process {found[0]} ({found[1]}), which is not ours; try again")


async def _stop(process: Process, root: str, key: str, term_s: float, *, drain: bool) -> None:
    """Drain, SIGTERM, SIGKILL of its own group."""
    if drain and process.alive:
        async with _session(key) as session:
            deadline = time.monotonic() + DRAIN_S
            while process.alive and time.monotonic() < deadline:
                try:
                    values = await scrape(session, f"{root}/metrics")
                except EngineError:
                    break
                if not values.get("vllm:num_requests_running", 0) + values.get("vllm:num_requests_waiting", 0):
                    break
                await asyncio.sleep(0.2)
    await process.end(term_s)


def _obituary(process: Process, log: Path) -> str:
    if process.guard_code is not None:
        return causes.without_guard(process.guard_pid, process.guard_code)
    lines = _lines(log)
    why = causes.cause(lines, process.returncode)
    last = causes.tail(lines)
    shown = f"its log ({log}) ends with: {last}" if last else f"its log ({log}) is empty"
    return f"{causes.ended(process.returncode)}{f': {why}' if why else ''}; {shown}"


def _lines(log: Path) -> list[str]:
    """The log's last lines."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - LOG_BYTES))
            return [line.decode(errors="replace") for line in file]
    except OSError:
        return []


def _emulation(config: EngineConfig, seed: int, faults: Path | None) -> dict[str, Any]:
    from simulator.engine.launch import emulated

    assert config.params is not None
    return {**emulated(config.params, faults), "seed": seed}


def _session(key: str) -> aiohttp.ClientSession:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=20))


__all__ = ["Engine", "Gpu", "command_line", "started"]
