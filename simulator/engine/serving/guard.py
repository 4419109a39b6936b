"""`python -I guard.py COMMAND...`: runs a server as a process group of its own and ends all of it.

Between a server and the client that started it, so that a client that is killed leaves no server behind: when standard
input closes, the server is told to go, and its group is killed when it does not. What a dead server's main process
leaves behind (an engine's workers) is killed as well. Should this process itself be killed, the kernel tells the server
to go, and the client ends what does not (process.py). Speaks JSON lines on standard output: {"pid"}, then, once nothing
is left, {"returncode"}. Takes the words TERM and KILL on standard input. The server's output goes to standard error.
Needs nothing but Python's own library, as it runs isolated from the server's.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

ASK_S = 0.1
#: after the client went away
PATIENCE_S = 10.0
#: for what is left of a group after SIGKILL
GONE_S = 5.0
#: prctl's PR_SET_CHILD_SUBREAPER (workers whose parent died become ours to wait for) and PR_SET_PDEATHSIG
ADOPT_ORPHANS, SIGNAL_AT_PARENTS_DEATH = 36, 1


def main(command: list[str]) -> int:
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    prctl = _prctl()
    prctl(ADOPT_ORPHANS, 1)
    try:
        # what a server does with its input and signals is its own: it inherits none of ours
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=2, stderr=2, start_new_session=True, restore_signals=True,
            preexec_fn=lambda: prctl(SIGNAL_AT_PARENTS_DEATH, signal.SIGTERM),
        )  # fmt: skip
    except OSError as error:
        _say({"failed": error.strerror or str(error), "missing": isinstance(error, FileNotFoundError)})
        return 1
    signal.signal(signal.SIGTERM, lambda *_: _signal(server.pid, signal.SIGTERM))
    _say({"pid": server.pid})
    _watch(server)
    _signal(server.pid, signal.SIGKILL)  # workers that outlived it
    _reap(time.monotonic() + GONE_S, server.pid)
    _say({"returncode": server.returncode})
    return 0


def _watch(server: subprocess.Popen[bytes]) -> None:
    """Until it has ended; passes on what standard input asks for."""
    kill_at, listening = float("inf"), True
    while server.poll() is None:
        ready = select.select([0] if listening else [], [], [], ASK_S)[0]
        words = os.read(0, 4096) if ready else None
        if words == b"":
            listening, kill_at = False, time.monotonic() + PATIENCE_S
        if words is not None and (words == b"" or b"TERM" in words):
            _signal(server.pid, signal.SIGTERM)
        if (words and b"KILL" in words) or time.monotonic() > kill_at:
            _signal(server.pid, signal.SIGKILL)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _reap(deadline: float, group: int) -> None:
    """Until no adopted child is left and the group is empty."""
    while time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.02)


def _prctl() -> Callable[[int, int], None]:
    """Linux's prctl; elsewhere nothing happens."""
    found = None
    with contextlib.suppress(OSError, AttributeError):
        found = ctypes.CDLL(None).prctl

    def do(what: int, value: int) -> None:
        if found is not None:
            found(what, value, 0, 0, 0)

    return do


def _say(what: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
