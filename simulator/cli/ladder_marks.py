"""Processes that an earlier ladder of this folder left behind, as it was killed before it could end them. Each process
of a ladder has its folder in its environment, and so have the servers and tools that it starts."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from simulator.errors import EngineError

MARK = "AGENT_SIM_LADDER"
#: they end by themselves once they notice; then they are asked to, then they are killed
BY_ITSELF_S, ASKED_S, KILLED_S = 20.0, 15.0, 5.0
ASK_S = 0.2


def left_behind(folder: Path) -> list[psutil.Process]:
    """Of this user, in any session; this process is none of them."""
    wanted, found = str(folder.resolve()), []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == wanted:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    own = psutil.Process()
    above = {own.pid, *(each.pid for each in own.parents())}
    return [each for each in found if each.pid not in above]


def clear(
    folder: Path, say: Callable[[str], None], *, by_itself_s: float = BY_ITSELF_S, asked_s: float = ASKED_S
) -> None:
    """Waits until nothing is left behind, and ends what stays. Raises EngineError when something cannot be ended."""
    if not (found := left_behind(folder)):
        return
    say(f"an earlier ladder of {folder} was killed, and {told(found)} still at work; waiting for the end of that")
    if not (found := _until_gone(folder, by_itself_s)):
        return
    say(f"ending {told(found, verb=False)}")
    for each in found:
        _do(each.terminate)
    found = _until_gone(folder, asked_s)
    for each in found:
        _do(each.kill)
    if found := _until_gone(folder, KILLED_S):
        raise EngineError(f"{told(found)} left of an earlier ladder of {folder} and cannot be ended; end that first")


def told(found: list[psutil.Process], *, verb: bool = True) -> str:
    """`process 4711 (python -m vllm ...) is`, for people; the first three."""
    words = []
    for each in found[:3]:
        try:
            words.append(f"{each.pid} ({' '.join(each.cmdline())[:80]})")
        except psutil.Error:
            words.append(str(each.pid))
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    several = len(found) > 1
    ending = (" are" if several else " is") if verb else ""
    return f"process{'es' if several else ''} {', '.join(words)}{more}{ending}"


def _until_gone(folder: Path, limit_s: float) -> list[psutil.Process]:
    deadline = time.monotonic() + limit_s
    while (found := left_behind(folder)) and time.monotonic() < deadline:
        time.sleep(ASK_S)
    return found


def _do(act: Callable[[], None]) -> None:
    with contextlib.suppress(psutil.Error):
        act()
