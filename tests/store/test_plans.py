"""Plan folders: what is unfinished, damaged or in use."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from simulator.core.plan import SessionPlan, Turn
from simulator.core.task import Check
from simulator.store.plans import (
    PlanFolder,
    clear_unlisted,
    growing,
    hold,
    open_plans,
    prune,
    save_index,
    save_session,
    starting,
    sweep,
)


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


def test_the_first_slots_of_a_folder_are_a_plan_of_their_own(tmp_path: Path) -> None:
    plans = folder(tmp_path / "a")
    assert plans.slots == 2 and PlanFolder(tmp_path, ()).slots == 0
    first = plans.part(1, 9.0)
    assert [row.session for row in first.sessions] == ["s0000", "s0002"] and first.slots == 1
    assert first.hash != plans.hash == plans.part(2, 9.0).hash


def test_what_a_run_needs_of_a_folder_is_the_same_whatever_else_lies_there(tmp_path: Path) -> None:
    plans = folder(tmp_path / "a", sessions=6)  # two slots, three sessions each, a second of work a session
    assert [len(plans.part(2, needed_s).sessions) for needed_s in (0.0, 0.5, 1.0, 1.5, 3.0, 9.0)] == [2, 2, 2, 4, 6, 6]
    short = PlanFolder(plans.path, [plans.row(f"s{n:04d}") for n in range(4)])
    assert short.part(2, 1.5).hash == plans.part(2, 1.5).hash and short.part(2, 3.0).hash != plans.part(2, 3.0).hash
    assert plans.lacking(2, 3.0) == [] and short.lacking(2, 3.0) == [(0, 2, 2.0), (1, 2, 2.0)]
    assert plans.lacking(3, 0.0) == [(2, 0, 0.0)] and short.lacking(2, 2.0) == []


def test_half_made_folders_that_nobody_holds_are_swept(tmp_path: Path) -> None:
    root = tmp_path / "plans"
    root.mkdir()
    for name in ("whole", "left", "held"):
        plans = folder(root / name)
        if name == "whole":
            save_index(plans)
    with hold(root / "held"), starting(root):
        sweep(root)
    assert sorted(p.name for p in root.iterdir()) == ["held", "whole"]


def test_sessions_are_played_by_number_past_the_ten_thousandth(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    plans = PlanFolder(tmp_path / "a", ())
    for name in ("s12288", "s0000", "s4096"):
        plans.add(save_session(plans.path, one(name), 0, "0" * 40, 1.0))
    assert [plans.nth(0, n) for n in range(3)] == ["s0000", "s4096", "s12288"]
    assert [row.session for row in plans.sessions] == ["s0000", "s4096", "s12288"]


def test_a_growth_that_was_stopped_leaves_nothing_to_trip_over(tmp_path: Path) -> None:
    save_index(folder(tmp_path / "a"))
    save_session(tmp_path / "a", one("s0007"), 1, "0" * 40, 1.0)
    (tmp_path / "a" / "s0007.git" / "objects").mkdir(parents=True)
    (tmp_path / "a" / "work-x" / "repository").mkdir(parents=True)
    found = open_plans(tmp_path / "a")
    assert found is not None
    with growing(found.path):
        clear_unlisted(found)
    assert sorted(p.name for p in (*found.path.glob("s0007*"), *found.path.glob("work-*"))) == []
    assert open_plans(tmp_path / "a") is not None, "what is listed stays"


def test_one_process_grows_a_folder_at_a_time(tmp_path: Path) -> None:
    save_index(folder(tmp_path / "a"))
    order: list[str] = []

    def second() -> None:
        with growing(tmp_path / "a"):
            order.append("second")

    with growing(tmp_path / "a"):
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.2)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


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


def test_pruning_keeps_what_was_used_last_as_far_as_it_fits_and_what_is_in_use(tmp_path: Path) -> None:
    for age, name in enumerate("edcba"):
        save_index(folder(tmp_path / name))
        (tmp_path / name / "pack").write_bytes(bytes(1_000_000))
        os.utime(tmp_path / name, (1_000 - age, 1_000 - age))
    prune(tmp_path, most_bytes=10_000_000)
    assert len(list(tmp_path.iterdir())) == 5
    with hold(tmp_path / "b"):
        os.utime(tmp_path / "b", (900, 900))
        prune(tmp_path, most_bytes=2_500_000)
        assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "d", "e"]
    prune(tmp_path, most_bytes=2_500_000)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d", "e"]
    prune(tmp_path, most_bytes=0)
    assert [p.name for p in tmp_path.iterdir()] == ["e"], "the one just made stays, however large it is"
