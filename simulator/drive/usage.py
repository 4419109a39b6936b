"""How many tasks run and how much is stored: cheap looks at the whole machine, exact counts of one command's share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Growth:
    """A figure that others move as well. base: the lowest seen, so that what others give back hides nothing."""

    base: int

    def past(self, now: int, limit: int) -> bool:
        self.base = min(self.base, now)
        return now - self.base > limit


def tasks() -> int:
    """Processes and threads of the machine; 0 where /proc does not say."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def members(pid: int) -> int:
    """Tasks in the process-id namespaces of the children of `pid`, which is bubblewrap's outer process."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    spaces = {space for child in children if (space := _namespace(child))}
    total = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        if _namespace(name) in spaces:
            try:
                total += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue
    return total


def _namespace(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def folder_bytes(folders: Sequence[Path]) -> int:
    """Bytes that the files below take on disk. What vanishes meanwhile counts as nothing."""
    total, left = 0, [str(folder) for folder in folders]
    while left:
        try:
            entries = list(os.scandir(left.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
            except OSError:
                continue
    return total
