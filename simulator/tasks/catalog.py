"""The task templates: folders under repos/ with a recipe.py that turns a seed into a Task, and in a folder of one's own
(`tasks_dir`) such folders or ones with a task.yaml (own.py). What the templates of a kind share is in a folder
`_kit_KIND` beside them.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from simulator.core.task import KINDS, SIZES, Style, Task
from simulator.errors import SimError, UsageError
from simulator.tasks import own, programs

REPOS = Path(__file__).resolve().parents[2] / "repos"
RECIPE, FILE = "recipe.py", "task.yaml"


def templates(tasks_dir: Path | None = None) -> list[str]:
    """Names of the folders that hold a recipe or a task file, sorted; those of `tasks_dir` among them."""
    return sorted(_folders(tasks_dir))


def _folders(tasks_dir: Path | None) -> dict[str, Path]:
    found = {p.parent.name: p.parent for p in REPOS.glob(f"*/{RECIPE}")}
    if tasks_dir is not None:
        if not tasks_dir.is_dir():
            raise UsageError(f"{tasks_dir}: no such folder; `tasks_dir` holds a folder for each task of one's own")
        mine = [p for name in (RECIPE, FILE) for p in tasks_dir.glob(f"*/{name}")]
        if not mine and any((tasks_dir / name).is_file() for name in (RECIPE, FILE)):
            raise UsageError(f"{tasks_dir} is a task itself; give its parent, {tasks_dir.parent}")
        if not mine:
            raise UsageError(
                f"{tasks_dir} holds no task: a folder with a {FILE} or a {RECIPE}; `sim tasks new` makes one"
            )
        for path in mine:
            if path.parent.name in found:
                raise UsageError(f"{path.parent}: there is a template of that name already; rename the folder")
        found |= {p.parent.name: p.parent for p in mine}
    return found


def kind_of(template: str, tasks_dir: Path | None = None) -> str:
    """ "coding" | "documents" | "finance", as the recipe says; of ours the folder's name says so, too."""
    ours, word = _folders(tasks_dir).get(template, REPOS).parent == REPOS, template.partition("_")[0]
    if ours and word in KINDS:
        return word  # without loading what only papers need
    kind: str = load(template, tasks_dir).KIND
    if kind not in KINDS:
        raise UsageError(f"template {template}: KIND is {kind!r}; it must be one of {', '.join(KINDS)}")
    return kind


@functools.cache
def needs(template: str, tasks_dir: Path | None = None) -> tuple[str, ...]:
    """Programs that its commands call, besides Python and git."""
    recipe = _folders(tasks_dir).get(template, REPOS) / RECIPE
    if recipe.is_file() and "NEEDS" not in recipe.read_text(encoding="utf-8", errors="replace"):
        return ()  # without loading what most of them need to make papers
    return tuple(getattr(load(template, tasks_dir), "NEEDS", ()))


def lacking(template: str, tasks_dir: Path | None = None) -> tuple[str, ...]:
    """Those of them that are not on this machine, where an agent's commands would look, or are too old."""
    return tuple(name for name in needs(template, tasks_dir) if programs.why_not(name))


def unplayable(kinds: Iterable[str], tasks_dir: Path | None = None, only: Iterable[str] = ()) -> dict[str, str]:
    """Templates of these kinds (of `only`, if any are named) that this machine cannot play -> what they need."""
    wanted, allowed = set(kinds), set(only)
    return {
        name: programs.why_not(lacks[0])
        for name in templates(tasks_dir)
        if (not allowed or name in allowed)
        and (lacks := lacking(name, tasks_dir))
        and kind_of(name, tasks_dir) in wanted
    }


def recorded(template: str, tasks_dir: Path | None = None) -> bool:
    """Whether it knows a way to the solution; without one it can only be played live."""
    return bool(getattr(load(template, tasks_dir), "RECORDED", True))


