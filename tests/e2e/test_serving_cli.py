"""`sim serve` and `sim run --engine CONFIG` as a user starts them: a whole life, a start that fails, an engine that is
killed, Ctrl-C while it starts."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import psutil
import pytest
from sim import Sim, interrupt, none_left, wait_for

HERE = Path(__file__).resolve().parent
FAKE = HERE.parent / "engine/serving/fake_vllm.py"
SYNTHETIC = """\
name: only
sessions: 0
warmup: {requests: 1}
time_limit_s: 60
synthetic: {input_tok: 64, output_tok: 16, concurrency: 4, requests: 12, warmup_requests: 1}
"""
FAKE_CONFIG = f"""\
command: {sys.executable} {FAKE} serve
model: {{path: model, served: fake}}
args: {{max-model-len: 4096, enable-prefix-caching: true, async-scheduling: true}}
env: {{OMP_NUM_THREADS: 1}}
why: A server without an engine.
"""


@pytest.fixture
def sim(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Sim:
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text('{"max_position_embeddings": 8192}')
    (tmp_path / "model/tokenizer.json").write_text("{}")
    (tmp_path / "fake.yaml").write_text(FAKE_CONFIG)
    (tmp_path / "top.yaml").write_text("engine: embedded\nparams: top\nwhy: The default.\n")
    (tmp_path / "only.yaml").write_text(SYNTHETIC)
    return Sim(tmp_path, tmp_path_factory.getbasetemp() / "serving-cache")


def test_a_run_starts_its_engine_and_its_manifest_says_which(sim: Sim) -> None:
    code, said = sim.run("run", "only.yaml", "--plain", "--engine", "top.yaml", "--out", "r")
    assert code == 0, said
    told = json.loads((sim.folder / "r/manifest.json").read_text())["engine"]
    assert (told["kind"], told["config"], told["why"], told["random_weights"]) == (
        "emulated",
        "top",
        "The default.",
        False,
    )
    assert (
        told["settings"]["mamba_ssm_cache_dtype"] == "float16" and "--params" in told["argv"] and told["config_sha256"]
    )
    assert "EMULATED" in said and (sim.folder / "r/engine.log").exists() and none_left(str(sim.folder))


@pytest.mark.parametrize(
    ("who", "engine", "death"),
    [
        ("engine", ["--engine", "top.yaml"], "was ended by SIGKILL: "),
        ("engine", [], "was ended by SIGKILL; "),
        ("guard", ["--engine", "top.yaml"], "was stopped because its guard (process "),
    ],
)
def test_an_engine_that_dies_leaves_what_came_before_and_no_whole_run(
    sim: Sim, who: str, engine: list[str], death: str
) -> None:
    """Few requests are left then, which fail in milliseconds: the run is over at once."""
    (sim.folder / "only.yaml").write_text(SYNTHETIC.replace("requests: 12", "requests: 300"))
    process = sim.start("run", "only.yaml", "--plain", *engine, "--out", "r")
    wait_for(sim.folder / "r/records.jsonl", 5)
    pid = json.loads((sim.folder / "r/manifest.json").read_text())["engine"]["pid"]
    killed = psutil.Process(pid) if who == "engine" else psutil.Process(pid).parent()
    assert killed is not None
    killed.kill()
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 3, said
    last = said.strip().splitlines()[-1]
    assert last.startswith("sim: http://127.0.0.1:") and f"stopped taking connections; the engine {death}" in last
    assert last.endswith("r holds what came before") and none_left(str(sim.folder))
    manifest = json.loads((sim.folder / "r/manifest.json").read_text())
    assert manifest["stopped"] == "engine gone" and manifest["engine_death"].startswith(death)
    assert f"before the run's end: the engine {death}" in (sim.folder / "r/report.md").read_text()


def test_a_start_that_fails_is_one_sentence_and_its_log_stays(sim: Sim) -> None:
    (sim.folder / "said").write_text("ValueError: No available memory for the cache blocks.\n")
    (sim.folder / "bad.yaml").write_text(f"extends: fake.yaml\nenv: {{FAKE_CASE: 'log:{sim.folder}/said'}}\n")
    code, said = sim.run("run", "only.yaml", "--plain", "--engine", "bad.yaml", "--out", "r")
    assert code == 3 and [p.name for p in (sim.folder / "r").iterdir()] == ["engine.log"]
    last = said.strip().splitlines()[-1]
    assert last.startswith("sim: bad did not start: the engine ended with exit code 1: the weights leave no memory")
    assert "Traceback" not in said
    assert sim.run("run", "only.yaml", "--plain", "--engine", "bad.yaml", "--out", "r")[0] == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "only.yaml", "--engine", "tpo.yaml"], "tpo.yaml: no such engine configuration; did you mean top?"),
        (["serve", "wrong.yaml"], "has no flag --async-schedulin; did you mean async-scheduling?"),
    ],
)  # fmt: skip
def test_bad_input_starts_nothing(sim: Sim, arguments: list[str], words: str) -> None:
    (sim.folder / "wrong.yaml").write_text("extends: fake.yaml\nargs: {async-schedulin: true}\n")
    code, said = sim.told(*arguments)
    assert code == 2 and words in said.strip().splitlines()[-1] and "Traceback" not in said, said
    assert not (sim.folder / "reports").exists() or not any((sim.folder / "reports/runs").iterdir())


def test_serve_ends_with_its_engine_when_the_guard_is_killed(sim: Sim) -> None:
    process = sim.start("serve", "fake.yaml")
    assert process.stdout is not None
    while "Ctrl-C" not in (line := process.stdout.readline()):
        assert line
    (guard,) = psutil.Process(process.pid).children()
    guard.kill()
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 3 and none_left(str(sim.folder))
    last = said.strip().splitlines()[-1]
    assert last.startswith("sim: fake: the engine was stopped because its guard (process "), said
    assert "memory" not in last


def test_serve_runs_until_ctrl_c(sim: Sim) -> None:
    process = sim.start("serve", "fake.yaml")
    assert process.stdout is not None
    told = ""
    while "Ctrl-C" not in told:
        told += process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=200)
    assert (
        process.returncode == 0 and "vLLM 0.32.0: fake serves fake at http://127.0.0.1:" in told and "stopping" in rest
    )
    assert none_left(str(sim.folder))


@pytest.mark.parametrize(
    "arguments", [["serve", "slow.yaml"], ["run", "only.yaml", "--engine", "slow.yaml", "--out", "r"]]
)
def test_ctrl_c_while_it_starts_leaves_nothing(sim: Sim, arguments: list[str]) -> None:
    log = sim.folder / ("r/engine.log" if arguments[0] == "run" else "log")
    (sim.folder / "slow.yaml").write_text("extends: fake.yaml\nenv: {FAKE_CASE: slow}\n")
    process = sim.start(*arguments, *(["--log", "log"] if arguments[0] == "serve" else []))
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and not (log.exists() and b"worker" in log.read_bytes()):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 130 and "Traceback" not in said, said
    assert none_left(str(sim.folder)) and not (sim.folder / "r").exists()


def test_ctrl_c_while_a_run_is_prepared_ends_it_as_at_any_other_time(sim: Sim) -> None:
    """Between the engine's start and the first request: what is imported there takes half a second."""
    process = sim.start("run", "only.yaml", "--plain", "--engine", "top.yaml", "--out", "r")
    wait_for(sim.folder / "r/manifest.json")
    interrupt(process)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in said, said
    assert json.loads((sim.folder / "r/manifest.json").read_text())["stopped"] == "interrupted"
    assert "interrupted" in (sim.folder / "r/report.md").read_text() and none_left(str(sim.folder))


