"""Sub-agents at run time: all at once, lines of their own, a parent that waits and outlives their failures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest
from scripted import OK, Lines, Met, Played, Scripted, SlowTools, always, message, plan, play
from virtual_time import run

from simulator.core.action import ReadFile
from simulator.core.plan import Branch, PlannedCall, SessionPlan, Turn
from simulator.drive.meter import Meter
from simulator.drive.sender import Job
from simulator.drive.session import PARTS, SessionRunner
from simulator.drive.stage import Stage


def branch(name: str, turns: int, *, recorded: str = "a", think_s: float = 0.0) -> Branch:
    call = (PlannedCall(ReadFile("b"), recorded, 0.0),)
    return Branch(
        name, tuple(Turn(i, "subagent", tuple(range(2 * i + 2)), "", 0, 500, 40, think_s, call) for i in range(turns))
    )


def spawning(*branches: Branch, profile: str = "sdk") -> SessionPlan:
    return plan(profile, 3, spawns={1: tuple(range(len(branches)))}, branches=branches)


def played(one: SessionPlan, script: Callable[[Job, int], Met], **more: float) -> Played:
    return run(play(one, script, **more))  # type: ignore[arg-type]


def whole(done: Played) -> None:
    session = done.session
    parts = sum(getattr(session, f"{part}_s") for part in PARTS)
    assert parts == pytest.approx(session.t_end_s - session.t_ready_s, abs=1e-6)


def test_they_run_at_once_and_the_parent_waits_for_the_longest() -> None:
    done = played(spawning(branch("a", 1), branch("b", 3), branch("c", 2)), always(OK))
    parent = [(t, job.turn) for t, job in done.sender.sent if job.branch == 0]
    assert parent == [(0.0, 0), (2.0, 1), (4.0 + 3 * 2.0, 2)], "a request and a tool take a second each"
    for number, turns in ((1, 1), (2, 3), (3, 2)):
        mine = [(t, job.turn) for t, job in done.sender.sent if job.branch == number]
        assert mine == [(4.0 + 2.0 * k, k) for k in range(turns)]
    assert done.sender.most_open == 3
    assert {job.purpose for _, job in done.sender.sent if job.branch} == {"subagent"}
    session = done.session
    assert session.outcome == "completed" and session.subagent_s == pytest.approx(6.0)
    assert session.model_s == pytest.approx(3.0), "their requests are in no part but the wait"
    assert session.tool_calls == 3 + 6 == len(done.lines.tools)
    assert sorted(t.branch for t in done.lines.tools) == [0] * 3 + [1] + [2] * 3 + [3] * 2
    whole(done)


@pytest.mark.parametrize("met", [Met("auth"), Met("timeout", took_s=300.0), Met(defect="reasoning_only")])
def test_one_that_fails_ends_alone(met: Met) -> None:
    done = played(spawning(branch("a", 2), branch("b", 2)), lambda job, n: met if job.branch == 1 else OK)
    assert [job.turn for _, job in done.sender.sent if job.branch == 1] == [0]
    assert [job.turn for _, job in done.sender.sent if job.branch == 2] == [0, 1]
    assert done.session.outcome == "completed" and done.session.error == ""
    assert done.session.subagent_s == pytest.approx(max(4.0, met.took_s))
    whole(done)


def test_a_fault_of_its_tools_ends_it_alone_as_well() -> None:
    one = spawning(branch("a", 2), branch("b", 2))
    odd = replace(one.branches[0].turns[0], calls=(PlannedCall(None, "x", 0.0),))  # type: ignore[arg-type]
    one = replace(one, branches=(Branch("a", (odd, one.branches[0].turns[1])), one.branches[1]))
    done = played(one, always(OK))
    assert [job.turn for _, job in done.sender.sent if job.branch == 2] == [0, 1]
    assert done.session.outcome == "completed"


def test_it_repeats_and_complains_as_its_parent_s_client_does() -> None:
    met = iter([Met("cut", text="half"), OK])
    one = spawning(branch("a", 2), profile="classic-xml")
    done = played(one, lambda job, n: next(met, OK) if job.branch else OK)
    mine = [(job.turn, job.retry) for _, job in done.sender.sent if job.branch]
    assert mine == [(0, 0), (0, 1), (1, 0)]
    last = max(n for n, (_, job) in enumerate(done.sender.sent) if job.branch)
    assert "half" in [m["content"] for m in done.messages(last)]
    assert "half" not in [m["content"] for m in done.messages(len(done.times_s) - 1)], "its history is its own"


def test_pauses_are_between_its_turns() -> None:
    done = played(spawning(branch("a", 2, think_s=10.0)), always(OK))
    assert [t for t, job in done.sender.sent if job.branch] == [4.0, 16.0]


def test_the_end_of_the_run_lets_what_is_in_flight_finish_and_starts_nothing() -> None:
    done = played(spawning(branch("a", 5), branch("b", 5)), always(OK), stop_at_s=4.5)
    assert [(job.branch, job.turn) for _, job in done.sender.sent if job.branch] == [(1, 0), (2, 0)]
    assert done.session.outcome == "stopped" and len(done.sender.records) == len(done.sender.sent)
    whole(done)


def test_cancelling_the_session_cancels_them_and_keeps_its_line() -> None:
    async def main() -> tuple[Scripted, Lines]:
        loop = asyncio.get_running_loop()
        sender, lines = Scripted(lambda job, n: Met(took_s=100.0) if job.branch else OK), Lines()
        stage = Stage(
            sender, SlowTools(), lines, Meter(loop.time), loop.time, lambda t: t, asyncio.Event(), False, True
        )  # type: ignore[arg-type]
        task = asyncio.create_task(SessionRunner(stage, spawning(branch("a", 2), branch("b", 2)), 0).run())
        await asyncio.sleep(10.0)
        assert sender.open == 2 and stage.meter.slot(0).phase == "tool"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return sender, lines

    sender, lines = run(main())
    assert sender.open == 0
    (session,) = lines.sessions
    assert session.outcome == "stopped" and session.subagent_s == pytest.approx(6.0)


CLASSIC_REPORTS = """2 sub-agents sent, 2 done, 0 failed. 7 tool calls, 900 tokens in, 80 tokens out.

