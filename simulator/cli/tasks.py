"""`sim tasks`: which templates there are, one instance shown, and whether they are sound."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from simulator.cli.trial import Trial, tried
from simulator.cline.profiles import PROFILES
from simulator.core.action import (
    Action,
    Command,
    Complete,
    Definitions,
    Edit,
    ListFiles,
    ReadFile,
    Search,
    Step,
    Write,
)
from simulator.core.task import CLASSIC_STYLE, SIZES, Task
from simulator.drive.commands import ShellRunner
from simulator.drive.zygote import ZygoteRunner
from simulator.errors import UsageError
from simulator.tasks import catalog

_SHOWN_FILES, _SHOWN_CHARS = 60, 100


def listed(tasks_dir: Path | None, measure: bool) -> int:
    folder = _folder(tasks_dir)
    table = Table("kind")
    table.add_column("template", no_wrap=True)
    for title in ("turns", "tokens" if measure else "files", "broken", "needs"):
        table.add_column(title)
    names = sorted(catalog.templates(folder), key=lambda n: (catalog.kind_of(n, folder), n))
    runner = ZygoteRunner(ShellRunner()) if measure else None
    for name in names:
        missing = catalog.lacking(name, folder)
        needs = ", ".join(f"{x} (missing)" if x in missing else x for x in catalog.needs(name, folder)) or "-"
        task = catalog.make(name, 1, "medium", CLASSIC_STYLE, folder)
        turns = str(len(task.steps)) if task.steps else "live only"
        files = f"{len({p for c in task.history for p in c.files}):,}"
        if runner is not None and not missing:
            one = tried(name, 1, "medium", "classic-xml", runner, folder)
            turns, files = (str(one.turns), f"{one.total_tok:,}") if task.steps else (turns, "-")
        wrong = len(catalog.broken(name, task, folder))
        table.add_row(catalog.kind_of(name, folder), name, turns, files, str(wrong), needs)
    if runner is not None:
        runner.close()
    console = Console()
    console.print(table)
    console.print(
        f"{len(names)} templates; figures are of seed 1, size medium; broken: wrong results that its check must "
        f"refuse. Sizes: {', '.join(SIZES)}. A template that lacks "
        "what it needs is not drawn.",
        highlight=False,
    )
    return 0


def shown(name: str, seed: int, size: str, tasks_dir: Path | None) -> int:
    name, folder = _found(name, _folder(tasks_dir))
    task = catalog.make(name, seed, size, CLASSIC_STYLE, folder)
    print(f"{task.template}, {task.kind}, {task.size}, seed {task.seed}: {task.name}\n\nREQUEST\n\n{task.prompt}\n")
    _show_repository(task)
    if task.steps:
        print(f"\nRECORDED PATH, {len(task.steps)} replies\n")
        for number, step in enumerate(task.steps, 1):
            print(f"{number:>4}  {_short(step)}")
    else:
        print("\nNo recorded path: it can be played live, not in a replay.")
    _show_check(task, len(catalog.broken(name, task, folder)))
    return 0


def checked(names: tuple[str, ...], seeds: int, sizes: tuple[str, ...], profile: str, tasks_dir: Path | None) -> int:
    """1 when a task is not sound; its name, seed and what is wrong are printed."""
    folder = _folder(tasks_dir)
    if profile not in PROFILES:
        raise UsageError(f"profile `{profile}` is unknown; choose one of: {', '.join(PROFILES)}")
    for size in sizes:
        if size not in SIZES:
            raise UsageError(f"size `{size}` is unknown; choose one of: {', '.join(SIZES)}")
    asked = [_found(name, folder) for name in names] or [(name, folder) for name in catalog.templates(folder)]
    runner = ZygoteRunner(ShellRunner())
    bad: list[str] = []
    for name, where in asked:
        if missing := catalog.lacking(name, where):
            print(f"  left out  {name}: {', '.join(missing)} is not on this machine")
            continue
        for size in sizes if catalog.recorded(name, where) else sizes[:1]:
            for seed in range(1, seeds + 1):
                one = tried(name, seed, size, profile, runner, where)
                print(_verdict(one, catalog.recorded(name, where)), flush=True)
                for fault in one.faults:
                    print(f"            {fault}")
                if one.faults:
                    bad.append(f"{name} ({size}, seed {seed})")
    runner.close()
    print(f"not sound: {', '.join(bad)}" if bad else "all sound")
    return 1 if bad else 0


def _verdict(one: Trial, recorded: bool) -> str:
    what = f"{one.turns} turns" if recorded else "no recorded path"
    return (
        f"  {'WRONG' if one.faults else 'sound':<8}  {one.template}, {one.size}, seed {one.seed}: {what}, "
        f"{one.broken} wrong results refused, {one.made_s + one.played_s:.1f} s"
        if not one.faults
        else f"  WRONG     {one.template}, {one.size}, seed {one.seed}:"
    )


def _folder(tasks_dir: Path | None) -> Path | None:
    return None if tasks_dir is None else tasks_dir.resolve()


def _found(name: str, folder: Path | None) -> tuple[str, Path | None]:
    """A template's name, or a folder with a task of one's own: (name, the folder above it)."""
    path = Path(name)
    if name not in catalog.templates(folder) and path.is_dir():
        if not any((path / file).is_file() for file in (catalog.RECIPE, catalog.FILE)):
            raise UsageError(f"{path} holds no task: it needs a {catalog.FILE} or a {catalog.RECIPE}")
        path = path.resolve()
        return path.name, path.parent
    return name, folder


def _show_repository(task: Task) -> None:
    head: dict[str, bytes] = {}
    for commit in task.history:
        for path, content in commit.files.items():
            if content is None:
                head.pop(path, None)
            else:
                head[path] = content
    total = sum(map(len, head.values()))
    print(f"REPOSITORY, {len(head):,} files, {total:,} bytes, {len(task.history)} commits\n")
    for path in sorted(head)[:_SHOWN_FILES]:
        print(f"      {path}  {len(head[path]):,}")
    if len(head) > _SHOWN_FILES:
        print(f"      and {len(head) - _SHOWN_FILES:,} more")


def _show_check(task: Task, broken: int) -> None:
    truth = json.loads(task.check.truth)
    keys = ", ".join(truth) if isinstance(truth, dict) else type(truth).__name__
    lines = task.check.program.count("\n")
    print(f"\nCHECK\n\n      a program of {lines} lines, run at the root")
    print(f"      with {len(task.check.truth):,} bytes of truth: {keys}")
    print(f"      {broken} wrong results are known that it must refuse")


def _short(step: Step) -> str:
    said = " ".join(step.say.split())
    done = "; ".join(_action(action) for action in step.actions)
    return f"{done}\n      {said[:_SHOWN_CHARS]}{'...' if len(said) > _SHOWN_CHARS else ''}"


def _action(action: Action) -> str:
    match action:
        case ListFiles(path):
            return f"list {path}"
        case ReadFile(path, start, end):
            return f"read {path}" + (f" {start}-{end}" if start or end else "")
        case Search(regex, path):
            return f"search {regex!r} in {path}"
        case Definitions(path):
            return f"outline {path}"
        case Edit(path, blocks):
            return f"edit {path}, {len(blocks)} block{'s' * (len(blocks) > 1)}"
        case Write(path, content):
            return f"write {path}, {content.count(chr(10))} lines"
        case Command(command):
            first, *rest = command.splitlines()
            return f"$ {first[:_SHOWN_CHARS]}" + (f" (+{len(rest)} lines)" if rest else "")
        case Complete():
            return "done"
    return type(action).__name__.lower()
