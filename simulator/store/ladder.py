"""A ladder's folder: ladder.json, a run folder a repeat below runs/, what each life printed below lives/, and aside/
for runs that did not come to their end. One ladder at a time works in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from simulator.errors import UsageError
from simulator.store.folder import Run, RunFolder
from simulator.store.manifest import read_json, write_json

LADDER = "ladder.json"
RUNS, LIVES, ASIDE = "runs", "lives", "aside"
LOCK = ".lock"
PLANNING_LOCK = ".planning"
#: runs that ended so have said what they could
WHOLE = ("", "time limit")


class LadderFolder:
    """Made by `open`, which makes the folder where there is none. The lock is shared with the processes that are
    started for it (`lock`), so that it is held for as long as any of them lives."""

    def __init__(self, path: Path, lock: IO[bytes]) -> None:
        self.path, self.lock = path, lock

    @classmethod
    def open(cls, path: Path) -> LadderFolder | None:
        """None when another process holds it. UsageError when it cannot be one."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            others = sorted(each.name for each in path.iterdir() if not _ours(each))
            if others and not (path / LADDER).exists():
                raise UsageError(
                    f"{path} holds other things ({others[0]}); give --out a new folder, or one that `sim ladder` left"
                )
            for name in (RUNS, LIVES):
                (path / name).mkdir(exist_ok=True)
            lock = (path / LOCK).open("ab")
        except OSError as error:
            raise UsageError(f"--out {path}: {error.strerror}; give a new folder") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        return cls(path, lock)

    def close(self) -> None:
        self.lock.close()

    def load(self) -> dict[str, Any] | None:
        """What ladder.json says; None when there is none. UsageError when it cannot be read."""
        return read_ladder(self.path) if (self.path / LADDER).exists() else None

    def save(self, told: Mapping[str, Any]) -> None:
        write_json(self.path / LADDER, told)

    def run(self, name: str) -> Path:
        return self.path / RUNS / name

    def whole(self, name: str) -> Run | None:
        """The run of that name, if it came to its end and is folded."""
        try:
            run = RunFolder.open(self.run(name))
        except UsageError:
            return None
        done = run.ended and run.manifest.get("stopped", "") in WHOLE and not run.manifest.get("engine_changed")
        return run if done and run.summary is not None else None

    def set_aside(self, name: str) -> Path | None:
        """Moves what lies there below aside/, where it stays to be read. Where it went; None when nothing was there."""
        source = self.run(name)
        if not source.exists():
            return None
        (self.path / ASIDE).mkdir(exist_ok=True)
        number = 1
        while (target := self.path / ASIDE / f"{name}-{number}").exists():
            number += 1
        os.replace(source, target)
        return target


def _ours(path: Path) -> bool:
    """What a ladder that was killed in its first moment leaves."""
    return path.name in (LOCK, PLANNING_LOCK) or (path.name in (RUNS, LIVES) and not any(path.iterdir()))


def read_ladder(folder: Path) -> dict[str, Any]:
    """UsageError when there is no ladder in it."""
    if not (folder / LADDER).exists():
        raise UsageError(f"{folder} holds no {LADDER}; give a folder that `sim ladder` named when it started")
    told = read_json(folder / LADDER)
    if told is None:
        raise UsageError(f"{folder / LADDER} is not a JSON object; restore it, or start anew in another folder")
    return told
