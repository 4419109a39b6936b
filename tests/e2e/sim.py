"""`sim` as a user starts it: a process of its own, in a folder of its own, with a plan cache that the tests share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import orjson

from simulator.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = """\
name: small
seed: 5
sessions: 3
refill: false
max_turns: 2
start: stationary
ramp_s: 0.2
profiles: {classic-xml: 1, sdk: 1}
sizes: {medium: 1}
tools: real
warmup: {requests: 1}
time_limit_s: 90
synthetic: {input_tok: 64, output_tok: 16, concurrency: 8, requests: 24, warmup_requests: 2}
"""
#: keeps three agents busy until somebody ends it
ENDLESS = SCENARIO.replace("refill: false\nmax_turns: 2", "refill: true\nwindow_s: 60").replace("real", "paced")


@dataclass(frozen=True)
class Sim:
    folder: Path
    cache: Path

    def scenario(self, text: str = SCENARIO, name: str = "small.yaml") -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI")}
        return {**kept, "XDG_CACHE_HOME": str(self.cache), "PYTHONPATH": str(ROOT), **extra}

    def start(self, *arguments: str | Path, **extra: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "simulator.cli.main", *map(str, arguments)],
            cwd=self.folder,
            env=self.environment(**extra),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str | Path, limit_s: float = 250.0, **extra: str) -> tuple[int, str]:
        """(exit code, everything it printed)."""
        process = self.start(*arguments, **extra)
        output, _ = process.communicate(timeout=limit_s)
        return process.returncode, output

    def told(self, *arguments: str | Path, **extra: str) -> tuple[int, str]:
        """As `run`, by the same `main` but in this process, which has imported everything: of what refuses, or reads
        a folder, and starts no run."""
        with tempfile.TemporaryFile("w+") as file:
            with self._place(arguments, extra), redirect_stdout(file), redirect_stderr(file):
                code = _exit_code()
            file.seek(0)
            return code, file.read()

    @contextmanager
    def _place(self, arguments: tuple[str | Path, ...], extra: dict[str, str]) -> Iterator[None]:
        before, argv, place = dict(os.environ), sys.argv, self.environment(**extra)
        try:
            sys.argv = ["sim", *map(str, arguments)]
            os.environ.clear()
            os.environ.update(place)
            with chdir(self.folder):
                yield
        finally:
            os.environ.clear()
            os.environ.update(before)
            sys.argv = argv


def _exit_code() -> int:
    try:
        main()
    except SystemExit as end:
        assert isinstance(end.code, int)
        return end.code
    return 0


def lines(path: Path) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def wait_for(path: Path, at_least: int = 1, limit_s: float = 200.0) -> None:
    """Until a file has that many lines."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= at_least:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path.name} did not get {at_least} lines in {limit_s:g} s")


def descendants(mark: str) -> list[int]:
    """Processes whose environment or arguments name `mark`, this one left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                told = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if mark.encode() in told and state != "Z":
                found.append(int(entry.name))
    return found


def none_left(mark: str, limit_s: float = 60.0) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if not descendants(mark):
            return True
        time.sleep(0.1)
    return False


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C, as a terminal sends it: to the whole foreground group."""
    os.killpg(process.pid, signal.SIGINT)
