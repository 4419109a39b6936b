"""Running a client against the reference server, and what the operating system says that it cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SERVER = Path(__file__).with_name("reference.py")


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a finished process and those of its children that it waited for. output: the end of what it printed."""

    exit_code: int
    user_s: float
    system_s: float
    wall_s: float
    rss_mb: float
    output: str

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


def run(command: Sequence[str], limit_s: float = 120.0, environment: Mapping[str, str] | None = None) -> Cost:
    """Kills the command, with whatever it started, when it takes longer than limit_s."""
    with tempfile.TemporaryFile() as printed:
        started_s = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        status, usage = _wait(process.pid, started_s + limit_s)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.monotonic() - started_s
        printed.seek(max(0, printed.tell() - 20_000))
        text = printed.read().decode(errors="replace")
    return Cost(process.returncode, usage.ru_utime, usage.ru_stime, wall_s, usage.ru_maxrss / 1024, text)


def _wait(pid: int, until_s: float) -> tuple[int, Any]:
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return status, usage
        if time.monotonic() > until_s:
            os.killpg(pid, 9)
            until_s = float("inf")
        time.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Server:
    """A reference server that runs."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def truth(self, *, clear: bool = False) -> Truths:
        with urllib.request.urlopen(self.url + "/truth" + ("?clear=1" if clear else ""), timeout=30) as answer:
            told = json.load(answer)
        return Truths(told["requests"], told["late_s"], told["cpu_s"], told["tokens"])


@dataclass(frozen=True, slots=True)
class Truths:
    """What the reference server did: requests as reference.Truth says, its lateness, its CPU so far."""

    requests: list[dict[str, Any]]
    late_s: dict[str, float]
    cpu_s: float
    tokens: int

    def of(self, tok: int) -> list[dict[str, Any]]:
        """Those that asked for so many tokens and got them: warm-ups ask for others."""
        return [r for r in self.requests if r["tok"] == tok and r["done"]]


def ttft_ms(requests: Sequence[Mapping[str, Any]]) -> np.ndarray:
    return np.array([1e3 * (r["t_first_s"] - r["t_received_s"]) for r in requests])


def tpot_ms(requests: Sequence[Mapping[str, Any]]) -> np.ndarray:
    spans = [(r["t_last_s"] - r["t_first_s"], r["tok"] - r["first_tok"]) for r in requests]
    return np.array([1e3 * span / rest for span, rest in spans if rest])


def tok_s(requests: Sequence[Mapping[str, Any]]) -> float:
    """From the first request to the last token, as most tools divide."""
    wall_s = max(r["t_last_s"] for r in requests) - min(r["t_received_s"] for r in requests)
    return sum(r["tok"] for r in requests) / wall_s


@contextmanager
def serving(ttft_ms: float, itl_ms: float, *extra: str) -> Iterator[Server]:
    command = [sys.executable, str(SERVER), "--ttft-ms", str(ttft_ms), "--itl-ms", str(itl_ms), *extra]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    try:
        yield Server(json.loads(process.stdout.readline())["port"])
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(10)


def marginal_us(short: Sequence[Cost], long: Sequence[Cost], tokens: int) -> float:
    """CPU a token: the cheapest long run less the cheapest short one, over the tokens between them. Whatever else the
    machine did can only have added."""
    return 1e6 * (min(c.cpu_s for c in long) - min(c.cpu_s for c in short)) / tokens
