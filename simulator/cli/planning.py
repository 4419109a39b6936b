"""From a scenario to plans on disk, on all cores, with a cache: the second run of a scenario starts at once."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import active_children, get_context
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
from simulator.errors import Interrupted, SimError
from simulator.store.plans import (
    PlanFolder,
    PlannedSession,
    clear_unlisted,
    growing,
    hold,
    open_plans,
    prune,
    save_index,
    save_session,
)
from simulator.tasks import catalog, pace
from simulator.tasks.breadth import planned_as, planned_slots
from simulator.tasks.mix import SessionSpec, draw, needed_s
from simulator.tasks.recording import Terms, record, shown_dir
from simulator.virtual.children import ignore, unheard

KEEP = 6
#: parts of a scenario that do not change what is planned
NOT_PLANNED = {
    "name", "endpoint", "synthetic", "warmup", "slo", "output", "time_limit_s", "request_timeout_s", "arrival",
}  # fmt: skip
#: modules that decide what is planned, besides cline/, tasks/, drive/ and repos/
PLANNERS = (
    "cli/planning.py",
    "core/action.py",
    "core/arrival.py",
    "core/normalise.py",
    "core/plan.py",
    "core/scenario.py",
    "core/task.py",
    "core/template.py",
    "store/plans.py",
    "virtual/children.py",
)
Progress = Callable[[int, int], None]


def plan(scenario: Scenario, model: str, progress: Progress) -> PlanFolder:
    """All sessions of a run, ready. progress(done, expected) is called as they get ready. SimError when one cannot be
    made, Interrupted by Ctrl-C or a kind kill."""
    planning = Planning(scenario, model, progress)
    try:
        with _kind(planning.abandon):
            planning.wait()
    except BaseException:
        planning.close()
        if planning.abandoned:
            raise Interrupted("interrupted while planning; nothing was written") from None
        raise
    planning.close()
    return planning.folder


@contextmanager
def _kind(end: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C and kind kills call `end` instead of ending this process, whose workers would live on for a while, or its
    wait for a thread, which Python 3.11 takes for dead once that is interrupted."""
    main = threading.current_thread() is threading.main_thread()
    names = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if main else ()
    before = {name: signal.signal(name, lambda _number, _frame: end()) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


class Planning:
    """Plans in the background. A run can begin once every slot has its first session; the later ones are made while
    the histories of the first are prefilled, before anything is measured.

    slots: of the scenario, counted from the first; None, all. A cached plan of fewer slots is grown, so that several
    loads of one scenario share their sessions."""

    def __init__(self, scenario: Scenario, model: str, progress: Progress, slots: int | None = None) -> None:
        self._slots = planned_slots(scenario) if slots is None else slots
        self._scenario = scenario = planned_as(scenario)
        self._model, self._progress = model, progress
        self._first, self._stop = threading.Event(), threading.Event()
        self._failed: BaseException | None = None
        self.abandoned = False
        self._thread: threading.Thread | None = None
        key, root = _key(scenario, model), cache_root()
        for kept in sorted(root.glob(f"{key}.*")):
            found = open_plans(kept)
            if found is not None:
                os.utime(kept)
                self.folder, self._held = found.first(self._slots), hold(kept)
                if found.slots >= self._slots:
                    self._first.set()
                    progress(len(self.folder.sessions), len(self.folder.sessions))
                    return
                break
        else:
            root.mkdir(parents=True, exist_ok=True)
            self.folder = PlanFolder(Path(tempfile.mkdtemp(prefix=f"{key}.", dir=root)), ())
            self._held = hold(self.folder.path)
        self._grown = bool(self.folder.sessions)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def wait_first(self) -> None:
        self._first.wait()
        self._raise()

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()
        self._raise()

    def abandon(self) -> None:
        """From a signal: ends the workers at once, so that whoever waits is told."""
        self.abandoned = True
        self._stop.set()
        for worker in active_children():
            worker.kill()

    def close(self) -> None:
        """Gives up what is not planned yet; an unfinished plan leaves nothing behind."""
        self._stop.set()
        if self._thread is not None:
            if self._thread.is_alive():
                self.abandon()
            self._thread.join()
        self._held.close()

    def _raise(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _work(self) -> None:
        folder = self.folder.path
        try:
            with growing(folder):
                if self._grown:
                    self._look_again()
                if self.folder.slots < self._slots:
                    self._build(self.folder.slots)
                    save_index(self.folder)
            prune(cache_root(), KEEP)
        except BaseException as error:  # raised where it is waited for
            self._failed = error
            if not self._grown:
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            self._first.set()

    def _look_again(self) -> None:
        """Another process may have grown the folder meanwhile, or died while it did."""
        found = open_plans(self.folder.path)
        if found is None:
            raise SimError(f"{self.folder.path} was changed by another process; run it again")
        clear_unlisted(found)
        for row in found.first(self._slots).sessions:
            self.folder.add(row)

    def _build(self, planned: int) -> None:
        """Sessions are added to each slot from `planned` on until it has work for the whole run; first ones first."""
        scenario, job = self._scenario, _Job(self._scenario, self._model, self.folder.path)
        needed, new = needed_s(scenario), range(planned, self._slots)
        covered, given, firsts = dict.fromkeys(new, 0.0), dict.fromkeys(new, 1), 0
        with ProcessPoolExecutor(os.cpu_count() or 2, get_context("spawn"), _start_worker, (job,)) as pool:
            with unheard():  # a worker is started with a task
                waiting: set[Future[PlannedSession]] = {pool.submit(_plan_one, draw(scenario, slot, 0)) for slot in new}
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                    if self._stop.is_set():
                        raise SimError("planning was stopped")
                    for future in done:
                        row = future.result()
                        self.folder.add(row)
                        covered[row.slot] += row.floor_s
                        firsts += given[row.slot] == 1 and row.session == f"s{row.slot:04d}"
                        if covered[row.slot] < needed:
                            waiting.add(pool.submit(_plan_one, draw(scenario, row.slot, given[row.slot])))
                            given[row.slot] += 1
                    if firsts == len(new):
                        self._first.set()
                    self._progress(len(self.folder.sessions), len(self.folder.sessions) + len(waiting))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def cache_root() -> Path:
    """$XDG_CACHE_HOME/agent-sim/plans, by default below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-sim" / "plans"


def _key(scenario: Scenario, model: str) -> str:
    """Whatever a plan depends on: the scenario's planned part, the model's name, and the code and templates."""
    digest = hashlib.sha256(scenario.model_dump_json(exclude=NOT_PLANNED).encode())
    digest.update(model.encode())
    package = Path(__file__).resolve().parents[1]
    files = [package / "tokenizer.py", *(package.parent / "repos").rglob("*")]
    files += [package / name for name in PLANNERS]
    for part in ("cline", "tasks", "drive"):
        files += (package / part).rglob("*")
    for path in sorted(f for f in files if f.is_file() and "__pycache__" not in f.parts):
        digest.update(str(path.relative_to(package.parent)).encode() + path.read_bytes())
    return digest.hexdigest()[:24]


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
    ignore()  # Ctrl-C is for the parent, which then ends its workers
    _end_with_parent()
    with suppress(OSError):
        os.nice(10)  # what is already running goes first
    _worker = _Worker(job, ZygoteRunner(ShellRunner()))


def _end_with_parent() -> None:
    """A worker waits on a pipe that it holds open itself, so it would not notice that its parent was killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _plan_one(spec: SessionSpec) -> PlannedSession:
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
    names = [name for name in catalog.templates() if catalog.kind_of(name) == spec.kind]
    if not names:
        raise SimError(f"no template of kind {spec.kind} under repos/; the clone is incomplete")
    style = profile(spec.profile).style
    task = catalog.make(names[spec.seed % len(names)], spec.seed, spec.size, style)
    repository = Repository.create(job.folder / f"{spec.session}.git", task.history)
    with tempfile.TemporaryDirectory(prefix="work-", dir=job.folder) as scratch:
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