def of_kind(kind: str, tasks_dir: Path | None = None, only: Iterable[str] = ()) -> tuple[str, ...]:
    """Templates of a kind that this machine can play, sorted; of `only`, if any are named. UsageError when there is
    none."""
    allowed = set(only)
    named = [n for n in templates(tasks_dir) if not allowed or n in allowed]
    names = [n for n in named if kind_of(n, tasks_dir) == kind]
    if not names:
        what = f"`templates` has none of kind {kind}; name one, or leave {kind} out of `tasks`"
        raise UsageError(what if allowed else f"no template of kind {kind} under {REPOS}; the clone is incomplete")
    able = tuple(n for n in names if not lacking(n, tasks_dir))
    if not able:
        why = programs.why_not(lacking(names[0], tasks_dir)[0])
        raise UsageError(f"no template of kind {kind} can be played here: {names[0]} needs {why}")
    return able


def chosen(kind: str, seed: int, tasks_dir: Path | None = None, only: Iterable[str] = ()) -> str:
    """The template that a session of this kind and seed works on: each as often as another."""
    names = of_kind(kind, tasks_dir, only)
    return names[seed % len(names)]


@functools.cache
def load(template: str, tasks_dir: Path | None = None) -> Any:
    """The recipe: a module with KIND and `make`, or a task file as one. The folder above becomes a package, so that a
    recipe can import its neighbours relatively, and what several templates share from the folder beside its own."""
    folders = _folders(tasks_dir)
    if template not in folders:
        near = difflib.get_close_matches(template, folders, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(sorted(folders))}"
        raise UsageError(f"no task template `{template}` under {tasks_dir or REPOS}; {hint}")
    folder = folders[template]
    if not (folder / RECIPE).is_file():
        return own.read(folder)
    mine = folder.parent != REPOS
    package = f"sim_tasks_{hashlib.sha1(str(folder.parent).encode()).hexdigest()[:8]}" if mine else "sim_repos"
    if package not in sys.modules:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(folder.parent)]
        sys.modules[package] = importlib.util.module_from_spec(spec)
    if not mine:
        return importlib.import_module(f"{package}.{template}.recipe")
    try:
        found = importlib.import_module(f"{package}.{template}.recipe")
        if not callable(found.make):
            raise TypeError("`make` is no function")
        _ = found.KIND
        return found
    except SimError:
        raise
    except Exception as error:  # a recipe is a user's code: whatever is wrong with it, the sentence names the file
        raise UsageError(f"{folder / RECIPE}: it cannot be used: {type(error).__name__}: {error}") from error


def make(template: str, seed: int, size: str, style: Style, tasks_dir: Path | None = None) -> Task:
    """One instance; equal arguments give equal tasks on every machine."""
    if size not in SIZES:
        raise UsageError(f"size `{size}` is unknown; choose one of: {', '.join(SIZES)}")
    task: Task = load(template, tasks_dir).make(seed, size, style)
    return task


def broken(
    template: str, task: Task, tasks_dir: Path | None = None
) -> tuple[tuple[str, Mapping[str, bytes | None]], ...]:
    """Wrong results that the task's check must refuse: (what is wrong with it, path -> content laid over the finished
    workspace; None deletes). A template gives them with `broken(task)` in its recipe; none where it has no such."""
    give = getattr(load(template, tasks_dir), "broken", None)
    return tuple(give(task)) if give else ()


def solution(template: str, task: Task, tasks_dir: Path | None = None) -> Mapping[str, bytes | None] | None:
    """For a task without a recorded way: files that, laid over the workspace, solve it; None where nobody gave any."""
    give = getattr(load(template, tasks_dir), "solution", None)
    found: Mapping[str, bytes | None] | None = give(task) if give else None
    return found


def digest(tasks_dir: Path) -> str:
    """Of everything that decides what the templates of a folder of one's own give, the repositories that they name
    included."""
    found = hashlib.sha256()
    for path in sorted(p for p in tasks_dir.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        if ".git" not in path.relative_to(tasks_dir).parts:
            found.update(str(path.relative_to(tasks_dir)).encode() + b"\0" + path.read_bytes())
    for name, folder in sorted(_folders(tasks_dir).items()):
        if folder.parent == tasks_dir and not (folder / RECIPE).is_file():
            found.update(load(name, tasks_dir).state().encode())
    return found.hexdigest()
