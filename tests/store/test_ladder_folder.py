"""A ladder's folder: one ladder at a time, whole runs told from others, what is not whole kept aside."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from simulator.errors import UsageError
from simulator.store.folder import RunFolder
from simulator.store.ladder import LADDER, LadderFolder, read_ladder

#: a ladder's own process, and one that it started and shares its lock with; both wait
HOLDS = """
import subprocess, sys, time
from pathlib import Path
from simulator.store.ladder import LadderFolder
folder = LadderFolder.open(Path(sys.argv[1]))
assert folder.take()
sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
child = subprocess.Popen(sleeps, pass_fds=(folder.lock.fileno(),), stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
time.sleep(60)
"""


def opened(path: Path) -> LadderFolder:
    folder = LadderFolder.open(path)
    assert folder.take()
    return folder


def test_another_ladder_is_told_from_what_a_killed_one_left(tmp_path: Path) -> None:
    ladder = subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert ladder.stdout is not None
    child = psutil.Process(int(ladder.stdout.readline()))
    try:
        with pytest.raises(UsageError, match=rf"another `sim ladder` \(process {ladder.pid}\) is at work in"):
            LadderFolder.open(tmp_path)
        ladder.kill()
        ladder.communicate()
        folder = LadderFolder.open(tmp_path)  # what it left behind holds the shared lock only
        assert not folder.take()
        with pytest.raises(UsageError, match=rf"\(process {os.getpid()}\) is at work"):
            LadderFolder.open(tmp_path)
        child.kill()
        psutil.wait_procs([child], 10)
        assert folder.take()
        folder.close()
    finally:
        ladder.kill()
        ladder.wait()
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    opened(tmp_path).close()


def run(folder: LadderFolder, name: str, *, summary: bool = True, **ending: object) -> None:
    writer = RunFolder.create(folder.run(name), {"scenario": {}})
    if ending:
        writer.finish(ending)
    if summary:
        RunFolder.open(folder.run(name)).write_summary({"agent": None})


@pytest.mark.parametrize(
    ("made", "whole"),
    [
        ({"stopped": ""}, True),
        ({"stopped": "time limit"}, True),
        ({"stopped": "interrupted"}, False),
        ({"stopped": "", "engine_changed": ["pid"]}, False),
        ({"stopped": "", "summary": False}, False),
        ({}, False),
    ],
)
def test_only_a_run_that_came_to_its_end_is_whole(tmp_path: Path, made: dict[str, object], whole: bool) -> None:
    folder = opened(tmp_path / "ladder")
    run(folder, "a-0", **made)  # type: ignore[arg-type]
    assert (folder.whole("a-0") is not None) == whole
    assert folder.whole("b-0") is None
    folder.close()


def test_what_is_set_aside_stays_to_be_read(tmp_path: Path) -> None:
    folder = opened(tmp_path / "ladder")
    assert folder.set_aside("a-0") is None
    for _ in range(2):
        run(folder, "a-0")
        folder.set_aside("a-0")
    assert [path.name for path in sorted((folder.path / "aside").iterdir())] == ["a-0-1", "a-0-2"]
    assert not folder.run("a-0").exists() and RunFolder.open(folder.path / "aside" / "a-0-2").manifest["schema"] == 1
    folder.close()


def test_other_things_are_never_taken_for_a_ladder(tmp_path: Path) -> None:
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"holds other things \(runs\)"):
        LadderFolder.open(tmp_path)
    with pytest.raises(UsageError, match=r"holds no ladder\.json"):
        read_ladder(tmp_path)
    (tmp_path / LADDER).write_text("[]")
    with pytest.raises(UsageError, match=r"ladder\.json states no schema version"):
        read_ladder(tmp_path)
