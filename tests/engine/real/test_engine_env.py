"""The environment of the engine tests: where it cannot be made, one line says why and the tests are skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import engine_env
import pytest

HERE = Path(__file__).resolve().parent


def make(venv: Path, **environment: str) -> str:
    command = [sys.executable, str(HERE / "engine_env.py"), str(venv)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_an_index_one_line_says_why(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    said = make(venv, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path), PIP_CONFIG_FILE=os.devnull)
    told = said.strip().splitlines()[-1]
    assert told.startswith("engine tests are skipped: ") and "could not be installed: ERROR: " in told, said
    assert told.removeprefix("engine tests are skipped: ") == engine_env.missing(venv)


def test_the_tests_are_skipped_with_that_line_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / engine_env.WHY_NOT).write_text("no room for it\n")
    tests = [str(HERE / "test_agents_on_vllm.py"), "-m", "engine", "-rs", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *tests]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "ENGINE_VENV": str(tmp_path)})
    assert done.returncode == 0, done.stdout
    assert "no room for it" in done.stdout and " skipped in " in done.stdout.splitlines()[-1]


def test_an_environment_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "make test-engine" in engine_env.missing(tmp_path / "nowhere")


def test_somebody_else_s_environment_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "vllm").write_text("#!/bin/sh\n")
    assert "as it is" in make(tmp_path)
    assert engine_env.missing(tmp_path) == "" and os.listdir(tmp_path) == ["bin"]


@pytest.mark.parametrize(("limit", "said"), [("disk_gb", "of disk are free"), ("memory_gb", "of memory are free")])
def test_a_machine_too_small_is_told(tmp_path: Path, limit: str, said: str) -> None:
    assert said in engine_env.unfit(tmp_path / "venv", **{limit: 1e9})
    assert engine_env.unfit(tmp_path / "venv", disk_gb=0.0, memory_gb=0.0) == ""
