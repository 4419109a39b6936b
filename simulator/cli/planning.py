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
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO

from simulator.cli.absent import absent
from simulator.cli.forecast import Forecast
from simulator.cli.planner import Job, plan_one, start_worker
from simulator.core.scenario import Scenario
from simulator.errors import Interrupted, NoCache, SimError
from simulator.store.plans import (
    PlanFolder,
    PlannedSession,
    clear_unlisted,
    growing,
    hold,
    open_plans,
    prune,
    save_index,
    starting,
    sweep,
)
from simulator.tasks import catalog
from simulator.tasks.breadth import planned_as, planned_slots
from simulator.tasks.mix import draw, more, needed_s
from simulator.virtual.children import unheard

#: of the disk; plans of the larger scenarios take minutes to make and up to 300 MB
KEEP_BYTES = 2_000_000_000
#: parts of a scenario that do not change what is planned; the last three only how many sessions a slot needs
NOT_PLANNED = {
    "name", "endpoint", "synthetic", "warmup", "slo", "output", "time_limit_s", "request_timeout_s", "arrival",
    "window_s", "ramp_s", "refill",
}  # fmt: skip
#: modules that decide what is planned, besides cline/, tasks/, drive/ and repos/
PLANNERS = (
    "cli/absent.py",
    "cli/forecast.py",
    "cli/planner.py",
    "cli/planning.py",
    "cli/tracing.py",
    "core/action.py",
    "core/arrival.py",
    "core/arrival_block.py",
    "core/live.py",
    "core/normalise.py",
    "core/plan.py",
    "core/scenario.py",
    "core/task.py",
    "core/template.py",
    "core/usage.py",
    "core/yaml_text.py",
    "store/plans.py",
    "virtual/children.py",
)
Progress = Callable[[int, int], None]