## 1. Look at a
Done: 3 replies, 3 tool calls, 400 tokens in, 40 tokens out.

a is fine.

## 2. Look at b
Done: 4 replies, 4 tool calls, 500 tokens in, 40 tokens out.

b is fine."""


def reporting(profile: str) -> SessionPlan:
    """Two sub-agents, whose reports are in the history as the clients write them."""
    one, pool = spawning(branch("a", 1), branch("b", 1), profile=profile), []
    if profile == "sdk":
        said = [orjson.dumps({"text": f"{n} is fine.", "finishReason": "completed"}).decode() for n in "ab"]
        pool = [message("tool", text, tool_call_id=f"x{n}") for n, text in enumerate(said)]
    else:
        parts = [{"type": "text", "text": text} for text in (f"[use_subagents] Result:\n{CLASSIC_REPORTS}", "<env/>")]
        pool = [message("user", parts)]
    at, last = len(one.pool), one.turns[2]
    view = (*last.view[:-1], *range(at, at + len(pool)))
    return replace(one, pool=(*one.pool, *pool), turns=(*one.turns[:2], replace(last, view=view)))


def test_an_error_stands_for_the_report_of_the_one_that_failed_sdk() -> None:
    done = played(reporting("sdk"), lambda job, n: Met("auth") if job.branch == 2 else OK)
    good, bad = done.messages(len(done.times_s) - 1)[-2:]
    assert orjson.loads(good["content"])["text"] == "a is fine." and bad["tool_call_id"] == "x1"
    assert orjson.loads(bad["content"]) == {"text": "", "finishReason": "error", "error": "b: auth: it was auth"}


@pytest.mark.parametrize("lost", [1, 2])
def test_an_error_stands_for_the_report_of_the_one_that_failed_classic(lost: int) -> None:
    done = played(reporting("classic-xml"), lambda job, n: Met("auth") if job.branch == lost else OK)
    text, environment = (part["text"] for part in done.messages(len(done.times_s) - 1)[-1]["content"])
    assert environment == "<env/>" and "1 done, 1 failed" in text
    assert f"## {lost}. Look at {'ab'[lost - 1]}\nFailed: {'ab'[lost - 1]}: auth: it was auth" in text
    assert f"{'ab'[lost - 1]} is fine." not in text and f"{'ba'[lost - 1]} is fine." in text
    assert text.index("## 1. Look at a") < text.index("## 2. Look at b")


def test_reports_stay_as_they_are_when_none_fails() -> None:
    done = played(reporting("classic-xml"), always(OK))
    assert CLASSIC_REPORTS in done.messages(len(done.times_s) - 1)[-1]["content"][0]["text"]
