"""Plan folders: what is unfinished, damaged or in use."""

from __future__ import annotations

import os
from pathlib import Path

from simulator.core.plan import SessionPlan, Turn
from simulator.core.task import Check
from simulator.store.plans import PlanFolder, hold, open_plans, prune, save_index, save_session


def one(session: str) -> SessionPlan:
    turn = Turn(0, "agent", (0,), "", 0, 10, 4, 0.0)
    return SessionPlan(
        session, "t", "coding", "medium", 1, "n", "sdk", "/home/dev/n", (b'{"messages":[',), (b"{}",), b"]", (turn,),
        Check("", ""),
    )  # fmt: skip


def folder(path: Path, sessions: int = 3) -> PlanFolder:
    path.mkdir()
    plans = PlanFolder(path, ())
    for number in range(sessions):
        plans.add(save_session(path, one(f"s{number:04d}"), number % 2, "0" * 40, 1.0))
        (plans.repository(f"s{number:04d}") / "objects").mkdir(parents=True)
    return plans


def test_a_finished_folder_is_opened_as_it_was_saved(tmp_path: Path) -> None:
    plans = folder(tmp_path / "a")
    assert open_plans(tmp_path / "a") is None, "without its index it is unfinished"
    save_index(plans)
    found = open_plans(tmp_path / "a")
    assert found is not None
    assert found.hash == plans.hash and found.sessions == plans.sessions
    assert found.load("s0001") == one("s0001")
    assert [found.nth(0, n) for n in range(3)] == ["s0000", "s0002", None] and found.nth(1, 0) == "s0001"


def test_a_damaged_folder_is_none(tmp_path: Path) -> None:
    save_index(folder(tmp_path / "a"))
    whole = (tmp_path / "a" / "s0002.plan").read_bytes()
    (tmp_path / "a" / "s0002.plan").write_bytes(whole[:-10])
    assert open_plans(tmp_path / "a") is None, "a torn plan is planned again"
    (tmp_path / "a" / "s0002.plan").unlink()
    assert open_plans(tmp_path / "a") is None
    (tmp_path / "a" / "s0002.plan").write_bytes(whole)
    assert open_plans(tmp_path / "a") is not None
    (tmp_path / "a" / "s0001.git" / "objects").rmdir()
    assert open_plans(tmp_path / "a") is None
    (tmp_path / "a" / "index.json").write_text("[{}]")
    assert open_plans(tmp_path / "a") is None


def test_pruning_keeps_the_newest_and_what_is_in_use(tmp_path: Path) -> None:
    for age, name in enumerate("edcba"):
        save_index(folder(tmp_path / name))
        os.utime(tmp_path / name, (1_000 - age, 1_000 - age))
    with hold(tmp_path / "b"):
        os.utime(tmp_path / "b", (900, 900))
        prune(tmp_path, keep=2)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "d", "e"]
    prune(tmp_path, keep=2)
    assert len(list(tmp_path.iterdir())) == 2
