"""A server's process behind its guard: started, watched and ended with its whole group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import psutil

from simulator.engine.serving import guard as guard_module
from simulator.engine.serving.guard import ASK_S, GONE_S, PATIENCE_S
from simulator.errors import EngineError, UsageError

GUARD = Path(guard_module.__file__)
#: for the guard itself to start, and to end once its server has
GUARD_S = 30.0
#: in the environment of a server and of what it starts, with a value that no other has
MARK = "AGENT_SIM_ENGINE"


class Process:
    """Made by `start`. pid: the server's own, which is its group's number. mark: what all that it starts has in its
    environment. asked_to_end: by us, while it lived. guard_code: of a guard that died before its server, which is ended
    then: nobody would once this process is gone. left: (pid, command) of what the server started and nothing ends."""

    def __init__(self, guard: asyncio.subprocess.Process, pid: int, mark: str) -> None:
        self._guard, self.pid, self._mark = guard, pid, mark
        self._server: psutil.Process | None = None
        with contextlib.suppress(psutil.Error):
            self._server = psutil.Process(pid)  # knows the process by its creation, too
        self.returncode: int | None = None
        self.guard_code: int | None = None
        self.asked_to_end = False
        self.left: list[tuple[int, str]] = []
        self._ended = asyncio.create_task(self._wait())

    @classmethod
    async def start(cls, command: Sequence[str], env: Mapping[str, str], log: Path) -> Process:
        """Its output is appended to log. UsageError when there is no such command."""
        log.parent.mkdir(parents=True, exist_ok=True)
        mark = uuid4().hex
        with log.open("ab") as out:
            guard = await asyncio.create_subprocess_exec(
                sys.executable, "-I", str(GUARD), *command,  # isolated: the server's PYTHONPATH is not the guard's
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=out,
                env={**env, MARK: mark}, start_new_session=True,
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
        return cls(guard, said["pid"], mark)

    @property
    def alive(self) -> bool:
        return self.returncode is None and self.guard_code is None

    @property
    def guard_pid(self) -> int:
        return self._guard.pid

    async def _wait(self) -> None:
        self.returncode = (await _line(self._guard)).get("returncode")
        said = await _line(self._guard) if self.returncode is not None else {}
        code = await self._guard.wait()
        if "left" in said:
            self.left = [(pid, command) for pid, command in said["left"]]
            return
        if self.returncode is None:
            self.guard_code = code
        if self._server is not None:
            self.left = await end_group(self._server, self._mark)

    async def wait(self, limit_s: float) -> bool:
        """Whether it and all that it started have ended within the limit."""
        await asyncio.wait([self._ended], timeout=limit_s)
        return self._ended.done()

    def tell(self, word: str) -> None:
        """TERM or KILL, to the whole group."""
        if self._guard.stdin is not None and not self._ended.done():
            self.asked_to_end |= self.alive
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


async def end_group(server: psutil.Process, mark: str, patience_s: float = PATIENCE_S) -> list[tuple[int, str]]:
    """SIGTERM, then SIGKILL, to a server without a guard and all that it started. No process that has taken over one
    of their numbers is touched. (pid, command) of what cannot be ended."""
    known: set[psutil.Process] = set()
    left: set[psutil.Process] = set()
    for act, limit_s in (("terminate", patience_s), ("kill", GONE_S)):
        deadline, told = time.monotonic() + limit_s, set[psutil.Process]()
        while left := _living(server, mark, known):
            for each in left - told:
                with contextlib.suppress(psutil.Error):
                    getattr(each, act)()
            told |= left
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(ASK_S)
    return [(each.pid, _command(each)) for each in left]


def _living(server: psutil.Process, mark: str, known: set[psutil.Process]) -> set[psutil.Process]:
    """Of a server's processes, those that still run; known: gets those that are seen, to know them without it."""
    if server.is_running() or not psutil.pid_exists(server.pid):
        for pid in family(server.pid):
            with contextlib.suppress(psutil.Error):
                known.add(psutil.Process(pid))
    for each in psutil.process_iter():  # what has left the server's session, and whose parents are gone
        with contextlib.suppress(psutil.Error, OSError):
            if each.environ().get(MARK) == mark:
                known.add(each)
    left = set()
    for each in known:
        with contextlib.suppress(psutil.Error):
            if each.is_running() and each.status() != psutil.STATUS_ZOMBIE:
                left.add(each)
    return left


def _command(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline())[:200]
    return ""


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
                return each.pid, _command(psutil.Process(each.pid))
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
