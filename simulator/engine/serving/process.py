"""A server's process behind its guard: started, watched and ended with its whole group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import psutil

from simulator.engine.serving import guard as guard_module
from simulator.errors import EngineError, UsageError

GUARD = Path(guard_module.__file__)
#: for the guard itself to start, and to end once its server has
GUARD_S = 30.0


class Process:
    """Made by `start`. pid: the server's own, which is its group's number. asked_to_end: by us, while it lived."""

    def __init__(self, guard: asyncio.subprocess.Process, pid: int) -> None:
        self._guard, self.pid = guard, pid
        self.created_unix_s: float | None = None
        with contextlib.suppress(psutil.Error):
            self.created_unix_s = psutil.Process(pid).create_time()
        self.returncode: int | None = None
        self.asked_to_end = False
        self._ended = asyncio.create_task(self._wait())

    @classmethod
    async def start(cls, command: Sequence[str], env: Mapping[str, str], log: Path) -> Process:
        """Its output is appended to log. UsageError when there is no such command."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            guard = await asyncio.create_subprocess_exec(
                sys.executable, "-I", str(GUARD), *command,  # isolated: the server's PYTHONPATH is not the guard's
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=out,
                env=dict(env), start_new_session=True,
            )  # fmt: skip
        try:
            said = await asyncio.wait_for(_line(guard), GUARD_S)
        except BaseException:
            await _drop(guard)
            raise
        if "pid" not in said:
            await guard.wait()
            if said.get("missing"):
                raise UsageError(f"{command[0]}: no such command; install vLLM, or say in `command` how it is called")
            raise EngineError(f"{command[0]} cannot be run: {said.get('failed', 'its guard died')}")
        return cls(guard, said["pid"])

    @property
    def alive(self) -> bool:
        return self.returncode is None

    async def _wait(self) -> None:
        said = await _line(self._guard)
        await self._guard.wait()
        # a guard that was killed says nothing; its server is left to `end`
        self.returncode = said.get("returncode", -signal.SIGKILL)

    async def wait(self, limit_s: float) -> bool:
        """Whether it has ended within the limit."""
        await asyncio.wait([self._ended], timeout=limit_s)
        return self._ended.done()

    def tell(self, word: str) -> None:
        """TERM or KILL, to the whole group."""
        if self._guard.stdin is not None and self.alive:
            self.asked_to_end = True
            with contextlib.suppress(OSError, RuntimeError):
                self._guard.stdin.write(f"{word}\n".encode())

    async def end(self, limit_s: float) -> bool:
        """SIGTERM, then SIGKILL after the limit. True when SIGTERM did."""
        self.tell("TERM")
        gently = await self.wait(limit_s)
        if not gently:
            self.tell("KILL")
            await self.wait(GUARD_S)
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        return gently


def family(pid: int) -> set[int]:
    """The process and all that it started, also what another of them started and has left."""
    found = {pid}
    with contextlib.suppress(psutil.Error):
        found |= {child.pid for child in psutil.Process(pid).children(recursive=True)}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == pid:
                found.add(process.pid)
    return found


def holder(port: int) -> tuple[int, str] | None:
    """(pid, command) of who listens on a TCP port of this machine, where that may be known."""
    try:
        connections = psutil.net_connections("tcp")
    except (psutil.Error, OSError, RuntimeError):
        return None
    for each in connections:
        if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port and each.pid:
            with contextlib.suppress(psutil.Error):
                return each.pid, " ".join(psutil.Process(each.pid).cmdline())[:200]
    return None


async def _line(guard: asyncio.subprocess.Process) -> dict[str, Any]:
    assert guard.stdout is not None
    line = await guard.stdout.readline()
    try:
        said: dict[str, Any] = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return said


async def _drop(guard: asyncio.subprocess.Process) -> None:
    """The end of its input tells it to go, with whatever it has started."""
    if guard.stdin is not None:
        guard.stdin.close()
    await guard.wait()
