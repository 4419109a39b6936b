"""`sim tasks`: which templates there are, one instance shown, and whether they are sound."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import product
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
from simulator.core.wording import counted, left_out
from simulator.drive.commands import ShellRunner
from simulator.drive.zygote import ZygoteRunner
from simulator.errors import UsageError
from simulator.tasks import catalog, programs

_SHOWN_FILES, _SHOWN_CHARS = 60, 100


def listed(tasks_dir: Path | None, measure: bool) -> int:
    folder = _folder(tasks_dir)
    table = Table("kind")
    table.add_column("template", no_wrap=True)
    for title in ("turns", "tokens" if measure else "files", "broken", "needs"):
        table.add_column(title)
    lacks: dict[str, str] = {}
    names = sorted(catalog.templates(folder), key=lambda n: (catalog.kind_of(n, folder), n))
    runner = ZygoteRunner(ShellRunner()) if measure else None
    for name in names:
        missing = catalog.lacking(name, folder)
        recorded = catalog.recorded(name, folder)
        needs = ", ".join(f"{x} *" if x in missing else x for x in catalog.needs(name, folder)) or "-"
        if missing:
            lacks[name] = programs.why_not(missing[0])
        task = catalog.make(name, 1, "medium", CLASSIC_STYLE, folder)
        turns = str(len(task.steps)) if recorded else "live only"
        files = f"{len({p for c in task.history for p in c.files}):,}"
        if runner is not None and not missing:
            one = tried(name, 1, "medium", "classic-xml", runner, folder)
            turns, files = (str(one.turns), f"{one.total_tok:,}") if recorded else (turns, "-")
        wrong = len(catalog.broken(name, task, folder))
        table.add_row(catalog.kind_of(name, folder), name, turns, files, str(wrong), needs)
    if runner is not None:
        runner.close()
    console = Console()
    console.print(table)
    console.print(
        f"{counted(len(names), 'template')}; figures are of seed 1, size medium; broken: wrong results that its check "
        f"must refuse. Sizes: {', '.join(SIZES)}.",
        highlight=False,
    )
    for line in left_out(lacks):
        console.print(f"* {line}", highlight=False, markup=False)
    return 0


def shown(name: str, seed: int, size: str, tasks_dir: Path | None) -> int:
    name, folder = _found(name, _folder(tasks_dir))
    task = catalog.make(name, seed, size, CLASSIC_STYLE, folder)
    print(f"{task.template}, {task.kind}, {task.size}, seed {task.seed}: {task.name}\n\nREQUEST\n\n{task.prompt}\n")
    _show_repository(task)
    if task.recorded:
        print(f"\nRECORDED PATH, {counted(len(task.steps), 'reply', 'replies')}\n")
        for number, step in enumerate(task.steps, 1):
            print(f"{number:>4}  {_short(step)}")
    else:
        files = catalog.solution(name, task, folder)
        proof = (
            f"Its solution has {counted(len(files), 'file')}: {', '.join(files)}." if files else "It has no `solution`."
        )
        print(f"\nNo recorded path: it can be played live, not in a replay. {proof}")
    _show_check(task, len(catalog.broken(name, task, folder)))
    return 0


def checked(names: tuple[str, ...], seeds: int, sizes: tuple[str, ...], profile: str, tasks_dir: Path | None) -> int:
    """1 when a task is not sound; its name, seed and what is wrong are printed. A task of which nothing shows that its
    check can pass is told as unproven."""
    folder = _folder(tasks_dir)
    if profile not in PROFILES:
        raise UsageError(f"profile `{profile}` is unknown; choose one of: {', '.join(PROFILES)}")
    for size in sizes:
        if size not in SIZES:
            raise UsageError(f"size `{size}` is unknown; choose one of: {', '.join(SIZES)}")
    asked = [_found(name, folder) for name in names] or [(name, folder) for name in catalog.templates(folder)]
    trials: list[Trial] = []
    with closing(ZygoteRunner(ShellRunner())) as runner:
        for name, where in asked:
            if missing := catalog.lacking(name, where):
                print(f"  left out  {name}, for it needs {programs.why_not(missing[0])}")
                continue
            recorded = catalog.recorded(name, where)
            for size, seed in product(sizes if recorded else sizes[:1], range(1, seeds + 1)):
                one = tried(name, seed, size, profile, runner, where)
                trials.append(one)
                print(
                    "\n".join((_verdict(one, recorded), *(f"            {fault}" for fault in one.faults))), flush=True
                )
    print(_concluded(trials))
    return 1 if any(one.faults for one in trials) else 0


def _concluded(trials: list[Trial]) -> str:
    if bad := [f"{one.template} ({one.size}, seed {one.seed})" for one in trials if one.faults]:
        return f"not sound: {', '.join(bad)}"
    if not trials:
        return "nothing was checked"
    unproven = [one.template for one in trials if not one.proven]
    rest = ", all others sound" if len(unproven) < len(trials) else ""
    return f"unproven: {', '.join(dict.fromkeys(unproven))}{rest}" if unproven else "all sound"


def _verdict(one: Trial, recorded: bool) -> str:
    what = f"{one.template}, {one.size}, seed {one.seed}"
    if one.faults:
        return f"  WRONG     {what}:"
    refused = f"{counted(one.broken, 'wrong result')} refused, {one.made_s + one.played_s:.1f} s"
    if not one.proven:
        return f"  unproven  {what}: no `solution`, so nothing shows that the check can pass; {refused}"
    return f"  sound     {what}: {counted(one.turns, 'turn') if recorded else 'no recorded path'}, {refused}"


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
    print(f"REPOSITORY, {counted(len(head), 'file')}, {total:,} bytes, {counted(len(task.history), 'commit')}\n")
    for path in sorted(head)[:_SHOWN_FILES]:
        print(f"      {path}  {len(head[path]):,}")
    if len(head) > _SHOWN_FILES:
        print(f"      and {len(head) - _SHOWN_FILES:,} more")


def _show_check(task: Task, broken: int) -> None:
    truth = json.loads(task.check.truth)
    print("\nCHECK\n")
    if not task.recorded:
        print(f"      {truth['command']}\n      at most {truth['timeout_s']:g} s, in a copy of the workspace")
        names = ", ".join(truth["files"])
        print(f"      with {counted(len(truth['files']), 'hidden file')}{': ' * bool(names)}{names}")
    else:
        keys = ", ".join(truth) if isinstance(truth, dict) else type(truth).__name__
        print(f"      a program of {counted(task.check.program.count(chr(10)), 'line')}, run at the root")
        print(f"      with {len(task.check.truth):,} bytes of truth: {keys}")
    print(f"      {counted(broken, 'wrong result')} {'is' if broken == 1 else 'are'} known that it must refuse")


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
            return f"edit {path}, {counted(len(blocks), 'block')}"
        case Write(path, content):
            return f"write {path}, {counted(content.count(chr(10)), 'line')}"
        case Command(command):
            first, *rest = command.splitlines()
            return f"$ {first[:_SHOWN_CHARS]}" + (f" (+{counted(len(rest), 'line')})" if rest else "")
        case Complete():
            return "done"
    return type(action).__name__.lower()
