"""What a killed ladder left behind is found by its mark, named and ended; nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from simulator.cli.ladder_marks import MARK, clear, left_behind

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
