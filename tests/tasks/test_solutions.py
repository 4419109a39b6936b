"""Solutions told from a recorded plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from small_task import STEPS, recorded, spec

from simulator.core.action import Action, Command, Step, Write
from simulator.core.solution import from_line
from simulator.tasks.solutions import solutions_of


@pytest.mark.parametrize("profile", ["classic-xml", "classic-native", "sdk"])
def test_an_edit_has_two_ways_to_be_wrong(profile: str, tmp_path: Path) -> None:
    (solution,) = solutions_of(recorded(tmp_path, spec(profile)))
    (edit,) = [way for way in solution.ways if way.changes]
    assert edit.unfit is not None and edit.wrong is not None
    right, unfit, wrong = (
        each.content + "".join(a for _, a in each.calls) for each in (edit.reply, edit.unfit, edit.wrong)
    )
    assert "rate / 12" in right and "rate / 12" in unfit and "rate / 12" not in wrong
    assert "last week" in unfit and "last week" not in right + wrong
    assert all("rate / 11" in each for each in (right, unfit, wrong))
    others = [way for way in solution.ways if not way.changes]
    assert len(others) >= len(STEPS) - 1 and all(w.unfit is None and w.wrong is None for w in others)


@pytest.mark.parametrize(
    ("kind", "action", "counts"),
    [
        ("coding", Write("rates/fees.py", "x\n"), True),
        ("coding", Write("tests/test_loan.py", "x\n"), False),
        ("coding", Write("src/loan.test.ts", "x\n"), False),
        ("coding", Write("CHANGELOG.md", "x\n"), False),
        ("coding", Write("docs/rules.md", "x\n"), False),
        ("finance", Write("out/memo.md", "x\n"), True),
        ("documents", Write("docs/handover.md", "x\n"), False),
        ("documents", Command("true", effects=True), True),
        ("documents", Command("rm -rf work", effects=True), False),
        ("documents", Command("true"), False),
    ],
)
def test_which_changes_a_check_looks_at(kind: str, action: Action, counts: bool, tmp_path: Path) -> None:
    plan = replace(recorded(tmp_path, spec("sdk"), (*STEPS[:-1], Step("Also.", (action,)), STEPS[-1])), task_kind=kind)
    (solution,) = solutions_of(plan)
    way = solution.ways[-2]
    assert way.counts == counts and way.changes == (action != Command("true"))


def test_lines_hold_all_of_it_and_another_folder_can_be_named(tmp_path: Path) -> None:
    plan = recorded(tmp_path, spec("sdk"))
    (solution,) = solutions_of(plan)
    assert from_line(solution.line()) == solution
    (moved,) = solutions_of(plan, "/tmp/elsewhere")
    paths = [orjson.loads(a)["path"] for w in moved.ways for n, a in w.asks if n == "editor"]
    assert paths == ["/tmp/elsewhere/rates/loan.py"] and moved.cwd == "/tmp/elsewhere"
    for broken in (b"{}", b"[]", b'{"ways":[{}]}', b"no json"):
        with pytest.raises(ValueError):
            from_line(broken)


def test_where_nothing_is_recorded_there_is_no_solution(tmp_path: Path) -> None:
    assert solutions_of(replace(recorded(tmp_path, spec("sdk")), turns=())) == []
