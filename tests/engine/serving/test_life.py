"""An engine's life with real processes: ready, itself until the end, and gone with all that it started."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sys
from pathlib import Path

import aiohttp
import psutil
import pytest
from serving_cases import config_file

from simulator.engine.serving.config import load_config
from simulator.engine.serving.gpu import Gpu, parse, visible
from simulator.engine.serving.life import Engine, started
from simulator.engine.serving.process import end_group
from simulator.errors import EngineError, UsageError


def worker(log: Path) -> int:
    found = re.search(r"^worker (\d+)$", log.read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


async def ended_by_itself(engine: Engine) -> None:
    for _ in range(200):
        if not engine.alive:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the engine lives")


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def test_a_server_is_ready_itself_and_gone_with_its_worker(tmp_path: Path) -> None:
    config, log = load_config(config_file(tmp_path, "env: {MY_TOKEN: s3cret, OMP_NUM_THREADS: 2}\n")), tmp_path / "log"
    async with started(config, log=log) as engine:
        told = engine.identity
        assert engine.alive and psutil.pid_exists(worker(log)) and await engine.changed() == []
        assert os.getpgid(engine.pid) == engine.pid != os.getpgid(0)
        async with aiohttp.ClientSession() as session, session.get(f"{engine.url}/models") as answer:
            assert (await answer.json(content_type=None))["data"][0]["id"] == engine.model == "fake"
        assert (told["kind"], told["version"], told["random_weights"], told["config"]) == (
            "real",
            "0.32.0",
            False,
            "fake",
        )
        assert told["argv"][-2:] == ["--port", engine.url.split(":")[2].removesuffix("/v1")]
        assert told["env"]["OMP_NUM_THREADS"] == "2" and told["env"]["MY_TOKEN"] == "***"
        assert "s3cret" not in json.dumps(told) and told["cache_config"]["num_gpu_blocks"] == "9047"
        pids = engine.pid, worker(log)
    assert all(map(gone, pids)) and not engine.alive


async def test_one_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    config, log = load_config(config_file(tmp_path, "env: {FAKE_CASE: deaf}\n")), tmp_path / "log"
    async with started(config, log=log, term_s=0.3) as engine:
        pids = engine.pid, worker(log)
    assert all(map(gone, pids))


@pytest.mark.parametrize(
    ("end", "case"), [("stopped", "leaves deaf"), ("crashed", "leaves deaf"), ("guard killed", "leaves")]
)
async def test_what_has_left_the_group_goes_as_well(tmp_path: Path, end: str, case: str) -> None:
    """A child in a session of its own, a daemon whose parents are gone, and its child; and nobody else's process,
    though it is a child of ours in a session of its own, too."""
    config, log = load_config(config_file(tmp_path, f"env: {{FAKE_CASE: {case}}}\n")), tmp_path / "log"
    other = await asyncio.create_subprocess_exec("sleep", "300", start_new_session=True)
    said: list[str] = []
    try:
        async with started(config, log=log, term_s=0.5, say=said.append) as engine:
            pids = [int(pid) for pid in re.findall(r"^left (\d+)$", log.read_text(), re.MULTILINE)]
            assert len(pids) == 3 and not any(map(gone, pids))
            server = psutil.Process(engine.pid)
            if end == "crashed":
                server.kill()
                await ended_by_itself(engine)
                assert not any(map(gone, pids)), "an engine's death is told before the last of it is gone"
            if end == "guard killed" and (guard := server.parent()):
                guard.kill()
                await ended_by_itself(engine)
        assert all(map(gone, [*pids, server.pid, worker(log)])) and other.returncode is None
        assert not any("could not be ended" in line for line in said)
    finally:
        other.kill()
        await other.wait()


async def test_requests_in_flight_are_waited_for(tmp_path: Path) -> None:
    config = load_config(config_file(tmp_path, "env: {FAKE_RUNNING: 8}\n"))
    asked: list[float] = []
    async with started(config, log=tmp_path / "log") as engine:
        async with aiohttp.ClientSession() as session:
            for _ in range(2):
                async with session.get(f"{engine.root}/metrics") as answer:
                    asked.append(float(re.findall(r"running\{.*\} (\S+)", await answer.text())[0]))
        begun = asyncio.get_running_loop().time()
    assert asked[0] > asked[1] > 0 and asyncio.get_running_loop().time() - begun >= 0.4


async def test_another_engine_at_the_end_is_told(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    config = load_config(config_file(tmp_path, f"env: {{FAKE_OTHER: {flag}}}\n"))
    async with started(config, log=tmp_path / "log") as engine:
        flag.touch()
        assert await engine.changed() == ["cache_config.num_gpu_blocks 9047 then, 9048 now"]
        os.kill(engine.pid, signal.SIGKILL)
        await ended_by_itself(engine)
        told = await engine.changed()
        assert len(told) == 1 and "the engine was ended by SIGKILL" in told[0] and gone(worker(tmp_path / "log"))


async def test_an_engine_that_serves_another_model_is_refused_and_gone(tmp_path: Path) -> None:
    config, log = load_config(config_file(tmp_path, "env: {FAKE_MODEL: other}\n")), tmp_path / "log"
    with pytest.raises(EngineError, match=r"^fake: it serves other and not `fake`"):
        async with started(config, log=log):
            pass
    assert gone(worker(log))


async def test_a_port_in_use_is_told_with_its_holder(tmp_path: Path) -> None:
    config, log = load_config(config_file(tmp_path)), tmp_path / "log"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} is in use by process {os.getpid()} \("):
            async with started(config, port=port, log=log):
                pass
    assert not log.exists()
    async with started(config, port=port, log=log) as engine:
        assert engine.url == f"http://127.0.0.1:{port}/v1"


async def test_no_such_command(tmp_path: Path) -> None:
    config = load_config(config_file(tmp_path, "command: no-such-vllm serve\n"))
    with pytest.raises(UsageError, match="no-such-vllm: no such command; install vLLM, or say in `command`"):
        async with started(config, log=tmp_path / "log"):
            pass


async def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    config, log = load_config(config_file(tmp_path, "ready_limit_s: 1.5\nenv: {FAKE_CASE: slow}\n")), tmp_path / "log"
    with pytest.raises(EngineError, match=r"fake did not start within 1.5 s; its log \(.*\) ends with: .*worker"):
        async with started(config, log=log):
            pass
    assert gone(worker(log))


@pytest.mark.parametrize("when", ["starting", "serving"])
async def test_it_goes_when_whoever_started_it_is_killed(tmp_path: Path, when: str) -> None:
    slow = "env: {FAKE_CASE: slow}\n" if when == "starting" else ""
    config, log = config_file(tmp_path, slow), tmp_path / "log"
    program = f"""
