"""The load generator's side of the tool process (toolserver.py): coroutines that cost the event loop only bytes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import simulator
from simulator.core.action import Action
from simulator.core.task import Check
from simulator.drive.frames import LENGTH, frame
from simulator.drive.processes import kill_marked
from simulator.drive.removal import remove_tree
from simulator.drive.tools import Done, Replayed
from simulator.drive.toolserver import Failure, PastTurn, mark_of
from simulator.drive.workspace import Repository
from simulator.errors import ClientLost, SimError

THREADS = 64
CLOSE_S = 5.0


class ToolHost:
    """Runs tools in a process of its own; `await ToolHost.start()`, and at the end `await close()` or `kill()`.

    Every coroutine raises SimError when the tool process is gone or failed. Actions never raise for what they meet in
    a workspace: that is their Outcome.
    """

    def __init__(self, process: subprocess.Popen[bytes], scratch: Path, streams: tuple[Any, Any]) -> None:
        self._process = process
        self._scratch = scratch
        self._reader, self._writer = streams
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._gone = False
        self._lost = asyncio.Event()
        self._listener = asyncio.get_running_loop().create_task(self._listen())

    @classmethod
    async def start(cls, threads: int = THREADS) -> ToolHost:
        """threads: how many tools may run at once, over all sessions."""
        scratch = _scratch_folder()
        ours, theirs = socket.socketpair()
        with theirs:
            process = _spawn(theirs, scratch, threads)
        return cls(process, scratch, await asyncio.open_unix_connection(sock=ours))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def scratch(self) -> Path:
        """A folder that goes with the tool process, however it ends."""
        return self._scratch

    @property
    def in_flight(self) -> int:
        """Calls not answered yet."""
        return len(self._waiting)

    async def open(
        self, session_id: str, root: Path, shown_root: str, documents: str = "extracted", context_lines: int = 2
    ) -> None:
        """Tools in a folder that is there already (no git: commit and finish need setup)."""
        await self._call("open", session_id, root, shown_root, documents, context_lines)

    async def setup(
        self,
        session_id: str,
        repository: Repository,
        root: Path,
        shown_root: str,
        documents: str = "extracted",
        context_lines: int = 2,
        earlier: Sequence[PastTurn] = (),
        sandboxed: bool = False,
    ) -> float:
        """Check `repository` out at `root` on a branch named `session_id` and bring it to where the session starts
        -> seconds of work. sandboxed: its commands and its check run in the sandbox (drive/sandbox.py)."""
        return await self._call(
            "setup", session_id, repository, root, shown_root, documents, context_lines, tuple(earlier), sandboxed
        )

    async def do(self, session_id: str, action: Action) -> Done:
        return await self._call("do", session_id, action)

    async def replay(self, session_id: str, action: Action, recorded: str) -> Replayed:
        """Does the action and compares there what came of it, so that no result has to travel. recorded: normalised
        plain text (core.normalise.outcome_text)."""
        return await self._call("replay", session_id, action, recorded)

    async def commit(self, session_id: str, message: str, when_s: int) -> str | None:
        """The new hash, None when nothing changed. when_s: Unix seconds, part of the hash."""
        return await self._call("commit", session_id, message, when_s)

    async def check(self, session_id: str, check: Check) -> list[str]:
        """Complaints; empty when the result is right."""
        return await self._call("check", session_id, check)

    async def finish(self, session_id: str, *, keep: bool = False) -> tuple[str, str]:
        """(final patch, "N files +a -r"). The workspace is removed unless `keep`."""
        return await self._call("finish", session_id, keep)

    async def watch(self) -> None:
        """Raises ClientLost when the tool process ends of itself. Does not return."""
        await self._lost.wait()
        try:
            status = await asyncio.to_thread(self._process.wait, 1)
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        except subprocess.TimeoutExpired:
            how = "closed its connection"
        hint = " (is memory short?)" if how.endswith("signal 9") else ""
        raise ClientLost(f"the tool process (pid {self.pid}) {how}{hint}; the run ended there")

    async def close(self) -> None:
        """End the tool process and everything that it runs."""
        self._gone = True
        self._writer.close()  # the other side leaves at the end of file
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._process.wait, CLOSE_S)
        self.kill()
        await self._listener

    def kill_commands(self) -> None:
        """End the commands that run now, by process group; the tool process stays and answers for them."""
        kill_marked(mark_of(self._scratch), spare=self.pid)

    def kill(self) -> None:
        """End all of it at once, blocking for milliseconds. Needs no event loop, so a signal handler may call it."""
        self._gone = True
        self._process.kill()
        kill_marked(mark_of(self._scratch))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        remove_tree(self._scratch)

    async def _call(self, operation: str, *arguments: Any) -> Any:
        if self._gone:
            raise SimError(f"The tool process is closed, so {operation} of session {arguments[0]} was not done.")
        number = self._count
        self._count += 1
        future = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._writer.write(frame((number, operation, arguments)))
            result = await future
        finally:
            self._waiting.pop(number, None)
        if isinstance(result, Failure):
            raise result.error
        return result

    async def _listen(self) -> None:
        try:
            while True:
                size = int.from_bytes(await self._reader.readexactly(LENGTH), "big")
                number, result = pickle.loads(await self._reader.readexactly(size))
                future = self._waiting.get(number)
                if future is not None and not future.done():  # a caller may have been cancelled meanwhile
                    future.set_result(result)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            why = "was closed" if self._gone else "ended unexpectedly (out of memory?)"
            if not self._gone:
                self._lost.set()
            self._gone = True
            self._writer.close()
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(SimError(f"The tool process {why}; its sessions cannot go on."))


def _scratch_folder() -> Path:
    return Path(os.path.realpath(tempfile.mkdtemp(prefix="sim-tools-")))


def _spawn(link: socket.socket, scratch: Path, threads: int) -> subprocess.Popen[bytes]:
    package = Path(simulator.__file__).parent.parent
    variables = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch / "host"),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(package),
    }
    program = "from simulator.drive.toolserver import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, str(link.fileno()), str(scratch), str(threads)],
        env=variables,
        pass_fds=(link.fileno(),),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
