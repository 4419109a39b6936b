from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import psutil
import pytest

from simulator.engine.embedded.config import DEFAULT_PARAMS, load_params
from simulator.engine.launch import start_embedded
from simulator.engine.scrape import scrape
from simulator.errors import EngineError, UsageError


async def test_it_starts_answers_and_ends(tmp_path: Path) -> None:
    first, second = await asyncio.gather(
        *(start_embedded(None, tmp_path / f"{n}.log", seed=n) for n in range(2)),
    )
    assert first.base_url != second.base_url and first.pid != second.pid
    assert os.getpgid(first.pid) not in (os.getpgid(0), os.getpgid(second.pid))
    async with aiohttp.ClientSession() as session:
        assert "vllm:num_requests_running" in await scrape(session, first.metrics_url)
        told = first.identity()
        assert (told["kind"], told["seed"], told["params"]) == ("emulated", 0, "top.yaml")
        await first.stop()
        assert not psutil.pid_exists(first.pid) and second.alive
        with pytest.raises(EngineError, match="is the engine running"):
            await scrape(session, first.metrics_url)
    os.kill(second.pid, signal.SIGSTOP)  # one that does not listen to SIGTERM
    await second.stop(limit_s=0.2)
    assert not second.alive


async def test_an_engine_ends_with_its_parent(tmp_path: Path) -> None:
    program = f"""
import asyncio, pathlib
from simulator.engine.launch import start_embedded
async def main():
    engine = await start_embedded(None, pathlib.Path({str(tmp_path / "log")!r}), seed=0)
    print(engine.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    assert psutil.pid_exists(pid)
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(10):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_start_that_fails_shows_the_engine_s_own_words(tmp_path: Path) -> None:
    small = tmp_path / "small.yaml"
    small.write_text(DEFAULT_PARAMS.read_text() + "num_gpu_blocks: 10\n")
    with pytest.raises(EngineError, match=r"did not start; its log .* cannot hold one request of max_model_len"):
        await start_embedded(small, tmp_path / "log", seed=0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("max_num_seqs:", "max_num_seq:", "unknown key 'max_num_seq', did you mean 'max_num_seqs'"),
        ("sigma: 0.7", "sigmas: 0.7", "unknown key 'reply.sigmas', did you mean 'sigma'"),
        ("block_size: 64", "block_size: 0", "'block_size': .*greater than or equal to 1"),
        ("acceptance_length: 1.8", "acceptance_length: 2.5", "acceptance_length 2.5 is more than 1 drafts"),
        ("hardware: h200", "hardware: h900", "h900_30b_a3b.yaml: cannot be read"),
        ("num_batched_tokens: 8192", "num_batched_tokens: 100", "max_num_batched_tokens 100 is less than one"),
        ("model: embedded-30b-a3b\n", "", "key 'model' is missing"),
    ],
)
def test_a_wrong_settings_file_is_told_by_file_and_key(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = DEFAULT_PARAMS.read_text()
    assert old in text
    path = tmp_path / "settings.yaml"
    path.write_text(text.replace(old, new))
    with pytest.raises(UsageError, match=words) as caught:
        load_params(path)
    assert ".yaml" in str(caught.value) and "\n" not in str(caught.value)
