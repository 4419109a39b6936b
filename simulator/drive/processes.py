"""Reading from processes that may flood, hang or leave children behind, and getting rid of them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: how often a silent pipe's owner is asked whether it ended (it matters only when a child keeps the pipe open)
ASK_S = 0.03
CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Drained:
    """`stopped`: "" the owner ended, "time" or "size" it ran into that limit."""

    data: bytes
    stopped: str


def drain(pipe: int, ended: Callable[[], bool], deadline: float, limit: int) -> Drained:
    """Read `pipe` until its owner ends, `deadline` (time.monotonic()) passes or `limit` bytes are there.

    The owner's end counts, not the end of file: a child it left behind may hold the pipe open for ever.
    """
    os.set_blocking(pipe, False)
    poller = select.poll()
    poller.register(pipe, select.POLLIN)
    parts: list[bytes] = []
    size, open_, nap_s = 0, True, 0.0003
    while True:
        over = ended()  # asked before reading, so that all it wrote is read below
        while open_ and size < limit:
            try:
                part = os.read(pipe, CHUNK)
            except BlockingIOError:
                break
            open_ = bool(part)
            parts.append(part)
            size += len(part)
            if not over and time.monotonic() >= deadline:
                break
        data = b"".join(parts)
        if size >= limit:
            return Drained(data[:limit], "size")
        if over:
            return Drained(data, "")
        left = deadline - time.monotonic()
        if left <= 0:
            return Drained(data, "time")
        if open_:
            poller.poll(min(left, ASK_S) * 1000)
        else:
            time.sleep(min(left, nap_s))  # it closed its output: about to be gone, or still at work
            nap_s = min(2 * nap_s, 0.02)


def kill_group(leader: int) -> None:
    """SIGKILL to the process group of `leader`, which may be gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def kill_marked(mark: bytes, newer_than: int = 0, spare: int = 0) -> int:
    """SIGKILL every process whose starting environment holds `mark` -> how many. Finds what left its process group.

    newer_than: look only at higher process ids; spare: a process id to leave alone. Needs /proc; elsewhere it finds
    nothing and groups must do. (Ids wrap around once in millions; what is missed then goes when all goes.)
    """
    killed: set[int] = {spare}
    for _ in range(20):  # one that forks while we look is found in the next round
        found = {pid for pid in _pids(newer_than) if mark in _environment(pid)} - killed
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed |= found
    return len(killed) - 1


def _pids(newer_than: int) -> list[int]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    return [pid for pid in map(int, filter(str.isdigit, names)) if pid > newer_than and pid != os.getpid()]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
