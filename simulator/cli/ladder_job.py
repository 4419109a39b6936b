"""What a ladder asks of the process of one life, and what that answers: JSON both ways."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class RunJob:
    """One run of a life. name: of its folder below runs/. overrides: `--set` of this run, those of the ladder included.
    slots: whose sessions are planned, None for all of the scenario; shared: in the form that several loads share."""

    name: str
    folder: str
    pair: int
    seed: int
    concurrency: int | None
    overrides: tuple[str, ...]
    shared: bool


@dataclass(frozen=True, slots=True)
class LifeJob:
    """engine: as `sim run --engine` takes it. cores: that engine and client share, None for all. deadline_unix_s: no
    run is begun that is not expected to end before it. env: what the life was given beside the ladder's environment."""

    rung: str
    engine: str
    scenario: str
    life: int
    lane: int
    lanes: int
    cores: tuple[int, ...] | None
    env: dict[str, str]
    log: str
    planning_lock: str
    procs: int | None
    deadline_unix_s: float | None
    command: tuple[str, ...]
    runs: tuple[RunJob, ...]

    def write(self, path: Path) -> None:
        path.write_bytes(orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2))

    @classmethod
    def read(cls, path: Path) -> LifeJob:
        raw: dict[str, Any] = orjson.loads(path.read_bytes())
        runs = tuple(RunJob(**{**each, "overrides": tuple(each["overrides"])}) for each in raw.pop("runs"))
        cores = raw.pop("cores")
        command = tuple(raw.pop("command"))
        return cls(**raw, cores=None if cores is None else tuple(cores), command=command, runs=runs)


#: words of a life: what goes on; that the server is ready; that a run begins and is over; what went wrong
PHASE, READY, BEGUN, OVER, FAULT, LATE = "phase", "ready", "begun", "over", "fault", "late"
