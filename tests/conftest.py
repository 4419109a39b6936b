"""Shared fixtures. That this file is here also puts this folder on the path, for `from fixtures_run import ...`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures_run import Shape, write_run
from hypothesis import settings

# how long an example takes says more about the machine's other work than about the code
settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Writes a realistic run folder: `make_run(slots=8, killed=True)`; see fixtures_run.Shape."""

    def make(**shape: Any) -> Path:
        return write_run(tmp_path / "run", Shape(**shape))

    return make
