"""A plan on disk: one folder, a file and a bare repository a session, and an index. Sessions are read when their slot
needs them, so a thousand of them do not have to fit in memory; the folder is a cache that two runs of one scenario
share.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import orjson

from simulator.core.plan import SessionPlan, plan_hash

INDEX, LOCK, GROWING = "index.json", "in-use", "growing"


@dataclass(frozen=True, slots=True)
class PlannedSession:
    """One row of the index. head: commit that its workspaces start from, "" where it has none. prompt_tok: planned
    prompt of its first request in this run; 0 where nothing is recorded. floor_s: no engine and no machine play it
    faster than this. file_bytes: of its plan.
    """

    session: str
    slot: int
    template: str
    kind: str
    size: str
    profile: str
    name: str
    head: str
    start_turn: int
    last_turn: int
    turns: int
    prompt_tok: int
    floor_s: float
    file_bytes: int
    digest: str

    @classmethod
    def of(cls, plan: SessionPlan, slot: int, head: str, floor_s: float, file_bytes: int) -> PlannedSession:
        return cls(
            session=plan.session,
            slot=slot,
            template=plan.task_template,
            kind=plan.task_kind,
            size=plan.task_size,
            profile=plan.profile,
            name=plan.task_name,
            head=head,
            start_turn=plan.start_turn,
            last_turn=plan.last_turn,
            turns=len(plan.turns),
            prompt_tok=plan.turns[plan.start_turn].prompt_tok if plan.turns else 0,
            floor_s=floor_s,
            file_bytes=file_bytes,
            digest=plan.digest(),
        )


class PlanFolder:
    """A folder of plans; it may still be growing. Sessions are in the order in which they were added."""

    def __init__(self, path: Path, sessions: Iterable[PlannedSession]) -> None:
        self.path = path
        self._rows = {s.session: s for s in sessions}

    @property
    def sessions(self) -> tuple[PlannedSession, ...]:
        """In order of their numbers."""
        return tuple(self._rows[name] for name in sorted(self._rows, key=_by_number))

    @property
    def slots(self) -> int:
        """One past the highest slot that has a session."""
        return max((row.slot for row in self._rows.values()), default=-1) + 1

    def part(self, slots: int, needed_s: float) -> PlanFolder:
        """What a run of the first `slots` slots plays: of each the first sessions, until they are `needed_s` of work;
        at least one. It is the same whatever else was planned."""
        covered_s: dict[int, float] = {}
        kept = []
        for row in self.sessions:
            if row.slot < slots and (row.slot not in covered_s or covered_s[row.slot] < needed_s):
                covered_s[row.slot] = covered_s.get(row.slot, 0.0) + row.floor_s
                kept.append(row)
        return PlanFolder(self.path, kept)

    def lacking(self, slots: int, needed_s: float) -> list[tuple[int, int, float]]:
        """Of the first `slots` slots, those without so much work: (slot, how many sessions it has, seconds of work)."""
        number, covered_s = [0] * slots, [0.0] * slots
        for row in self._rows.values():
            if row.slot < slots:
                number[row.slot] += 1
                covered_s[row.slot] += row.floor_s
        rows = zip(range(slots), number, covered_s, strict=True)
        return [(slot, n, seconds) for slot, n, seconds in rows if not n or seconds < needed_s]

    @property
    def hash(self) -> str:
        return plan_hash(s.digest for s in self.sessions)

    def add(self, row: PlannedSession) -> None:
        self._rows[row.session] = row

    def nth(self, slot: int, n: int) -> str | None:
        """Name of the nth session (from 0) that a slot plays; None when it has no more, or not yet."""
        names = sorted((name for name, row in self._rows.copy().items() if row.slot == slot), key=_by_number)
        return names[n] if n < len(names) else None

    def load(self, session: str) -> SessionPlan:
        with open(self.path / f"{session}.plan", "rb") as file:
            plan = pickle.load(file)
        assert isinstance(plan, SessionPlan)
        return plan

    def repository(self, session: str) -> Path:
        return self.path / f"{session}.git"

    def row(self, session: str) -> PlannedSession:
        return self._rows[session]


def _by_number(name: str) -> tuple[int, str]:
    """s9999 comes before s10000."""
    return len(name), name


def save_session(folder: Path, plan: SessionPlan, slot: int, head: str, floor_s: float) -> PlannedSession:
    with open(folder / f"{plan.session}.plan", "wb") as file:
        pickle.dump(plan, file, protocol=pickle.HIGHEST_PROTOCOL)
        file_bytes = file.tell()
    return PlannedSession.of(plan, slot, head, floor_s, file_bytes)


def save_index(folder: PlanFolder) -> None:
    """Written last: a folder without an index is an unfinished one."""
    beside = folder.path / f".{INDEX}"
    beside.write_bytes(orjson.dumps([asdict(row) for row in folder.sessions]))
    os.replace(beside, folder.path / INDEX)


def open_plans(folder: Path) -> PlanFolder | None:
    """None when there is no finished plan there."""
    try:
        rows = orjson.loads((folder / INDEX).read_bytes())
        found = PlanFolder(folder, [PlannedSession(**row) for row in rows])
    except (OSError, ValueError, TypeError):
        return None
    return found if all(_whole(found, row) for row in found.sessions) else None


def _whole(found: PlanFolder, row: PlannedSession) -> bool:
    """Whether a session's file and repository are as they were saved, as far as a look tells."""
    plan, repository = found.path / f"{row.session}.plan", found.repository(row.session)
    rooted = not row.head or (repository / "objects").is_dir()
    return plan.exists() and plan.stat().st_size == row.file_bytes and rooted


@contextmanager
def growing(folder: Path) -> Iterator[None]:
    """Sessions may be added to a plan folder by one process at a time; others wait, and look again."""
    with (folder / GROWING).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def starting(root: Path) -> Iterator[None]:
    """Folders are made, found and swept by one process at a time."""
    with root.with_name(f"{root.name}.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def sweep(root: Path) -> None:
    """Removes unfinished folders that nobody holds: whoever made them was killed. Call it while `starting`."""
    for folder in root.iterdir():
        if folder.is_dir() and not (folder / INDEX).exists():
            _remove_unless_held(folder)


def clear_unlisted(folder: PlanFolder) -> None:
    """Removes sessions that are not in the index, and scratch work: a growth that was stopped leaves them."""
    listed = {row.session for row in folder.sessions}
    for path in folder.path.glob("work-*"):
        shutil.rmtree(path)
    for path in (*folder.path.glob("s*.git"), *folder.path.glob("s*.plan")):
        if path.stem not in listed:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def hold(folder: Path) -> IO[bytes]:
    """Marks a plan folder as in use for as long as the returned file is open, also against other processes."""
    file = (folder / LOCK).open("ab")
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def prune(root: Path, most_bytes: int) -> None:
    """Removes the plan folders under `root` that were used longest ago, as far as all take more than `most_bytes` of
    the disk; not the one used last, and none that is in use."""
    try:
        folders = sorted((p for p in root.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime, reverse=True)
    except OSError:
        return
    taken = 0
    for nth, folder in enumerate(folders):
        taken += _disk_bytes(folder)
        if nth and taken > most_bytes:
            _remove_unless_held(folder)


def _disk_bytes(folder: Path) -> int:
    """What its files take on the disk; a small file takes a block."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # another process is removing it
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
    return total


def _remove_unless_held(folder: Path) -> None:
    with suppress(OSError), open(folder / LOCK, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)  # else it is in use
