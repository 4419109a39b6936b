"""`sim tasks new`: a task of one's own to start from, which works as it is."""

from __future__ import annotations

import os
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
    if repo is not None:
        print(
            f"Write request and check in {folder / 'task.yaml'}, and the hidden tests, then: sim tasks check {folder}"
        )
    else:
        print(f"It works as it is: sim tasks check {folder}")
    print(f"In a scenario: `tasks_dir: {folder.parent}` and, for it alone, `templates: [{folder.name}]`")
    return 0


def _text(name: str) -> str:
    return (_TEXTS / f"{name}.txt").read_text(encoding="utf-8")


def _recipe(folder: Path) -> dict[str, str]:
    assert "coding" in KINDS
    return {"recipe.py": _text("recipe_py").replace('"NAME"', repr(folder.name).replace("'", '"'))}


def _task(folder: Path, repo: Path | None) -> dict[str, str]:
    """With a sample repository of its own, or for the one that is named."""
    where = "repo" if repo is None else os.path.relpath(repo.resolve(), folder.resolve())
    task = _text("task_yaml").replace("{folder}", str(folder)).replace("{repo}", where)
    code, tests = _text("dates_py"), _text("test_dates_py")
    wrong, right = code.replace("{than}", ">="), code.replace("{than}", ">")
    hidden = {"hidden/tests/test_hidden_dates.py": tests.replace("{more}", _text("more_tests_py"))}
    if repo is not None:
        task = task.replace("solution: solution", "# solution: solution").replace("broken: broken", "# broken: broken")
        return {"task.yaml": task, **hidden}
    return {
        "task.yaml": task, **hidden, "repo/dates.py": wrong, "repo/tests/test_dates.py": tests.replace("{more}", ""),
        "repo/tests/__init__.py": "", "solution/dates.py": right,
        "broken/a constant/dates.py": wrong.replace("    day += days\n", "    day += days + 1\n"),
        "broken/edited tests/tests/test_hidden_dates.py": tests.replace("{more}", ""),
    }  # fmt: skip
