"""The cache's key covers every module that decides what is planned."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from simulator.cli import planning
from simulator.core.scenario import Scenario

PACKAGE = Path(planning.__file__).resolve().parents[1]
#: rooms of which every file is in the key; trace/ in the keys of scenarios that play one
WHOLE = ("cline", "tasks", "drive", "trace")
#: these decide where and how a plan is kept and words of errors, never what is in it
BESIDE = {"errors.py", "store/folder.py", "core/wording.py"}


def imported(path: Path) -> set[str]:
    """Files of this package that a module imports."""
    out = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("simulator"):
            base = PACKAGE.joinpath(*node.module.split(".")[1:])
            places = [base.with_suffix(".py"), *(base / f"{a.name}.py" for a in node.names)]
            out |= {str(p.relative_to(PACKAGE)) for p in places if p.is_file() and p != PACKAGE.with_suffix(".py")}
    return out


def test_whatever_planning_imports_is_in_the_key():
    todo, seen = ["cli/planning.py"], set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name.split("/")[0] not in WHOLE or name.startswith(("tasks", "cline")):
            todo += imported(PACKAGE / name)
    known = {*planning.PLANNERS, *BESIDE, "tokenizer.py"}
    missing = {n for n in seen if n.split("/")[0] not in WHOLE} - known
    assert not missing, f"these modules decide plans as well: {sorted(missing)}"
    assert {"core/template.py", "core/plan.py"} <= seen, "the walk sees what it should"
    assert all((PACKAGE / name).is_file() for name in planning.PLANNERS)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"plan_mode": 0.5}, False),
        ({"subagents": 0.5}, False),
        ({"parallel_tool_calls": False}, False),
        ({"cached_double_count": True}, False),
        ({"profiles": {"compact": 1}}, False),
        ({"name": "other"}, True),
        ({"slo": {"ttft_s": 1}}, True),
        ({"refill": True, "window_s": 60}, True),
        ({"refill": True, "window_s": 600, "ramp_s": 9}, True),
    ],
)
def test_what_changes_a_plan_changes_its_key(change, same):
    base = {"name": "t", "sessions": 2, "refill": False}
    one, other = (planning._key(Scenario.model_validate(base | more), "m") for more in ({}, change))
    assert (one == other) is same
