"""The engines under test. Where vLLM's CPU build is not installed the tests are skipped, and say why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import engine_env
import pytest
import served

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
for neighbour in ("e2e", "tasks"):
    sys.path.append(str(ROOT / "tests" / neighbour))

from sim import Sim  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder carry the marker, so that `make test` leaves them out."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.engine)
            item.add_marker(pytest.mark.timeout(480))


@pytest.fixture(scope="session")
def venv() -> Path:
    """The environment that vLLM is in."""
    path = Path(os.environ.get("ENGINE_VENV") or ROOT / ".venv-engine").absolute()
    if why := engine_env.missing(path):
        pytest.skip(why)
    return path


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What vLLM said of its flags, and plans: asked and made once for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def sim(tmp_path: Path, cache: Path) -> Sim:
    return Sim(tmp_path, cache)


@pytest.fixture(scope="session")
def tiny(venv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hybrid's folder; its name is the model's."""
    folder = tmp_path_factory.mktemp("model") / "tiny-hybrid"
    _make(venv, "tiny_model.py", folder)
    return folder


@pytest.fixture(scope="session")
def smollm2(venv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real small model's folder; kept beside the environment, as making it takes half a minute."""
    kept = venv / "models" / "smollm2-135m"
    if not (kept / "config.json").exists():
        made = tmp_path_factory.mktemp("model") / "smollm2-135m"
        _make(venv, "real_model.py", made)
        if not os.access(venv, os.W_OK):
            return made
        kept.parent.mkdir(exist_ok=True)
        partly = kept.with_name(f"{kept.name}.{os.getpid()}")
        shutil.move(made, partly)
        try:
            partly.rename(kept)
        except OSError:  # somebody else was quicker
            shutil.rmtree(partly)
    return kept


def _make(venv: Path, script: str, folder: Path) -> None:
    command = [str(venv / "bin" / "python"), str(HERE / script), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if "is not installed in this environment" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr[-2_000:]


@pytest.fixture(scope="session")
def hybrid_config(venv: Path, tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration that serves the hybrid, for `sim run --engine` and `sim serve`."""
    path = tmp_path_factory.mktemp("config") / "tiny_hybrid.yaml"
    return served.config_file(path, venv, tiny, served.RANDOM_WEIGHTS)


@pytest.fixture(scope="module")
def hybrid(hybrid_config: Path, tiny: Path) -> Iterator[served.Server]:
    """The hybrid, served; one life for a whole file."""
    with served.serving(hybrid_config, tiny.name) as server:
        yield server
