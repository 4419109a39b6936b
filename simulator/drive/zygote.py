"""Python commands without the start of an interpreter (interpreter.py), for recording solutions while a run is planned.

Tools that are measured go through ShellRunner: what they cost is part of the result there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from simulator.core.action import Ran
from simulator.drive.commands import Home, ShellRunner, command_input, environment, home_of, outcome
from simulator.drive.processes import drain, kill_group, kill_marked

SCRIPT = Path(__file__).with_name("interpreter.py")
MESSAGE_LIMIT = 100_000  # of one packet on a Unix socket, safely

#: words that mean the same to a shell and to shlex: no expansion, no operator, no newline outside quotes
_WORD = r"""(?!2>)(?:[\w./,:=@%+-]|'[^']*'|"(?:[^"$`\\]|\\[^$`\n])*")+"""
_PLAIN = rf"{_WORD}(?:[ \t]+{_WORD})*"
_SEGMENT = re.compile(_PLAIN + r"(?:[ \t]+2>&1)?", re.ASCII)
_CHAIN = re.compile(rf"({_SEGMENT.pattern}(?:[ \t]*&&[ \t]*{_SEGMENT.pattern})*)", re.ASCII)
_FILTERED = re.compile(rf"({_PLAIN}[ \t]+2>&1)[ \t]*\|[ \t]*({_PLAIN}(?:[ \t]*\|[ \t]*{_PLAIN})*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Program:
    """What one `python ...` is asked to run. kind: "file", "module" or "command"; argv: as sys.argv will be; text: as
    a shell would be given it."""

    kind: str
    target: str
    argv: tuple[str, ...]
    words: tuple[str, ...]
    text: str
    isolated: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Programs, each run when the one before succeeded; all that they write then goes through `filter`, if any."""

    programs: tuple[Program, ...]
    filter: str = ""


def parse(command: str) -> Script | None:
    """Python programs joined by `&&`, or one with `2>&1 | FILTER`; None for whatever else needs a shell."""
    command = command.strip()
    if found := _CHAIN.fullmatch(command):
        texts, through = _SEGMENT.findall(found[1]), ""
    elif found := _FILTERED.fullmatch(command):
        texts, through = [found[1]], found[2]
    else:
        return None
    programs = tuple(filter(None, map(_program, texts)))
    return Script(programs, through) if len(programs) == len(texts) else None


def _program(text: str) -> Program | None:
    """`python FILE`, `-m MODULE` or `[-I] -c PROGRAM`, with arguments."""
    words = tuple(shlex.split(text.removesuffix("2>&1")))  # both streams go to one pipe anyway
    if len(words) < 2 or words[0] not in ("python", "python3"):
        return None
    isolated = words[1:3] == ("-I", "-c")
    match words[2:] if isolated else words[1:]:
        case ("-m", module, *more) if re.fullmatch(r"[A-Za-z_][\w.]*", module):
            return Program("module", module, ("-m", *more), words, text)
        case ("-c", program, *more):
            return Program("command", program, ("-c", *more), words, text, isolated)
        case (file, *more) if file.endswith(".py") and re.match(r"[\w/]", file) and ".." not in file:
            return Program("file", file, (file, *more), words, text)
    return None


class ZygoteRunner:
    """Runs plain Python programs in forks of one warm interpreter, and all else through `fallback`.

    Output and exit code are those that `fallback` would give. Close it when done.
    """

    def __init__(self, fallback: ShellRunner) -> None:
        self.fallback = fallback
        self._lock = threading.Lock()
        self._names: frozenset[str] | None = None
        self._home = home = home_of(fallback.scratch.path, Path(tempfile.mkdtemp(dir=fallback.scratch.path)))
        bin_ = fallback.scratch.python_bin
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [bin_ / "python", SCRIPT, str(theirs.fileno()), str(fallback.scratch.path)],
                env=environment(home, fallback.scratch.path, bin_) | {"OPENBLAS_NUM_THREADS": "1"},
                stdin=subprocess.PIPE,  # pipes, for the children's streams are made like these
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def run(self, command: str, cwd: Path, timeout_s: float, stdin: bytes = b"") -> Ran:
        script = parse(command)
        if script is None or (stdin and len(script.programs) > 1):
            return self.fallback.run(command, cwd, timeout_s, stdin)
        cwd = Path(os.path.realpath(cwd))
        deadline = time.monotonic() + timeout_s
        output = ""
        ran = Ran(0, "")
        for program in script.programs:
            ran = self._one(program, cwd, deadline, stdin)
            output += ran.output
            if ran.exit_code != 0:
                break
        if script.filter and not ran.timed_out:
            return self.fallback.run(script.filter, cwd, deadline - time.monotonic(), output.encode())
        return Ran(ran.exit_code, output, ran.timed_out)

    def _one(self, program: Program, cwd: Path, deadline: float, stdin: bytes) -> Ran:
        ran = self._run(program, cwd, deadline, stdin) if self._fits(program, cwd) else None
        return ran or self.fallback.run(program.text, cwd, deadline - time.monotonic(), stdin)

    def close(self) -> None:
        self._process.kill()  # before its socket, whose end of file would make it remove the scratch folder
        self._process.wait()
        self._socket.close()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        kill_marked(self._home.mark)  # children, too: a fork keeps the environment it started with

    def _fits(self, program: Program, cwd: Path) -> bool:
        """False where a fresh interpreter would do otherwise: no such file, or own modules named like warm ones."""
        if program.kind == "file" and not (cwd / program.target).is_file():
            return False
        folders = {cwd, cwd / "src"} | ({(cwd / program.target).parent} if program.kind == "file" else set())
        own: set[str] = set()
        for folder in folders:
            with contextlib.suppress(OSError):
                own.update(name.partition(".")[0] for name in os.listdir(folder) if name != "__main__.py")
        return own.isdisjoint(self._warm_names())

    def _warm_names(self) -> frozenset[str]:
        with self._lock:
            if self._names is None:
                said = self._socket.recv(1 << 18)
                self._names = frozenset(json.loads(said)) if said else frozenset()
            return self._names

    def _run(self, program: Program, cwd: Path, deadline: float, stdin: bytes) -> Ran | None:
        """None: the warm interpreter could not take the job."""
        home = home_of(self.fallback.scratch.path, cwd)
        job = self._job(program, cwd, home)
        if len(job) > MESSAGE_LIMIT:
            return None
        output, output_end = os.pipe()
        status, status_end = os.pipe()
        try:
            with command_input(stdin) as source, self._lock:
                try:
                    socket.send_fds(self._socket, [job], [source.fileno(), output_end, status_end])
                except OSError:
                    return None
                finally:
                    os.close(output_end)
                    os.close(status_end)
            head = os.read(status, 4)
            if len(head) < 4:
                return None
            pid = int.from_bytes(head, sys.byteorder)
            got = drain(output, lambda: _readable(status), deadline, self.fallback.output_limit)
            kill_group(pid)
            tail = os.read(status, 4)
            kill_marked(home.mark, newer_than=pid)
            return outcome(got, os.waitstatus_to_exitcode(int.from_bytes(tail, sys.byteorder)))
        finally:
            os.close(output)
            os.close(status)

    def _job(self, program: Program, cwd: Path, home: Home) -> bytes:
        bin_ = self.fallback.scratch.python_bin
        return json.dumps(
            {
                "kind": program.kind,
                "target": program.target,
                "argv": program.argv,
                "orig_argv": program.words,
                "executable": str(bin_ / program.words[0]),
                "cwd": str(cwd),
                "env": environment(home, cwd, bin_) | {"SHLVL": "0", "_": str(bin_ / program.words[0])},
                "isolated": program.isolated,
            }
        ).encode()


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])
