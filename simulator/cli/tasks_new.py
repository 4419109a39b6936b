"""`sim tasks new`: a task of one's own to start from: a sample that works as it is, or a form for one's repository."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from simulator.core.task import KINDS
from simulator.errors import UsageError

_TEXTS = Path(__file__).with_name("skeleton")


def made(folder: Path, recipe: bool, repo: Path | None) -> int:
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is there already and not empty; name a new folder")
    if recipe and repo is not None:
        raise UsageError("--repo goes with a task file; a --recipe makes its repository itself")
    if repo is not None and not repo.is_dir():
        raise UsageError(f"{repo}: no such folder; --repo names your git repository")
    files = _recipe(folder) if recipe else _task(folder, repo)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{folder}: {', '.join(sorted(files))}")
    begun = "It works as it is" if repo is None else f"Write request and check in {folder / 'task.yaml'}, then"
    print(f"{begun}: sim tasks check {folder}")
    needed = [f"tasks_dir: {folder.parent}", f"templates: [{folder.name}]", "tasks: {coding: 1}"]
    if not recipe:
        needed.insert(0, "mode: live")
        chosen = shlex.join(["--tasks-dir", str(folder.parent), "--set", f"templates=[{folder.name}]"])
        print(f"To run it: sim run scenarios/live_8_agents.yaml {chosen} --set 'tasks={{coding: 1}}'")
    print(f"In a scenario, for it alone: {', '.join(f'`{each}`' for each in needed)}")
    return 0


def _text(name: str) -> str:
    return (_TEXTS / f"{name}.txt").read_text(encoding="utf-8")


def _recipe(folder: Path) -> dict[str, str]:
    assert "coding" in KINDS
    return {"recipe.py": _text("recipe_py").replace('"NAME"', repr(folder.name).replace("'", '"'))}


def _task(folder: Path, repo: Path | None) -> dict[str, str]:
    """With a sample repository of its own, or for the one that is named."""
    if repo is not None:
        where = os.path.relpath(repo.resolve(), folder.resolve())
        return {"task.yaml": _text("repo_yaml").replace("{folder}", str(folder)).replace("{repo}", where)}
    task = _text("task_yaml").replace("{folder}", str(folder)).replace("{repo}", "repo")
    code, tests = _text("dates_py"), _text("test_dates_py")
    wrong, right = code.replace("{than}", ">="), code.replace("{than}", ">")
    return {
        "task.yaml": task, "hidden/tests/test_hidden_dates.py": _text("hidden_dates_py"),
        "repo/dates.py": wrong, "repo/tests/test_dates.py": tests,
        "repo/tests/__init__.py": "", "solution/dates.py": right,
        "broken/a constant/dates.py": wrong.replace("    day += days\n", "    day += days + 1\n"),
        "broken/edited tests/tests/test_hidden_dates.py": "raise SystemExit(0)\n",
        "broken/a clean exit/dates.py": "import os\n\nos._exit(0)\n",
        "broken/tests of its own/unittest.py": "def main():\n    raise SystemExit(0)\n",
        "broken/tests of its own/tests/__init__.py": "raise SystemExit(0)\n",
        "broken/patched tests/dates.py": "import unittest\n\nunittest.TestCase.run = lambda self, result=None: result\n"
        "add_days = length = lambda *given: None\n",
    }  # fmt: skip