import asyncio, pathlib
from simulator.engine.serving.config import load_config
from simulator.engine.serving.life import started
async def main():
    async with started(load_config({str(config)!r}), log=pathlib.Path({str(log)!r})) as engine:
        await asyncio.sleep(60)
asyncio.run(main())
"""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    try:
        for _ in range(400):
            if log.exists() and "worker" in log.read_text():
                break
            await asyncio.sleep(0.05)
        left = [*psutil.Process(parent.pid).children(recursive=True), psutil.Process(worker(log))]
        assert len(left) >= 3  # guard, server, worker
    finally:
        parent.kill()
        await parent.wait()
    for _ in range(200):
        if all(gone(process.pid) for process in left):
            return
        await asyncio.sleep(0.05)
    raise AssertionError([process for process in left if not gone(process.pid)])


async def test_it_goes_when_its_guard_is_killed(tmp_path: Path) -> None:
    async with started(load_config(config_file(tmp_path)), log=tmp_path / "log") as engine:
        pids = engine.pid, worker(tmp_path / "log")
        (guard,) = (each for each in psutil.Process().children() if "guard.py" in " ".join(each.cmdline()))
        guard.kill()
        await ended_by_itself(engine)
        told = engine.death()
        assert told.startswith(f"was stopped because its guard (process {guard.pid}) was ended by SIGKILL"), told
    assert all(map(gone, pids))


async def test_a_group_without_a_guard_is_killed_where_it_does_not_listen() -> None:
    """Also what its first process has left behind."""
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"
    program = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {deaf!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    assert server.stdout is not None
    known, child = psutil.Process(server.pid), int(await server.stdout.readline())
    assert await end_group(known, "none has this mark", patience_s=0.3) == []
    assert await server.wait() == -signal.SIGTERM and gone(child)


async def test_the_embedded_engine_is_started_the_same_way(tmp_path: Path) -> None:
    async with started(load_config("embedded:baseline"), log=tmp_path / "log", seed=3) as engine:
        told = engine.identity
        assert (told["kind"], told["config"], told["params"], told["seed"]) == (
            "emulated",
            "baseline",
            "baseline.yaml",
            3,
        )
        assert told["settings"]["async_scheduling"] is False and await engine.changed() == []
    assert gone(engine.pid)


SMI = """\
0, GPU-aa11, NVIDIA H200, 580.159.03, 143771, 4, 9.0
1, GPU-bb22, NVIDIA H200, 580.159.03, 143771, 1200, 9.0
[Not Supported], x
"""


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [(None, [0, 1]), ("1", [1]), ("1,0", [1, 0]), ("GPU-bb", [1]), ("", []), ("0,7,1", [0]), ("-1", [])],
)
def test_gpus_that_are_visible(chosen: str | None, expected: list[int]) -> None:
    found = parse(SMI)
    assert found[0] == Gpu(0, "GPU-aa11", "NVIDIA H200", "580.159.03", 143771, 4, (9, 0))
    assert [gpu.index for gpu in visible(found, chosen)] == expected
