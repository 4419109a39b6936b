from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import aiohttp
import psutil
import pytest

from simulator.engine.embedded.__main__ import build, parse
from simulator.engine.embedded.config import DEFAULT_PARAMS, load_params
from simulator.engine.embedded.faults import Faults, load_faults
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
import asyncio, os, pathlib, time
from simulator.engine.embedded.faults import load_faults
from simulator.engine.launch import start_embedded
async def main():
    engine = await start_embedded(None, pathlib.Path({str(tmp_path / "log")!r}), seed=0)
    if not os.fork():  # a child that lives on with all of the parent's pipes
        os.closerange(1, 3)
        time.sleep(15)
        os._exit(0)
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
    ("text", "words"),
    [
        ("max_num_seq: 8", "unknown key 'max_num_seq', did you mean 'max_num_seqs'"),
        ("reply: {sigmas: 0.7}", "unknown key 'reply.sigmas', did you mean 'sigma'"),
        ("block_size: 0", "'block_size': .*greater than or equal to 1"),
        ("block_size: 64", "block_size 64 is smaller than a recurrent state's page, 1072 tokens"),
        ("acceptance_length: 2.5", "acceptance_length 2.5 is more than 1 drafts"),
        ("acceptance_rates: [0.8]", "say the same thing; leave one of them out"),
        ("acceptance_length: null\nacceptance_rates: [0.8, 0.5]", "acceptance_rates has 2 values for 1 drafts"),
        (
            "acceptance_length: null\nnum_speculative_tokens: 2\nacceptance_rates: [0.5, 0.8]",
            "acceptance_rates must not rise",
        ),
        ("mamba_cache_mode: none", "nothing could ever hit; choose align or all"),
        ("hardware: h900_30b_a3b.yaml", "h900_30b_a3b.yaml: cannot be read"),
        ("max_num_batched_tokens: 100", "max_num_batched_tokens 100 is less than one"),
        ("model: null", "key 'model' is missing"),
        (
            "extends: settings.yaml",
            "settings.yaml: extends settings.yaml, which extends this file again; end the circle",
        ),
        ("extends: [top.yaml]", "'extends' must name a file"),
        ("extends: nowhere.yaml", "nowhere.yaml: cannot be read"),
        ("api_server_count: 1000000000", "'api_server_count': .*less than or equal to 256"),
        ("max_num_seqs: 1000000000", "'max_num_seqs': .*less than or equal to"),
        ("max_model_len: 1000000000", "'max_model_len': .*less than or equal to"),
        ("max_num_batched_tokens: 1000000000", "'max_num_batched_tokens': .*less than or equal to"),
        ("num_speculative_tokens: 1000", "'num_speculative_tokens': .*less than or equal to 16"),
        ("num_gpu_blocks: 1000000000", "'num_gpu_blocks': .*less than or equal to"),
        ("block_size: 1000000000", "'block_size': .*less than or equal to"),
        ("reply: {max_tok: 1000000000}", "'reply.max_tok': .*less than or equal to"),
        ("reply: {sigma: .inf}", "'reply.sigma': input should be"),
        ("max_num_seqs: 8\nmax_num_seqs: 9", r"settings.yaml:3: key `max_num_seqs` is given twice; keep one"),
        ("reply: {sigma: 0.1, sigma: 0.2}", "key `sigma` is given twice"),
        ("reply: &r {sigma: 0.1}\nmodel: *r", r"settings.yaml:3: `\*r` is an alias"),
        ("extends: top.yaml\nmodel: 2026-13-45", "a value that YAML cannot read"),
        ("extends: [", "settings.yaml:1: not valid YAML"),
        (f"extends: {'x' * 200_000}", "200,009 characters are no settings"),
    ],
)
def test_a_wrong_settings_file_is_told_by_file_and_key(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(text if text.startswith("extends") else f"extends: top.yaml\n{text}\n")
    with pytest.raises(UsageError, match=words) as caught:
        load_params(path)
    assert ".yaml" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [load_params, load_faults])
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\xff" * 500_000])
def test_a_binary_file_is_told(tmp_path: Path, read: Callable[[Path], object], content: bytes) -> None:
    path = tmp_path / "binary"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"binary: (is no UTF-8 text|500,\d+|400,001 characters)") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_a_chain_of_files_has_an_end(tmp_path: Path) -> None:
    def chain(n: int) -> Path:
        for number in range(n):
            named = f"{number + 1}.yaml" if number + 1 < n else "top.yaml"
            (tmp_path / f"{number}.yaml").write_text(f"extends: {named}\n")
        return tmp_path / "0.yaml"

    assert load_params(chain(8)) == load_params()
    with pytest.raises(UsageError, match=r"15\.yaml: extends 16\.yaml as more than the 16th file in a row"):
        load_params(chain(1500))


def test_a_gpu_of_too_many_blocks_is_told(tmp_path: Path) -> None:
    (tmp_path / "gpu.yaml").write_text("extends: h100_8b.yaml\ngpu: {memory_bytes: 17000000000000}\n")
    (tmp_path / "settings.yaml").write_text("extends: dense.yaml\nhardware: gpu.yaml\nblock_size: 1\n")
    with pytest.raises(UsageError, match=r"blocks of 1 tokens; at most 2,000,000 are emulated: raise block_size"):
        build(parse(["--params", str(tmp_path / "settings.yaml")]))


def test_a_settings_file_states_what_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: top.yaml\nmamba_cache_mode: all\nreply: {sigma: 0.1}\n")
    mine, top = load_params(path), load_params()
    assert mine.block_size == 1152 and mine.reply.sigma == 0.1 and mine.reply.median_tok == top.reply.median_tok
    same = {"mamba_cache_mode": top.mamba_cache_mode, "block_size": top.block_size, "reply": top.reply}
    assert mine.model_copy(update=same) == top


def test_a_key_variable_that_is_not_set_is_told() -> None:
    with pytest.raises(UsageError, match="SIM_TEST_NO_SUCH_KEY is not set"):
        build(parse(["--api-key-env", "SIM_TEST_NO_SUCH_KEY"]))


def test_settings_may_name_a_fault_schedule_beside_them(tmp_path: Path) -> None:
    (tmp_path / "faults.yaml").write_text("rules: [{kind: status, status: 503, at: [2]}]\n")
    settings = tmp_path / "settings.yaml"
    settings.write_text(DEFAULT_PARAMS.read_text() + "faults: faults.yaml\nnum_gpu_blocks: 4096\n")
    faults = build(parse(["--params", str(settings)])).generator.faults
    met = [faults.meet(chat=True, body=b"", now_s=0.0) for _ in range(4)]
    assert [rule is None for rule in met] == [True, True, False, True]


def test_faults_by_probability_repeat_by_seed_and_differ_between_seeds(tmp_path: Path) -> None:
    path = tmp_path / "faults.yaml"

    def hit(seed: int) -> list[int]:
        path.write_text(f"seed: {seed}\nrules: [{{kind: cut, probability: 0.2}}]\n")
        faults = Faults(load_faults(path))
        return [n for n in range(1000) if faults.meet(chat=True, body=b"", now_s=0.0)]

    assert hit(1) == hit(1) != hit(2)
    assert 140 < len(hit(1)) < 260
    path.write_text("rules: [{kind: cut}]\n")
    with pytest.raises(UsageError, match="never applies"):
        load_faults(path)
