"""Running an agent's shell commands: same surroundings on every machine, hard limits, nothing left behind."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from simulator.core.action import Ran
from simulator.drive.gitenv import git_environment
from simulator.drive.processes import Drained, drain, kill_group, kill_marked
from simulator.drive.removal import remove_tree
from simulator.errors import UsageError

OUTPUT_LIMIT = 1_000_000
KILLED = "\n[killed: it wrote more than 1 MB]\n"


class CommandRunner(Protocol):
    def run(self, command: str, cwd: Path, timeout_s: float, stdin: bytes = b"") -> Ran:
        """Run at `cwd` (blocking; several threads may) -> exit code and output. Never raises for what it runs."""


@dataclass(frozen=True, slots=True)
class Home:
    """Folders that belong to the commands of one workspace. `mark` is in the environment of all of them."""

    path: Path
    tmp: Path

    @property
    def mark(self) -> bytes:
        return b"HOME=" + os.fsencode(self.path) + b"\0"


def home_of(scratch: Path, cwd: Path) -> Home:
    """Made on first use below `scratch`; the name depends on `cwd` alone."""
    base = scratch / hashlib.sha1(os.fsencode(cwd)).hexdigest()[:12]
    home = Home(base / "home", base / "tmp")
    home.path.mkdir(parents=True, exist_ok=True)
    home.tmp.mkdir(exist_ok=True)
    return home


def environment(home: Home, cwd: Path, python_bin: Path) -> dict[str, str]:
    """All variables a command sees; none is inherited, so neither secrets nor a person's settings get in."""
    return {
        "PATH": f"{python_bin}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home.path),
        "TMPDIR": str(home.tmp),
        "PWD": str(cwd),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "COLUMNS": "80",
        "LINES": "24",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        **git_environment(cwd),
    }


class Scratch:
    """A private folder for homes and temporary files, removed with its owner; also where `python` is made findable."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or Path(os.path.realpath(tempfile.mkdtemp(prefix="sim-tools-")))
        self.close = weakref.finalize(self, remove_tree, str(self.path))
        self.python_bin = self._python_bin()

    def _python_bin(self) -> Path:
        """The folder of the running interpreter, or one with scripts when it has no `python` and `python3` in it."""
        if not sys.executable:
            raise UsageError("The running interpreter's path is unknown: start sim with a normal python.")
        folder = Path(sys.executable).parent
        if all(os.access(folder / name, os.X_OK) for name in ("python", "python3")):
            return folder
        folder = self.path / "bin"
        folder.mkdir(exist_ok=True)
        for name in ("python", "python3"):
            # a script, for a link would make the interpreter lose the venv it belongs to
            (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
            (folder / name).chmod(0o755)
        return folder


class ShellRunner:
    """Commands through bash (else sh), each in a session of its own."""

    def __init__(self, scratch: Scratch | None = None, output_limit: int = OUTPUT_LIMIT) -> None:
        self.scratch = scratch or Scratch()
        self.output_limit = output_limit
        self._shell = shutil.which("bash", path="/usr/local/bin:/usr/bin:/bin") or "/bin/sh"

    def run(self, command: str, cwd: Path, timeout_s: float, stdin: bytes = b"") -> Ran:
        cwd = Path(os.path.realpath(cwd))
        deadline = time.monotonic() + timeout_s
        home = home_of(self.scratch.path, cwd)
        with command_input(stdin) as source:
            try:
                process = subprocess.Popen(
                    [self._shell, "-c", command],
                    cwd=cwd,
                    env=environment(home, cwd, self.scratch.python_bin),
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:  # no such folder, too long a command, a NUL in it
                return Ran(126, f"{Path(self._shell).name}: {error}\n")
        assert process.stdout is not None
        with process.stdout:
            got = drain(process.stdout.fileno(), lambda: process.poll() is not None, deadline, self.output_limit)
            kill_group(process.pid)
            process.wait()
        kill_marked(home.mark, newer_than=process.pid)
        return outcome(got, process.returncode)


def outcome(got: Drained, status: int) -> Ran:
    """status: exit code, or minus the signal as subprocess gives it (a shell's caller sees 128 + signal)."""
    text = got.data.decode(errors="replace")
    if got.stopped == "size":
        return Ran(None, text + KILLED)
    if got.stopped == "time":
        return Ran(None, text, timed_out=True)
    return Ran(status if status >= 0 else 128 - status, text)


@contextlib.contextmanager
def command_input(stdin: bytes) -> Iterator[IO[bytes]]:
    """What a command reads. A file and not a pipe: one that never reads cannot block us."""
    if not stdin:
        with open(os.devnull, "rb") as nothing:
            yield nothing
        return
    with tempfile.TemporaryFile() as source:
        source.write(stdin)
        source.seek(0)
        yield source
