"""What the tests of whole runs share: one cache of plans for all of them, whichever test process they are in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sim import Sim


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / "plans-of-all"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def sim(tmp_path: Path, cache: Path) -> Sim:
    return Sim(tmp_path, cache)
