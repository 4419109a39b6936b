"""A task tried out: its recorded path is really carried out in a scratch workspace, its check must pass then, and must
fail before and for every broken result that its template knows. A task without a recorded path is tried with the
solution that its folder holds, if any."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from simulator import tokenizer
from simulator.cli.planner import ScratchBench
from simulator.cline.profiles import profile
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario
from simulator.core.task import Task
from simulator.drive.checking import run_check
from simulator.drive.commands import CommandRunner
from simulator.drive.workspace import Repository
from simulator.errors import SimError
from simulator.tasks import catalog
from simulator.tasks.mix import SessionSpec
from simulator.tasks.recording import Terms, record, shown_dir

MODEL = "embedded-30b-a3b"


@dataclass(frozen=True, slots=True)
class Trial:
    """turns: requests of the session, of which `cuts` begin with a cut history. prompt_tok: of the largest request;
    total_tok: prompts and replies added up without cuts, about what the session has said in all; output_tok: of all
    replies. made_s, played_s: making the task and carrying it out. faults: what is wrong, empty when nothing is.
    broken: how many broken results were tried. proven: something showed that the check can pass."""

    template: str
    size: str
    seed: int
    profile: str
    turns: int
    prompt_tok: int
    total_tok: int
    output_tok: int
    cuts: int
    made_s: float
    played_s: float
    broken: int
    faults: tuple[str, ...]
    proven: bool


def tried(
    template: str, seed: int, size: str, profile_name: str, runner: CommandRunner, tasks_dir: Path | None = None
) -> Trial:
    """One instance, as a client of this profile works. What is wrong with its path or check is told, not raised."""
    begun = time.perf_counter()
    style = profile(profile_name).style
    task = catalog.make(template, seed, size, style, tasks_dir)
    made_s = time.perf_counter() - begun
    plan: SessionPlan | None = None
    with tempfile.TemporaryDirectory(prefix="sim-trial-") as folder:
        root = Path(folder) / "work" / task.name
        repository = Repository.create(Path(folder) / "task.git", task.history)
        repository.checkout(root, "trial")
        faults = _before(root, task, runner)
        spec = SessionSpec("s0000", 0, task.kind, size, seed, profile_name, 0.0, False)
        bench = ScratchBench(root, shown_dir(spec, task.name), repository.head, style.documents, runner)
        scenario = Scenario.model_validate({"name": "trial", "sessions": 1, "refill": False})
        broken = catalog.broken(template, task, tasks_dir)
        files = None if task.recorded else catalog.solution(template, task, tasks_dir)
        solved = True
        try:
            if task.recorded:
                plan = record(spec, task, bench, Terms(scenario, MODEL, tokenizer.count))
            else:
                faults += _with_solution(root, task, files, runner)
        except SimError as error:
            faults.append(str(error))
            solved = False
        if solved:
            faults += [f for name, files in broken for f in _broken(root, task, name, files, runner)]
    played_s = time.perf_counter() - begun - made_s
    proven = solved and (task.recorded or files is not None)
    return _told(task, profile_name, plan, made_s, played_s, len(broken), tuple(faults), proven)


def _before(root: Path, task: Task, runner: CommandRunner) -> list[str]:
    return [] if run_check(root, task.check, runner) else ["the check passes before anything was done"]


def _with_solution(
    root: Path, task: Task, files: Mapping[str, bytes | None] | None, runner: CommandRunner
) -> list[str]:
    if files is None:
        return []
    kept = {path: (root / path).read_bytes() if (root / path).is_file() else None for path in files}
    lay(root, files)
    complaints = run_check(root, task.check, runner)
    lay(root, kept)  # wrong results of such a task are laid over the repository as it was
    return [f"the solution fails its check: {complaint}" for complaint in complaints[:1]]


def _broken(root: Path, task: Task, name: str, files: Mapping[str, bytes | None], runner: CommandRunner) -> list[str]:
    """The check must complain with these files in place; afterwards the workspace is as before."""
    kept = {path: (root / path).read_bytes() if (root / path).is_file() else None for path in files}
    if all(kept[path] == content for path, content in files.items()):
        return [f"broken result `{name}` differs in nothing from the right one"]
    lay(root, files)
    complaints = run_check(root, task.check, runner)
    lay(root, kept)
    if not complaints:
        return [f"broken result `{name}` passes the check"]
    failed = [c for c in complaints if c.startswith("the check ")]
    return [f"broken result `{name}`: {failed[0]}"] if failed else []


def lay(root: Path, files: Mapping[str, bytes | None]) -> None:
    for path, content in files.items():
        where = root / path
        if content is None:
            where.unlink(missing_ok=True)
        else:
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_bytes(content)


def _told(
    task: Task,
    profile_name: str,
    plan: SessionPlan | None,
    made_s: float,
    played_s: float,
    broken: int,
    faults: tuple[str, ...],
    proven: bool,
) -> Trial:
    turns = plan.turns if plan else ()
    grown, before = 0, 0
    for turn in turns:
        grown += turn.prompt_tok - before if turn.prompt_tok > before else 0
        before = turn.prompt_tok
    return Trial(
        template=task.template,
        size=task.size,
        seed=task.seed,
        profile=profile_name,
        turns=len(turns),
        prompt_tok=max((t.prompt_tok for t in turns), default=0),
        total_tok=grown,
        output_tok=sum(t.output_tok for t in turns),
        cuts=sum(bool(t.cut) for t in turns),
        made_s=made_s,
        played_s=played_s,
        broken=broken,
        faults=faults,
        proven=proven,
    )
