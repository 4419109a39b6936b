"""A ladder's folder: ladder.json, a run folder a repeat below runs/, what each life printed below lives/, and aside/
for runs that did not come to their end. One ladder at a time works in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from simulator.core.ladder.told import told
from simulator.errors import UsageError
from simulator.store.folder import Run, RunFolder
from simulator.store.manifest import write_json
from simulator.store.reader import WHOLE
from simulator.store.regular import read_regular

LADDER = "ladder.json"
RUNS, LIVES, ASIDE = "runs", "lives", "aside"
#: held by a ladder's own process alone, and by all processes of a ladder together
OWN_LOCK, LOCK = ".own", ".lock"
PLANNING_LOCK = ".planning"


class LadderFolder:
    """Made by `open`, which makes the folder where there is none, for a ladder's own process. That holds one lock which
    nothing inherits, so that it is free as soon as the ladder is gone, killed or not. The other (`lock`) is shared with
    the processes that are started for it, so that it is held for as long as any of them lives."""

    def __init__(self, path: Path, own: IO[bytes], lock: IO[bytes]) -> None:
        self.path, self._own, self.lock = path, own, lock

    @classmethod
    def open(cls, path: Path) -> LadderFolder:
        """UsageError while another ladder works in it, whose folder is left as it is, and when it cannot be one."""
        own: IO[bytes] | None = None
        try:
            path.mkdir(parents=True, exist_ok=True)
            others = sorted(each.name for each in path.iterdir() if not _ours(each))
            if others and not (path / LADDER).exists():
                raise UsageError(
                    f"{path} holds other things ({others[0]}); give --out a new folder, or one that `sim ladder` left"
                )
            own = _alone(path)
            for name in (RUNS, LIVES):
                (path / name).mkdir(exist_ok=True)
            return cls(path, own, (path / LOCK).open("ab"))
        except OSError as error:
            if own is not None:
                own.close()
            raise UsageError(f"--out {path}: {error.strerror}; give a new folder") from None

    def take(self) -> bool:
        """The shared lock. False while a process of an earlier ladder lives."""
        return _locked(self.lock)

    def close(self) -> None:
        self.lock.close()
        self._own.close()

    def load(self) -> dict[str, Any] | None:
        """What ladder.json says; None when there is none. UsageError when it cannot be read."""
        return read_ladder(self.path) if (self.path / LADDER).exists() else None

    def save(self, said: Mapping[str, Any]) -> None:
        write_json(self.path / LADDER, said)

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


def _alone(path: Path) -> IO[bytes]:
    """The lock of a ladder's own process, with its number in it. UsageError when another one holds it."""
    own = (path / OWN_LOCK).open("a+b")
    if not _locked(own):
        own.seek(0)
        number = own.read(20).decode(errors="replace").strip()
        own.close()
        who = f" (process {number})" if number.isdecimal() else ""
        raise UsageError(f"another `sim ladder`{who} is at work in {path}; wait for its end, or give another --out")
    own.truncate(0)
    own.write(b"%d\n" % os.getpid())
    own.flush()
    return own


def _locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _ours(path: Path) -> bool:
    """What a ladder that was killed in its first moment leaves."""
    return path.name in (OWN_LOCK, LOCK, PLANNING_LOCK) or (path.name in (RUNS, LIVES) and not any(path.iterdir()))


def read_ladder(folder: Path) -> dict[str, Any]:
    """What its ladder.json says. UsageError when there is none, or it says what no ladder does."""
    if not (folder / LADDER).exists():
        raise UsageError(f"{folder} holds no {LADDER}; give a folder that `sim ladder` named when it started")
    try:
        return told(read_regular(folder / LADDER), str(folder / LADDER))[0]
    except OSError as why:
        raise UsageError(f"{folder / LADDER} cannot be read: {why.strerror}; restore it") from None
