"""A real vLLM for tests: its configuration, and `sim serve` with it as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[3]
START_LIMIT_S, STOP_LIMIT_S = 300.0, 90.0
ENVIRONMENT = {
    "HF_HUB_OFFLINE": 1,
    "VLLM_NO_USAGE_STATS": 1,
    "VLLM_SERVER_DEV_MODE": 1,  # /reset_prefix_cache
    "VLLM_CPU_KVCACHE_SPACE": 1,  # GiB
    "VLLM_ENABLE_V1_MULTIPROCESSING": 0,  # the worker in the engine's process: a process more brings tokens in clumps
    "OMP_NUM_THREADS": 1,
}
ARGUMENTS = {
    "max-model-len": 65_536,
    "max-num-seqs": 32,
    "enforce-eager": True,
    "enable-prefix-caching": True,
    "enable-prompt-tokens-details": True,
    "enable-auto-tool-choice": True,
    "tool-call-parser": "hermes",
}
RANDOM_WEIGHTS = {"load-format": "dummy"}


def config_file(
    path: Path, venv: Path, model: Path, args: Mapping[str, Any], env: Mapping[str, Any] | None = None
) -> Path:
    """Writes an engine's configuration: the vLLM of `venv` serving the model's folder under the folder's name. args,
    env: beside what all of them have."""
    content = {
        "engine": "vllm",
        "command": f"{venv / 'bin' / 'vllm'} serve",
        "model": {"path": str(model)},
        "args": {**ARGUMENTS, **args},
        "env": {**ENVIRONMENT, **(env or {})},
        "ready_limit_s": START_LIMIT_S,
    }
    path.write_text(json.dumps(content, indent=1))  # which is YAML too
    return path


@dataclass(frozen=True, slots=True)
class Server:
    """url: without /v1. pid: of the engine itself. said: what `sim serve` printed when it was up."""

    url: str
    model: str
    pid: int
    log: Path
    said: str


@contextlib.contextmanager
def serving(config: Path, model: str) -> Iterator[Server]:
    """`sim serve`, until it answers and to its end. Raises RuntimeError with what it printed when it does not come
    up."""
    log = config.with_suffix(".log")
    process = subprocess.Popen(
        [sys.executable, "-m", "simulator.cli.main", "serve", str(config), "--log", str(log)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("Ctrl-C"):
                break
        up = re.search(r" at (http://\S+)/v1 after .*\n  process (\d+):", said)
        if up is None:
            raise RuntimeError(said)
        yield Server(up[1], model, int(up[2]), log, said)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def kill(pid: int) -> None:
    """As the kernel does when memory runs out: at once, the engine and what it started."""
    engine = psutil.Process(pid)
    for each in (engine, *engine.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()


def gone(pid: int, limit_s: float = 20.0) -> bool:
    deadline = time.monotonic() + limit_s
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not psutil.pid_exists(pid)
