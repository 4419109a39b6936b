"""`sim run` on a real pseudo-terminal: the live view comes, shows the sessions, goes, and leaves the last screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sim import Sim
from vt import Watching

#: the turn column of a session's row
TURNS = re.compile(r"\b\d+/\d{2}\b")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60)])
def test_the_live_view_comes_and_goes(tmp_path: Path, cache: Path, width: int, height: int) -> None:
    sim = Sim(tmp_path, cache)
    arguments = ["run", sim.scenario(), "--out", tmp_path / "out"]
    terminal = Watching(*arguments, module="simulator.cli.main", width=width, height=height, XDG_CACHE_HOME=str(cache))
    with terminal as sim_run:
        drawn = sim_run.until(lambda s: s.alternate and bool(TURNS.search(s.text)), limit_s=200)
        assert "EMULATED" in drawn.text
        assert sim_run.ended(limit_s=200) == 0, sim_run.screen.text
        assert sim_run.terminal_as_before
        assert sim_run.screen.wraps == 0, "a drawn line ran over the margin"
        said = sim_run.raw.decode("utf-8", "replace").rpartition("\x1b[?1049l")[2]
    for word in ("EMULATED", "TTFT", "turn latency", "as asked", "cached share"):
        assert word in said, said
    assert "Traceback" not in said
