"""Shared fixtures. That this file is here also puts this folder on the path, for `from fixtures_run import ...`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures_run import Shape, write_run
from hypothesis import settings

# how long an example takes says more about the machine's other work than about the code
settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")
# where it is set, each of the hundred processes that the tests start would compile all of the product again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

#: files that take longest; they come first, so that no test process is left alone with one of them at the
#: end; of those that share plans one first, which makes them, and the others together a while later
LONGEST = (
    "test_shape.py", "test_ladder.py", "test_procs.py", "test_agreement.py", "test_coding_corpus.py", "test_map.py",
    "test_run.py", "test_terminal.py", "test_faults_cli.py", "test_saturate.py", "test_starved.py", "test_agree.py",
    "test_serving_cli.py", "test_planning_grows.py", "test_profiles_run.py", "test_faults_engine.py",
    "test_live_run.py", "test_oracle_run.py", "test_virtual_folder.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Writes a realistic run folder: `make_run(slots=8, killed=True)`; see fixtures_run.Shape."""

    def make(**shape: Any) -> Path:
        return write_run(tmp_path / "run", Shape(**shape))

    return make
