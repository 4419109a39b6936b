"""Searches that end, whatever expression a model chose: what may take long (patterns.py) is done in a process of its
own, which is killed when its time is over or its session is gone. A pattern engine cannot be stopped otherwise: one
counts processor time and not the clock's, the other nothing.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from simulator.core.action import Matches
from simulator.drive.frames import LENGTH, frame
from simulator.drive.patterns import NotSoon, TooSlow
from simulator.drive.search import search

#: a process whose parent does not end it does so itself, so much later
GRACE_S = 1.0


class Lost(Exception):
    """The search came to no end. str() says why."""


class Searcher:
    """keep: how many processes stay when their search is over, for the next one; they go with `close`, or with this
    process. Threads may share one."""

    def __init__(self, keep: int = 0) -> None:
        self._keep = keep
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._busy: dict[_Process, Path] = {}

    def search(
        self, root: Path, path: str, regex: str, file_pattern: str | None, context_lines: int, limit_s: float
    ) -> Matches:
        """As drive.search.search. BadPattern; TooSlow after limit_s; Lost."""
        deadline = time.monotonic() + limit_s
        arguments = (root, path, regex, file_pattern, context_lines)
        try:
            return search(*arguments, deadline)
        except NotSoon:
            pass
        process = self._take(root)
        try:
            found = process.ask(arguments, deadline)
        finally:
            self._give_back(process)
        if isinstance(found, Matches):
            return found
        raise Lost(found)

    def end(self, root: Path) -> None:
        """Gives up what is searched for in this workspace now."""
        with self._lock:
            for process in [each for each, place in self._busy.items() if place == root]:
                process.stop()

    def close(self) -> None:
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _take(self, root: Path) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.lives:
                    break
                process.close()
            else:
                process = _Process()
            self._busy[process] = root
        return process

    def _give_back(self, process: _Process) -> None:
        with self._lock:
            del self._busy[process]
            if process.ready and process.lives and len(self._idle) < self._keep:
                self._idle.append(process)
            else:
                process.close()


class _Process:
    """ready: it waits for a search."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        package = str(Path(__file__).resolve().parents[2])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from simulator.drive.searcher import main; main()"],
                env={**os.environ, "PYTHONPATH": package},
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.ready = True

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def ask(self, arguments: tuple[Any, ...], deadline: float) -> Matches | str:
        """What was found, or why nothing was. TooSlow, Lost."""
        self.ready = False
        try:
            self._send(frame((deadline - time.monotonic(), arguments)), deadline)
            size = int.from_bytes(self._receive(LENGTH, deadline), "big")
            found: Matches | str = pickle.loads(self._receive(size, deadline))
        except TimeoutError:
            raise TooSlow from None
        except OSError:
            raise Lost("it was ended") from None
        self.ready = True
        return found

    def stop(self) -> None:
        """From another thread: who waits for its answer is told that it is lost."""
        self._process.kill()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._socket.close()

    def _send(self, data: bytes, deadline: float) -> None:
        self._socket.settimeout(_left(deadline))
        self._socket.sendall(data)

    def _receive(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._socket.settimeout(_left(deadline))
            part = self._socket.recv(size - len(data))
            if not part:
                raise OSError
            data += part
        return bytes(data)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def main() -> None:
    """The process: takes searches from the socket that is its standard input, until that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends it, also in the middle of a match
    link = socket.socket(fileno=0)
    stream = link.makefile("rb")
    while len(head := stream.read(LENGTH)) == LENGTH:
        limit_s, arguments = pickle.loads(stream.read(int.from_bytes(head, "big")))
        signal.setitimer(signal.ITIMER_REAL, limit_s + GRACE_S)
        found: Matches | str
        try:
            found = search(*arguments, math.inf, alone=True)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        link.sendall(frame(found))
        signal.setitimer(signal.ITIMER_REAL, 0)
