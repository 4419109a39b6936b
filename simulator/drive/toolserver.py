"""The tool process: owns all workspaces and runs their tools, so that none of it disturbs the clocks of the load
generator. Started by toolhost.ToolHost; speaks on an inherited socket (both ends are ours).

Frames (frames.py) hold (number, operation, arguments) there, (number, result or Failure) back, in any order. End of
file means that the other side is gone: kill what runs and go as well.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.core.action import Action, Ran, Search
from simulator.core.normalise import comparable, first_difference, outcome_text
from simulator.core.task import Check
from simulator.drive.checking import run_check
from simulator.drive.commands import Scratch, ShellRunner
from simulator.drive.frames import LENGTH, frame
from simulator.drive.processes import kill_marked
from simulator.drive.removal import remove_tree
from simulator.drive.sandbox import SandboxRunner
from simulator.drive.searcher import Searcher
from simulator.drive.toolbox import Toolbox, apply_earlier
from simulator.drive.tools import Done, Replayed
from simulator.drive.workspace import Repository, Workspace
from simulator.errors import SimError

NICE = 5  # below the load generator and an engine on the same machine
OOM_SCORE = 500
WARM_SEARCHERS = 2


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn that counts as done when a session starts in its middle; committed when it has a `message`."""

    actions: tuple[Action, ...]
    message: str = ""
    when_s: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """error: what the caller shall raise."""

    error: SimError


@dataclass(slots=True)
class Bench:
    """One session's place. `lock`: a session does one thing at a time, whatever threads there are."""

    toolbox: Toolbox
    workspace: Workspace | None
    lock: threading.Lock = field(default_factory=threading.Lock)


def mark_of(scratch: Path) -> bytes:
    """Part of the environment of the tool process and of everything that it starts."""
    return b"HOME=" + os.fsencode(scratch) + b"/"


class Server:
    """The operations are the methods that `operations` lists, called on pool threads."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch, self._runner, self._searcher = scratch, ShellRunner(scratch), Searcher(WARM_SEARCHERS)
        self._benches: dict[str, Bench] = {}

    def operations(self) -> dict[str, Callable[..., object]]:
        return {
            "open": self.open,
            "setup": self.setup,
            "do": self.do,
            "replay": self.replay,
            "commit": self.commit,
            "check": self.check,
            "finish": self.finish,
        }

    def open(self, session: str, root: Path, shown_root: str, documents: str, context_lines: int) -> None:
        toolbox = Toolbox(root, shown_root, self._runner, documents, context_lines, searcher=self._searcher)
        self._benches[session] = Bench(toolbox, None)

    def setup(
        self,
        session: str,
        repository: Repository,
        root: Path,
        shown_root: str,
        documents: str,
        context_lines: int,
        earlier: Sequence[PastTurn],
        sandboxed: bool,
    ) -> float:
        began = time.monotonic()
        apart = root.with_name(f".{root.name}.git") if sandboxed else None
        workspace = repository.checkout(root, session, apart=apart)
        runner = SandboxRunner(self._scratch, (repository.path,)) if sandboxed else self._runner
        toolbox = Toolbox(root, shown_root, runner, documents, context_lines, searcher=self._searcher)
        for turn in earlier:
            apply_earlier(toolbox, turn.actions)
            if turn.message:
                workspace.commit(turn.message, turn.when_s)
        self._benches[session] = Bench(toolbox, workspace)
        return time.monotonic() - began

    def do(self, session: str, action: Action) -> Done:
        bench = self._bench(session)
        # a search changes nothing, and `finish` must not wait for it
        with contextlib.nullcontext() if isinstance(action, Search) else bench.lock:
            began = time.monotonic()
            outcome = bench.toolbox.do(action)
            return Done(outcome, began, time.monotonic())

    def replay(self, session: str, action: Action, recorded: str) -> Replayed:
        done = self.do(session, action)
        text = outcome_text(done.outcome)
        difference = first_difference(recorded, comparable(text))
        exit_code = done.outcome.exit_code if isinstance(done.outcome, Ran) else None
        return Replayed(done.t_start, done.t_end, len(text), exit_code, not difference, difference)

    def commit(self, session: str, message: str, when_s: int) -> str | None:
        bench = self._bench(session)
        with bench.lock:
            workspace = self._workspace(session)
            try:
                return workspace.commit(message, when_s)
            except (OSError, ValueError, RecursionError):
                if workspace.apart is None:
                    raise
                return None  # what a model made of its workspace is the check's to judge

    def check(self, session: str, check: Check) -> list[str]:
        bench = self._bench(session)
        with bench.lock:
            try:
                return run_check(bench.toolbox.root, check, bench.toolbox.runner)
            except (OSError, ValueError, RecursionError) as error:
                return [f"the check could not be run here: {type(error).__name__}: {error}"]

    def finish(self, session: str, keep: bool) -> tuple[str, str]:
        bench = self._bench(session)
        bench.toolbox.end_searches()
        with bench.lock:
            workspace = self._workspace(session)
            try:
                compared = workspace.compare()
            finally:
                if not keep:
                    workspace.remove()
                del self._benches[session]
        return compared

    def _bench(self, session: str) -> Bench:
        try:
            return self._benches[session]
        except KeyError:
            raise SimError(f"Session {session} has no workspace: call setup or open before its tools.") from None

    def _workspace(self, session: str) -> Workspace:
        workspace = self._bench(session).workspace
        if workspace is None:
            raise SimError(f"The workspace of session {session} was opened without a repository: use setup.")
        return workspace


def serve(server: Server, link: socket.socket, threads: int) -> None:
    """Answer requests until the other side closes."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix="tool")
    sending = threading.Lock()
    operations = server.operations()

    def work(number: int, name: str, arguments: tuple[Any, ...]) -> None:
        result: object
        try:
            result = operations[name](*arguments)
        except SimError as error:
            result = Failure(error)
        except Exception as error:  # a fault of ours must reach the caller, or it would wait for ever
            place = f"{name} of session {arguments[0]}"
            result = Failure(SimError(f"The tool process failed in {place}: {type(error).__name__}: {error}"))
        with sending, contextlib.suppress(OSError):
            link.sendall(frame((number, result)))

    stream = link.makefile("rb")
    while len(head := stream.read(LENGTH)) == LENGTH:
        size = int.from_bytes(head, "big")
        body = stream.read(size)
        if len(body) < size:
            break
        pool.submit(work, *pickle.loads(body))


def main() -> None:
    """Arguments: the socket's descriptor, the scratch folder, the number of threads."""
    descriptor, folder, threads = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")  # of document libraries; there is no one to read them
    os.nice(NICE)
    with contextlib.suppress(OSError):  # Linux: when memory runs out, a runaway command goes and not its caller
        Path("/proc/self/oom_score_adj").write_text(str(OOM_SCORE))

    link = socket.socket(fileno=descriptor)

    def leave(*_: object) -> None:
        with contextlib.suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)  # what is killed now must not look like a result
        kill_marked(mark_of(folder))
        remove_tree(folder)
        os._exit(0)  # pool threads may sit in commands that were just killed

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then decides
    try:
        serve(Server(Scratch(folder)), link, threads)
    finally:
        leave()
