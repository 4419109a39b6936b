"""A real vLLM as a process of its own, for tests: started, waited for, and ended."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

START_LIMIT_S = 240.0
STOP_LIMIT_S = 20.0
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_SERVER_DEV_MODE": "1",  # /reset_prefix_cache
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # on two cores, tokens of an engine process of its own come in clumps
    "OMP_NUM_THREADS": "1",
}
ARGUMENTS = (
    "--host", "127.0.0.1", "--max-model-len", "65536", "--max-num-seqs", "32", "--enforce-eager",
    "--enable-prefix-caching", "--enable-prompt-tokens-details",
    "--enable-auto-tool-choice", "--tool-call-parser", "hermes",
)  # fmt: skip
RANDOM_WEIGHTS = ("--load-format", "dummy")


@dataclass(frozen=True, slots=True)
class Server:
    """url: without /v1. process: leader of a process group of its own."""

    url: str
    model: str
    log: Path
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """As the kernel does when memory runs out: at once, the whole group."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(STOP_LIMIT_S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(
    venv: Path, folder: Path, log: Path, *extra: str, port: int, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """`vllm serve FOLDER` under the folder's name; what it prints goes to `log`."""
    command = [str(venv / "bin" / "vllm"), "serve", str(folder), "--served-model-name", folder.name]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VLLM_", "PYTHON", "OPENAI"))}
    with log.open("wb") as out:
        return subprocess.Popen(
            [*command, "--port", str(port), *ARGUMENTS, *extra],
            env={**kept, **ENVIRONMENT, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


@contextlib.contextmanager
def serving(venv: Path, folder: Path, log: Path, *extra: str) -> Iterator[Server]:
    """A server that answers. Raises RuntimeError with the end of its log when it does not come up."""
    port = free_port()
    process = start(venv, folder, log, *extra, port=port)
    server = Server(f"http://127.0.0.1:{port}", folder.name, log, process)
    try:
        _wait_until_it_answers(server)
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            server.kill()


def _wait_until_it_answers(server: Server) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline and server.process.poll() is None:
        with contextlib.suppress(OSError, urllib.error.URLError):
            if urllib.request.urlopen(f"{server.url}/health", timeout=5).status == 200:
                return
        time.sleep(0.2)
    ended = server.process.poll()
    said = " | ".join(server.log.read_text(errors="replace").strip().splitlines()[-8:])
    raise RuntimeError(f"vLLM {'did not answer' if ended is None else f'ended with {ended}'}: {said[-1500:]}")
