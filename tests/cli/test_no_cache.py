"""A cache folder that cannot be used is named with its cure, and only where something has to be kept in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.cli.plan import main as plan
from simulator.engine.serving.prepare import cache_folder
from simulator.engine.serving.shapes import made
from simulator.errors import NoCache, UsageError

AGENTS = "name: a\nsessions: 1\nmax_turns: 1\nwindow_s: 1\nsizes: {small: 1}\n"
SYNTHETIC = "name: s\nsynthetic: {input_tok: 8, output_tok: 4, concurrency: 2, requests: 4, warmup_requests: 0}\n"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache below a file, where not even root can make one."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    return tmp_path / "file" / "agent-sim"


def test_planning_names_the_folder_and_the_variable(nowhere: Path, tmp_path: Path) -> None:
    with pytest.raises(NoCache) as caught:
        plan(AGENTS, tmp_path / "a.yaml", ())
    told = str(caught.value)
    assert f"the cache folder {nowhere / 'plans'} cannot be used: Not a directory" in told
    assert "set XDG_CACHE_HOME to a folder" in told and "\n" not in told
    assert isinstance(caught.value, UsageError) and caught.value.exit_code == 2


def test_a_model_shape_does_so_too(nowhere: Path) -> None:
    models = Path(__file__).resolve().parents[2] / "serving" / "models"
    shape = next(path.parent for path in sorted(models.rglob("config.json")))
    with pytest.raises(NoCache, match="XDG_CACHE_HOME"):
        made(shape, cache_folder())


def test_a_run_that_keeps_nothing_there_needs_none(nowhere: Path, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SYNTHETIC)
    asked = ["run", str(tmp_path / "s.yaml"), "--virtual", "--plain", "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert (tmp_path / "out" / "summary.json").exists() and not nowhere.exists()
