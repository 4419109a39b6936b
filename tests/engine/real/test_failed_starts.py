"""A real vLLM that does not start: one sentence with the cause, nothing left behind."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import served
from sim import Sim, none_left

SCENARIO = "name: short\nsynthetic: {input_tok: 64, output_tok: 8, concurrency: 2, requests: 4, warmup_requests: 0}\n"


def refused(sim: Sim, config: Path, *codes: int) -> str:
    """The one sentence of a `sim run` whose engine does not start."""
    mark = str(sim.folder)
    asked = ("run", sim.scenario(SCENARIO), "--engine", config, "--out", "out", "--plain")
    ended, said = sim.run(*asked, limit_s=400, MARK=mark)
    assert ended in codes and "Traceback" not in said, said
    assert none_left(mark)
    last = said.strip().splitlines()[-1]
    assert last.startswith("sim: "), said
    return last


def test_a_flag_that_this_vllm_has_not(sim: Sim, venv: Path, tiny: Path) -> None:
    flags = {**served.RANDOM_WEIGHTS, "enable-prefix-cachign": True}
    said = refused(sim, served.config_file(sim.folder / "typo.yaml", venv, tiny, flags), 2, 3)
    assert "enable-prefix-cachign" in said


def test_a_model_without_a_tokenizer(sim: Sim, venv: Path, tiny: Path) -> None:
    """Known before the start."""
    bare = sim.folder / "bare"
    bare.mkdir()
    shutil.copy(tiny / "config.json", bare)
    said = refused(sim, served.config_file(sim.folder / "bare.yaml", venv, bare, served.RANDOM_WEIGHTS), 2)
    assert "tokenizer" in said


def test_a_tokenizer_that_is_none(sim: Sim, venv: Path, tiny: Path) -> None:
    """Known to vLLM alone."""
    broken = sim.folder / "broken"
    shutil.copytree(tiny, broken)
    (broken / "tokenizer.json").write_text("{}")
    said = refused(sim, served.config_file(sim.folder / "broken.yaml", venv, broken, served.RANDOM_WEIGHTS), 3)
    assert "tokenizer.json is damaged" in said


def test_a_model_that_is_not_there(sim: Sim, venv: Path) -> None:
    nowhere = sim.folder / "nowhere"
    said = refused(sim, served.config_file(sim.folder / "nowhere.yaml", venv, nowhere, {}), 2)
    assert f"model.path {nowhere} is not there" in said


def test_weights_that_are_not_there(sim: Sim, venv: Path, tiny: Path) -> None:
    """The hybrid's folder has none, and vLLM is not told to make some up."""
    said = refused(sim, served.config_file(sim.folder / "bare.yaml", venv, tiny, {}), 3)
    assert "no weights there" in said.partition("its log")[0]


def test_a_port_in_use(sim: Sim, venv: Path, tiny: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        config = served.config_file(sim.folder / "tiny.yaml", venv, tiny, served.RANDOM_WEIGHTS)
        code, said = sim.run("serve", config, "--port", str(port))
    assert code == 2 and f"port {port} is in use by process " in said and "Traceback" not in said, said
