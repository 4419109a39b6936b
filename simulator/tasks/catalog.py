"""The task templates under repos/: a folder with a recipe.py that turns a seed into a Task. What the templates of a
kind share is in a folder `_kit_NAME` beside them."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from simulator.core.task import KINDS, SIZES, Style, Task
from simulator.errors import UsageError

REPOS = Path(__file__).resolve().parents[2] / "repos"
_PACKAGE = "sim_repos"


def templates() -> list[str]:
    """Names of the folders that hold a recipe, sorted."""
    return sorted(p.parent.name for p in REPOS.glob("*/recipe.py"))


def kind_of(template: str) -> str:
    """ "coding" | "documents" | "finance", as the recipe says."""
    kind: str = load(template).KIND
    assert kind in KINDS, f"{template}: KIND {kind!r}"
    return kind


def of_kind(kind: str) -> tuple[str, ...]:
    """Templates of a kind, sorted. UsageError when there is none."""
    names = tuple(name for name in templates() if kind_of(name) == kind)
    if not names:
        raise UsageError(f"no template of kind {kind} under {REPOS}; the clone is incomplete")
    return names


def chosen(kind: str, seed: int) -> str:
    """The template that a session of this kind and seed works on: each as often as another."""
    names = of_kind(kind)
    return names[seed % len(names)]


@functools.cache
def load(template: str) -> ModuleType:
    """The recipe's module. repos/ becomes a package, so that a recipe can import its neighbours relatively, and what
    several templates share from the folder beside its own."""
    if template not in templates():
        near = difflib.get_close_matches(template, templates(), n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(templates())}"
        raise UsageError(f"no task template `{template}` under {REPOS}; {hint}")
    if _PACKAGE not in sys.modules:
        spec = ModuleSpec(_PACKAGE, None, is_package=True)
        spec.submodule_search_locations = [str(REPOS)]
        sys.modules[_PACKAGE] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"{_PACKAGE}.{template}.recipe")


def make(template: str, seed: int, size: str, style: Style) -> Task:
    """One instance; equal arguments give equal tasks on every machine."""
    if size not in SIZES:
        raise UsageError(f"size `{size}` is unknown; choose one of: {', '.join(SIZES)}")
    task: Task = load(template).make(seed, size, style)
    return task


def broken(template: str, task: Task) -> tuple[tuple[str, Mapping[str, bytes | None]], ...]:
    """Wrong results that the task's check must refuse: (what is wrong with it, path -> content laid over the finished
    workspace; None deletes). A template gives them with `broken(task)` in its recipe; none where it has no such."""
    give = getattr(load(template), "broken", None)
    return tuple(give(task)) if give else ()
