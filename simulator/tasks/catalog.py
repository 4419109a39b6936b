"""The task templates under repos/: a folder with a recipe.py that turns a seed into a Task."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import sys
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