def test_a_dry_run_says_what_would_be_started(sim: Sim) -> None:
    told = {}
    for config, *more in (["top"], ["top", "--gpu-mib", "40000"], ["top.yaml"]):
        told[config, *more] = sim.told("serve", config, "--dry-run", *more)
    assert [code for code, _ in told.values()] == [0, 2, 0]
    assert "--mamba-ssm-cache-dtype float16" in told["top",][1] and "RANDOM WEIGHTS" in told["top",][1]
    assert "refused      the weights take 61.3 GiB" in told["top", "--gpu-mib", "40000"][1]
    assert "EMULATED" in told["top.yaml",][1] and "OMP_NUM_THREADS=1" in told["top",][1]


def test_the_command_of_a_dry_run_starts_as_it_is_printed(sim: Sim) -> None:
    said = sim.told("serve", "fake.yaml", "--dry-run")[1]
    model = re.search(r"model +(\S+) as (\S+)", said)
    assert model is not None
    assert (
        f"{FAKE} serve {model[1]} --" in said and f"--served-model-name {model[2]} --host 127.0.0.1 --port 8000" in said
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    said = sim.told("serve", "embedded:top", "--dry-run", "--port", str(port))[1]
    command = next(line.split(None, 1)[1] for line in said.splitlines() if line.startswith("  command"))
    with subprocess.Popen(shlex.split(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as engine:
        try:
            for _ in range(600):
                with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
                    assert answer.status == 200
                    break
                assert engine.poll() is None, "it ended"
                time.sleep(0.1)
            else:
                raise AssertionError("it does not answer")
        finally:
            engine.kill()
