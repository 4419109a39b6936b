"""Ctrl-C while a run's live view still starts: nothing on the terminal but what the two say themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, signal, sys
from pathlib import Path

import psutil
import uvloop

from simulator.cli.screen import Screen


async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: print("heard", flush=True))
    async with Screen(Path(sys.argv[1]), plain=True, stopping=lambda: False):
        print("begun", flush=True)
        while psutil.Process().children():
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)


uvloop.run(main())
"""


def test_a_view_that_still_starts_keeps_ctrl_c_for_later(tmp_path: Path) -> None:
    """Not lost either: it leaves as soon as it listens, long before it gives up on a folder that never appears."""
    run = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "none")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert run.stdout is not None and run.stdout.readline() == "begun\n"
    os.killpg(run.pid, signal.SIGINT)
    said, _ = run.communicate(timeout=60)
    told = said.splitlines()
    assert run.returncode == 0 and told[0] == "heard", said
    assert len(told) == 2 and told[1].startswith("the view is closed, the run goes on"), said
