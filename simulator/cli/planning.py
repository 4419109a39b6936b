"""From a scenario to plans on disk, on all cores, with a cache: the second run of a scenario starts at once."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
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
from simulator.store.plans import PlanFolder, PlannedSession, open_plans, prune, save_index, save_session
from simulator.tasks import catalog, pace
from simulator.tasks.mix import SessionSpec, draw, needed_s
from simulator.tasks.recording import Terms, record, shown_dir

KEEP = 6
#: parts of a scenario that do not change what is planned
NOT_PLANNED = {
    "name", "endpoint", "synthetic", "warmup", "slo", "output", "time_limit_s", "request_timeout_s", "arrival",
}  # fmt: skip
Progress = Callable[[int, int], None]


def plan(scenario: Scenario, model: str, progress: Progress) -> PlanFolder:
    """All sessions of a run. progress(done, expected) is called as they get ready. SimError when one cannot be made."""
    root = cache_root()
    folder = root / _key(scenario, model)
    found = open_plans(folder)
    if found is not None:
        os.utime(folder)
        progress(len(found.sessions), len(found.sessions))
        return found
    root.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix="building-", dir=root))
    try:
        save_index(building, _build(scenario, model, building, progress))
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    prune(root, KEEP, folder)
    made = open_plans(folder)
    assert made is not None
    return made


def cache_root() -> Path:
    """$XDG_CACHE_HOME/agent-sim/plans, by default below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-sim" / "plans"


def _key(scenario: Scenario, model: str) -> str:
    """Whatever a plan depends on: the scenario's planned part, the model's name, and the code and templates."""
    digest = hashlib.sha256(scenario.model_dump_json(exclude=NOT_PLANNED).encode())
    digest.update(model.encode())
    package = Path(__file__).resolve().parents[1]
    files = [package / "tokenizer.py", *(package.parent / "repos").rglob("*")]
    for part in ("core", "cline", "tasks", "drive", "store"):
        files += (package / part).rglob("*")
    for path in sorted(f for f in files if f.is_file() and "__pycache__" not in f.parts):
        digest.update(str(path.relative_to(package.parent)).encode() + path.read_bytes())
    return digest.hexdigest()[:24]


def _build(scenario: Scenario, model: str, folder: Path, progress: Progress) -> list[PlannedSession]:
    """Sessions are added to a slot until it has work for the whole run."""
    needed = needed_s(scenario)
    covered = [0.0] * scenario.sessions
    given = [1] * scenario.sessions
    made: list[PlannedSession] = []
    job = _Job(scenario, model, folder)
    with ProcessPoolExecutor(os.cpu_count() or 2, get_context("spawn"), _start_worker, (job,)) as pool:
        waiting: set[Future[PlannedSession]] = {
            pool.submit(_plan_one, draw(scenario, slot, 0)) for slot in range(scenario.sessions)
        }
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    row = future.result()
                    made.append(row)
                    covered[row.slot] += row.floor_s
                    if covered[row.slot] < needed:
                        waiting.add(pool.submit(_plan_one, draw(scenario, row.slot, given[row.slot])))
                        given[row.slot] += 1
                progress(len(made), len(made) + len(waiting))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return made


@dataclass(frozen=True, slots=True)
class _Job:
    scenario: Scenario
    model: str
    folder: Path


@dataclass(slots=True)
class _Worker:
    job: _Job
    runner: CommandRunner


_worker: _Worker | None = None  # one a planning process, set by its initializer


def _start_worker(job: _Job) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends its workers
    _worker = _Worker(job, ZygoteRunner(ShellRunner()))


def _plan_one(spec: SessionSpec) -> PlannedSession:
    assert _worker is not None
    job = _worker.job
    names = [name for name in catalog.templates() if catalog.kind_of(name) == spec.kind]
    if not names:
        raise SimError(f"no template of kind {spec.kind} under repos/; the clone is incomplete")
    style = profile(spec.profile).style
    task = catalog.make(names[spec.seed % len(names)], spec.seed, spec.size, style)
    repository = Repository.create(job.folder / f"{spec.session}.git", task.history)
    with tempfile.TemporaryDirectory(prefix="sim-plan-") as scratch:
        root = Path(scratch) / task.name
        repository.checkout(root, spec.session)
        bench = _Bench(root, shown_dir(spec, task.name), repository.head, style.documents, _worker.runner)
        made = record(spec, task, bench, Terms(job.scenario, job.model, tokenizer.count))
    floor_s = pace.floor_s(made, paced=job.scenario.tools == "paced")
    return save_session(job.folder, made, spec.slot, repository.head, floor_s)


class _Bench:
    """A scratch checkout in which a recorded solution is carried out."""

    def __init__(self, root: Path, shown: str, head: str, documents: str, runner: CommandRunner) -> None:
        self.head = head
        self._root, self._runner = root, runner
        self._toolbox = Toolbox(root, shown, runner, documents=documents)

    def do(self, action: Action) -> Outcome:
        return self._toolbox.do(action)

    def check(self, task: Task) -> list[str]:
        return run_check(self._root, task.check, self._runner)
