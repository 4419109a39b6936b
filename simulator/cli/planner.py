"""One session planned, in a process of the pool: its recorded solution is carried out in a scratch checkout."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from simulator import tokenizer
from simulator.cline.profiles import profile
from simulator.core.action import Action, Outcome
from simulator.core.scenario import Scenario
from simulator.core.task import Task
from simulator.drive.checking import run_check
from simulator.drive.commands import CommandRunner, ShellRunner
from simulator.drive.toolbox import Toolbox
from simulator.drive.workspace import Repository
from simulator.drive.zygote import ZygoteRunner
from simulator.errors import SimError
from simulator.store.plans import PlannedSession, save_session
from simulator.tasks import catalog, live, pace
from simulator.tasks.mix import SessionSpec
from simulator.tasks.recording import Terms, record, shown_dir
from simulator.virtual.children import end_with_parent, ignore


@dataclass(frozen=True, slots=True)
class Job:
    """What all sessions of a plan have in common. folder: where they go."""

    scenario: Scenario
    model: str
    folder: Path


@dataclass(slots=True)
class _Worker:
    job: Job
    runner: CommandRunner


_worker: _Worker | None = None  # one a planning process, set by its initializer


def start_worker(job: Job) -> None:
    global _worker
    ignore()  # Ctrl-C is for the parent, which then ends its workers
    end_with_parent()
    with suppress(OSError):
        os.nice(10)  # what is already running goes first
    _worker = _Worker(job, ZygoteRunner(ShellRunner()))


def plan_one(spec: SessionSpec) -> PlannedSession:
    try:
        return _planned(spec)
    except SimError:
        raise
    except Exception as error:
        raise SimError(
            f"session {spec.session} ({spec.kind}, {spec.size}, seed {spec.seed}) could not be planned: "
            f"{type(error).__name__}: {error}; another --seed avoids it, and it is a fault worth reporting"
        ) from error


def _planned(spec: SessionSpec) -> PlannedSession:
    assert _worker is not None
    job = _worker.job
    if job.scenario.trace is not None:
        from simulator.cli import tracing  # with numpy and all, of which recorded solutions need nothing

        from_trace = tracing.planned(spec, job.scenario, job.model)
        floor_s = pace.floor_s(from_trace, paced=True)
        return save_session(job.folder, from_trace, spec.slot, "", floor_s)
    style = profile(spec.profile).style
    tasks_dir = None if job.scenario.tasks_dir is None else Path(job.scenario.tasks_dir)
    template = catalog.chosen(spec.kind, spec.seed, tasks_dir, job.scenario.templates)
    task = catalog.make(template, spec.seed, spec.size, style, tasks_dir)
    repository = Repository.create(job.folder / f"{spec.session}.git", task.history)
    with tempfile.TemporaryDirectory(prefix="work-", dir=job.folder) as scratch:
        root = Path(scratch) / task.name
        repository.checkout(root, spec.session)
        bench = ScratchBench(root, shown_dir(spec, task.name), repository.head, style.documents, _worker.runner)
        plan = live.begin if job.scenario.mode == "live" else record
        made = plan(spec, task, bench, Terms(job.scenario, job.model, tokenizer.count))
    paced = job.scenario.tools == "paced"
    floor_s = live.floor_s(made.live) if made.live is not None else pace.floor_s(made, paced=paced)
    return save_session(job.folder, made, spec.slot, repository.head, floor_s)


class ScratchBench:
    """A scratch checkout in which a recorded solution is carried out."""

    def __init__(self, root: Path, shown: str, head: str, documents: str, runner: CommandRunner) -> None:
        self.head = head
        self._root, self._runner = root, runner
        self._toolbox = Toolbox(root, shown, runner, documents=documents)

    def do(self, action: Action) -> Outcome:
        return self._toolbox.do(action)

    def check(self, task: Task) -> list[str]:
        return run_check(self._root, task.check, self._runner)
