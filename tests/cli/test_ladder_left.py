"""What a killed ladder left behind is found by its mark, named and ended; nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from simulator.cli.ladder import held
from simulator.cli.ladder_marks import MARK, clear, left_behind
from simulator.errors import UsageError

#: says that it is there, and does not listen to SIGTERM
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(60)"


def started(folder: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", STUBBORN], env={**os.environ, MARK: str(folder.resolve())}, stdout=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline()
    process.stdout.close()
    return process


def test_only_processes_of_this_folder_are_found_and_ended(tmp_path: Path) -> None:
    ours, theirs = started(tmp_path / "a"), started(tmp_path / "b")
    try:
        assert [each.pid for each in left_behind(tmp_path / "a")] == [ours.pid]
        said: list[str] = []
        clear(tmp_path / "a", said.append, by_itself_s=0.2, asked_s=0.2)
        assert ours.wait(10) < 0 and theirs.poll() is None
        assert str(ours.pid) in said[0] and "waiting" in said[0] and "ending" in said[1]
        clear(tmp_path / "a", said.append)
        assert len(said) == 2, "nothing is left, nothing is said"
    finally:
        for process in (ours, theirs):
            process.kill()
            process.wait()


#: a ladder's own process with a life, which ends once its standard input closes
CLIMBS = """
import os, subprocess, sys, time
from pathlib import Path
from simulator.cli.ladder import held
from simulator.cli.ladder_marks import MARK
out = Path(sys.argv[1])
folder = held(out, print)
life = subprocess.Popen(
    [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
    pass_fds=(folder.lock.fileno(),), env={**os.environ, MARK: str(out.resolve())}, start_new_session=True,
)
print(life.pid, flush=True)
time.sleep(60)
"""


def test_a_ladder_that_works_is_left_alone_and_what_a_killed_one_left_is_waited_for(tmp_path: Path) -> None:
    ladder = subprocess.Popen([sys.executable, "-c", CLIMBS, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    said: list[str] = []
    try:
        assert ladder.stdout is not None
        life = psutil.Process(int(ladder.stdout.readline()))
        with pytest.raises(UsageError, match=rf"another `sim ladder` \(process {ladder.pid}\) is at work in"):
            held(tmp_path, said.append)
        assert ladder.poll() is None and life.is_running() and not said, "nothing of it is touched"
        ladder.kill()
        ladder.wait()
        folder = held(tmp_path, said.append)
        assert not life.is_running() or life.status() == psutil.STATUS_ZOMBIE
        folder.close()
    finally:
        ladder.kill()
        ladder.communicate()
