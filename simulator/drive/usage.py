"""How many tasks run and how much is stored: cheap looks at the whole machine, exact counts of one command's share."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Growth:
    """A figure that others move as well. base: the lowest seen, so that what others give back hides nothing of what
    comes after it (what came before it is hidden)."""

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


def memory_used() -> int:
    """Bytes that the machine's processes and memory files take, what could be dropped left out; 0 where /proc does not
    say."""
    try:
        rows = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        kib = {row[0]: int(row[1]) for row in rows if len(row) > 1}
        return (kib["MemTotal:"] - kib["MemAvailable:"]) << 10
    except (OSError, ValueError, KeyError):
        return 0


def members(pid: int) -> int:
    """Processes and threads in the process-id namespaces of the children of `pid`, bubblewrap's outer process."""
    total = 0
    for name in _processes(pid):
        try:
            total += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return total


@dataclass(slots=True)
class Share:
    """What one command holds. memory_bytes: what its processes map, by proportional share, and files in memory that
    only a descriptor holds; removed_bytes: on disk, of removed files that are still open."""

    memory_bytes: int = 0
    removed_bytes: int = 0


def share(pid: int) -> Share:
    """Of the processes that `members` counts."""
    total, seen = Share(), set[tuple[int, int]]()
    for name in _processes(pid):
        try:
            rows = Path(f"/proc/{name}/smaps_rollup").read_text().splitlines()
            total.memory_bytes += sum(int(row.split()[1]) << 10 for row in rows if row.startswith("Pss:"))
        except (OSError, ValueError):
            pass  # it ended, or has no memory of its own
        _add_open(total, name, seen)
    return total


def _add_open(total: Share, pid: str, seen: set[tuple[int, int]]) -> None:
    try:
        opened = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for number in opened:
        try:
            found = os.stat(f"/proc/{pid}/fd/{number}")
            if found.st_nlink or not stat.S_ISREG(found.st_mode) or (found.st_dev, found.st_ino) in seen:
                continue
            seen.add((found.st_dev, found.st_ino))
            in_memory = os.readlink(f"/proc/{pid}/fd/{number}").startswith("/memfd:")
        except OSError:
            continue
        if in_memory:
            total.memory_bytes += found.st_blocks * 512
        else:
            total.removed_bytes += found.st_blocks * 512


def _processes(pid: int) -> list[str]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    spaces = {space for child in children if (space := _namespace(child))}
    return [name for name in os.listdir("/proc") if name.isdigit() and _namespace(name) in spaces]


def _namespace(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return ""


def folder_bytes(folders: Sequence[Path]) -> int:
    """Bytes that the files below take on disk. What vanishes meanwhile counts as nothing."""
    return sum(found.st_blocks * 512 for _, found in _files(folders))


def unprivilege(folders: Sequence[Path]) -> None:
    """Takes the set-user-id and set-group-id bits from files below, in which nothing may be at work. The sandbox
    ignores these bits; other users of the machine would not."""
    for path, found in _files(folders):
        if stat.S_ISREG(found.st_mode) and found.st_mode & (stat.S_ISUID | stat.S_ISGID):
            with contextlib.suppress(OSError):
                os.chmod(path, stat.S_IMODE(found.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))


def _files(folders: Sequence[Path]) -> Iterator[tuple[str, os.stat_result]]:
    """Whatever is no folder below, links not followed. What vanishes meanwhile is left out."""
    left = [str(folder) for folder in folders]
    while left:
        try:
            entries = list(os.scandir(left.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                    continue
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            yield entry.path, found