def plan(scenario: Scenario, model: str, progress: Progress, slots: int | None = None) -> PlanFolder:
    """All sessions of a run, ready; slots: as Planning has them. progress(done, about how many there will be) is called
    as they get ready. SimError when one cannot be made, Interrupted by Ctrl-C or a kind kill."""
    planning = Planning(scenario, model, progress, slots)
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

    slots: of the scenario, counted from the first; None, all. A cached plan of fewer slots, or for a shorter window, is
    grown, so that several loads and windows of one scenario share their sessions. folder: those of this run, which do
    not depend on what else the cache holds: of each slot the first ones until it has work for the whole run."""

    def __init__(self, scenario: Scenario, model: str, progress: Progress, slots: int | None = None) -> None:
        self._slots = planned_slots(scenario) if slots is None else slots
        self._scenario = scenario = planned_as(scenario)
        self._model, self._progress = model, progress
        self._needed_s = needed_s(scenario)
        self._first, self._stop = threading.Event(), threading.Event()
        self._failed: BaseException | None = None
        self.abandoned = False
        self._thread: threading.Thread | None = None
        self._all, self._held = self._open(f"{_key(scenario, model)}.")
        self._grown = bool(self._all.sessions)
        self.folder = self._all.part(self._slots, self._needed_s)
        planned = len(self.folder.sessions)
        if self._lacking() == []:
            self._first.set()
            progress(planned, planned)
            return
        progress(planned, Forecast(scenario, self._slots, self._needed_s, self.folder.sessions).expected)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _open(self, prefix: str) -> tuple[PlanFolder, IO[bytes]]:
        """The cache's folder of this scenario, else a new one; held. NoCache where there can be none."""
        root = cache_root()
        try:
            return self._found_or_made(root, prefix)
        except OSError as why:
            raise NoCache(root, why) from None

    def _found_or_made(self, root: Path, prefix: str) -> tuple[PlanFolder, IO[bytes]]:
        root.mkdir(parents=True, exist_ok=True)
        with starting(root):
            sweep(root)
            for kept in sorted(root.glob(f"{prefix}*")):
                found = open_plans(kept)
                if found is not None:
                    os.utime(kept)
                    return found, hold(kept)
            made = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
            return PlanFolder(made, ()), hold(made)

    def _lacking(self) -> list[tuple[int, int, float]]:
        """Slots without work for the whole run: (slot, sessions that it has, seconds of work that they are)."""
        rows = self.folder.lacking(self._slots, self._needed_s)
        return [row for row in rows if more(self._scenario, row[0], row[1])]

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
        _end_workers()

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
        folder = self._all.path
        try:
            with growing(folder):
                if self._grown:
                    self._look_again()
                if self._lacking():
                    self._build()
                    save_index(self._all)
            prune(cache_root(), KEEP_BYTES)
        except BaseException as error:  # raised where it is waited for
            self._failed = error
            for worker in _end_workers():  # also one that was being started when the others were ended
                worker.join()
            if not self._grown:
                _remove(folder)
        finally:
            self._first.set()

    def _look_again(self) -> None:
        """Another process may have grown the folder meanwhile, or died while it did."""
        found = open_plans(self._all.path)
        if found is None:
            raise SimError(f"{self._all.path} was changed by another process; run it again")
        clear_unlisted(found)
        self._all = found
        for row in found.part(self._slots, self._needed_s).sessions:
            self.folder.add(row)

    def _build(self) -> None:
        """Sessions are added to each slot that lacks them until it has work for the whole run; first ones first."""
        scenario, job = self._scenario, Job(self._scenario, self._model, self._all.path)
        lacking = sorted(self._lacking(), key=lambda each: each[1])
        given = {slot: number for slot, number, _ in lacking}
        covered_s = {slot: so_far_s for slot, _, so_far_s in lacking}
        firsts = sum(number == 0 for number in given.values())
        forecast = Forecast(scenario, self._slots, self._needed_s, self.folder.sessions)
        with ProcessPoolExecutor(os.cpu_count() or 2, get_context("spawn"), start_worker, (job,)) as pool:

            def ask(slot: int) -> Future[PlannedSession]:
                given[slot] += 1
                return pool.submit(plan_one, draw(scenario, slot, given[slot] - 1))

            with unheard():  # a worker is started with a task
                waiting = {ask(slot) for slot in list(given)}
            try:
                while waiting:
                    if not firsts:
                        self._first.set()
                    done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                    if self._stop.is_set():
                        raise SimError("planning was stopped")
                    for row in (future.result() for future in done):
                        self._all.add(row)
                        self.folder.add(row)
                        forecast.add(row)
                        covered_s[row.slot] += row.floor_s
                        firsts -= row.session == f"s{row.slot:04d}"
                        if covered_s[row.slot] < self._needed_s and more(scenario, row.slot, given[row.slot]):
                            waiting.add(ask(row.slot))
                    self._progress(len(self.folder.sessions), forecast.expected)
            except BaseException:
                _end_workers()
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _end_workers() -> list[BaseProcess]:
    """Kills those that there are, and gives them."""
    workers = active_children()
    for worker in workers:
        worker.kill()
    return workers


def _remove(folder: Path) -> None:
    """Also while a git that a killed worker left behind still writes into it; what is left after that is swept at the
    next start."""
    for _ in range(40):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05)


def cache_root() -> Path:
    """$XDG_CACHE_HOME/agent-sim/plans, by default below ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-sim" / "plans"


def _key(scenario: Scenario, model: str) -> str:
    """Whatever a plan depends on: the scenario's planned part, the model's name, the code and templates, and which of
    those this machine cannot play."""
    digest = hashlib.sha256(scenario.model_dump_json(exclude=NOT_PLANNED).encode())
    digest.update(model.encode())
    if scenario.tasks_dir is not None:
        digest.update(catalog.digest(Path(scenario.tasks_dir)).encode())
    digest.update(" ".join(absent(scenario)).encode())
    package = Path(__file__).resolve().parents[1]
    files = [package / "tokenizer.py", *(package.parent / "repos").rglob("*")]
    files += [package / name for name in PLANNERS]
    for part in ("cline", "tasks", "drive", *(("trace",) if scenario.trace is not None else ())):
        files += (package / part).rglob("*")
    for path in sorted(f for f in files if f.is_file() and "__pycache__" not in f.parts):
        digest.update(str(path.relative_to(package.parent)).encode() + path.read_bytes())
    return digest.hexdigest()[:24]
