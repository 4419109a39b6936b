"""A process with room for its connections opens them without its table of files being enlarged in between."""

from __future__ import annotations

import subprocess
import sys

import pytest

from simulator.drive.descriptors import BESIDE

PROGRAM = """
import resource, sys
from simulator.drive.descriptors import reserve
wanted, soft, hard = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
room = reserve(wanted)
size = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("FDSize"))
print(room, resource.getrlimit(resource.RLIMIT_NOFILE)[0], size)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the table's size is Linux's to say")
@pytest.mark.parametrize(
    ("wanted", "soft", "hard", "room", "limit"),
    [
        (300, 1024, 1024, 300 + BESIDE, 1024),  # the limit is left as it is where it is high enough
        (1000, 256, 2048, 1000 + BESIDE, 1000 + BESIDE),  # else it is raised
        (1000, 128, 512, 512, 512),  # as far as may be
        (10**9, 1024, 2048, 2048, 2048),
    ],
)
def test_the_table_is_as_large_as_the_load(wanted: int, soft: int, hard: int, room: int, limit: int) -> None:
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, (wanted, soft, hard))], capture_output=True, text=True, check=True
    )
    got, limited, size = map(int, told.stdout.split())
    assert (got, limited) == (room, limit) and size >= room
