"""`python -I guard.py COMMAND...`: runs a server as a process group of its own and ends all of it.

Between a server and the client that started it, so that a client that is killed leaves no server behind: when standard
input closes, the server is told to go, and its group is killed when it does not. What a dead server's main process
leaves behind goes as well: its group (an engine's workers) at once, and whatever has left the group (a daemon, a
session of its own) is told to go and then killed. The kernel hands such processes to us when their parent dies, so that
they are known by being our children; a child's number is nobody else's until we have waited for it, so no other process
can be hit. Should this process itself be killed, the kernel tells the server to go, and the client ends what does not
(process.py).

Speaks JSON lines on standard output: {"pid"}, {"returncode"} once the server has ended, then {"left"} once nothing is
left, or [pid, command] of each process that could not be ended. Takes the words TERM and KILL on standard input. The
server's output goes to standard error. Needs nothing but Python's own library, as it runs isolated from the server's.
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
#: between two looks at what the server left behind
WAIT_S = 0.05
#: after the client went away
PATIENCE_S = 10.0
#: for a process that the server left behind, between SIGTERM and SIGKILL; and for all of them together, as each may
#: leave others behind
ORPHAN_S, ORPHANS_S = 3.0, 10.0
#: for what is left after SIGKILL
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
    hurry = _watch(server)
    # not waited for yet: until then the group's number is no other's
    _signal(server.pid, signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server.wait()
    _say({"returncode": server.returncode})
    _say({"left": _end_orphans(hurry=hurry)})
    return 0


def _watch(server: subprocess.Popen[bytes]) -> bool:
    """Until it has ended; passes on what standard input asks for. Whether that was to kill."""
    kill_at, listening, killed = float("inf"), True, False
    while not _has_ended(server.pid):
        words = _heard(ASK_S, listening=listening)
        if words == b"":
            listening, kill_at = False, time.monotonic() + PATIENCE_S
        if words is not None and (words == b"" or b"TERM" in words):
            _signal(server.pid, signal.SIGTERM)
        if (words and b"KILL" in words) or time.monotonic() > kill_at:
            killed = True
            _signal(server.pid, signal.SIGKILL)
    return killed


def _has_ended(pid: int) -> bool:
    """Of a child, without waiting for it."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _heard(limit_s: float, *, listening: bool) -> bytes | None:
    """The next words on standard input; b"" at its end, None when there are none within the limit."""
    return os.read(0, 4096) if select.select([0] if listening else [], [], [], limit_s)[0] else None


def _end_orphans(*, hurry: bool) -> list[tuple[int, str]]:
    """Ends all of our children, and those that become ours as their parents end, until there is none. hurry: without
    SIGTERM. Gives those that cannot be ended."""
    told_s: dict[int, float] = {}
    killing_s = time.monotonic() + (0.0 if hurry else ORPHANS_S)
    listening = True
    while _reaped(told_s):
        now_s = time.monotonic()
        if now_s > killing_s + GONE_S:
            break
        for pid in _children():
            first_s = told_s.setdefault(pid, now_s)
            if now_s >= killing_s or now_s > first_s + ORPHAN_S:
                _send(pid, signal.SIGKILL)
            elif first_s == now_s:
                _send(pid, signal.SIGTERM)
        words = _heard(WAIT_S, listening=listening)
        listening = listening and words != b""
        if words and b"KILL" in words:
            killing_s = min(killing_s, now_s)
    else:
        return []
    return [(pid, _command(pid)) for pid in _children()]


def _reaped(known: dict[int, float]) -> bool:
    """Waits for the children that have ended, and forgets them. Whether there are others."""
    with contextlib.suppress(ChildProcessError):
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            known.pop(pid, None)
        return True
    return False


def _children() -> list[int]:
    """Of this process, as /proc tells; elsewhere none are handed to us."""
    found, own = [], str(os.getpid())
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdecimal() and _parent(name) == own:
                    found.append(int(name))
    return found


def _parent(pid: str) -> str:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[1]  # "pid (name, whatever it is) state parent ..."


def _command(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
        return file.read().replace("\0", " ").strip()[:200]
    return ""


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


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
