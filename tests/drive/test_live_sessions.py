"""Live sessions over real sockets, in a real workspace: what a model says decides, and each way to fail has a name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from live_cases import DONE, NOTHING, PATH, PROFILES, READ, WRONG, adds_up, said, steps
from talking import MENDED, Says, plan, play

from simulator.core.action import Command
from simulator.core.live import Limits


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_task_is_solved(profile: str, tmp_path: Path) -> None:
    done = await play(plan(profile, path=PATH), steps(profile, *PATH), tmp_path)
    session = done.session
    assert (session.outcome, session.verified, session.failure_class) == ("completed", True, "")
    assert (session.diverged_turn, session.recorded_share) == (None, 1.0)
    assert (session.end_turn, session.edits, session.error) == (4, 1, "")
    assert (done.tools.root / "calc.py").read_text() == MENDED
    assert "return x + x + 1" in done.last(1), "the model was shown the file"
    assert [r.planned_prompt_tok for r in done.lines.requests] == [0] * 4
    assert all("max_tokens" not in body and "ignore_eos" not in body for body in done.model.bodies)
    for n in range(1, 4):
        assert done.messages(n)[: len(done.messages(n - 1))] == done.messages(n - 1), "strictly growing"
    adds_up(done)


CUT_IN_TEXT = Says('<tool_call>\n{"name": "read_file", "arguments": {"path": "calc.py"}}\n</tool_call>')
UNKNOWN = Says(calls=(("open_file", '{"path": "calc.py"}'),))
LIMITS = Limits(9, 30.0, 100_000)


@pytest.mark.parametrize(
    ("profile", "replies", "failure", "turns"),
    [
        ("classic-xml", [(READ,), (WRONG,), (DONE,)], "wrong_answer", 3),
        ("sdk", [(READ,), (DONE,)], "wrong_answer", 2),
        ("classic-xml", [NOTHING], "gave_up", 3),
        ("classic-native", [UNKNOWN, NOTHING], "malformed_calls", 3),
        ("classic-native", [UNKNOWN, (READ,), NOTHING], "gave_up", 5),
        ("classic-native", [(READ,), NOTHING], "gave_up", 4),
        ("sdk", [Says(reasoning="It is fine.")], "gave_up", 1),
        ("sdk", [Says(reasoning=CUT_IN_TEXT.text)], "malformed_calls", 1),
        ("sdk", [(READ,)], "loop", 5),
        ("classic-xml", [(READ,)], "loop", 9),
        ("classic-native", [CUT_IN_TEXT], "malformed_calls", 3),
        ("sdk", [CUT_IN_TEXT], "malformed_calls", 1),
        ("classic-xml", [Says("<read_fil>\n<path>calc.py</path>\n</read_fil>")], "malformed_calls", 3),
        ("classic-native", [Says(calls=(("read_file", '{"file": "calc.py"'),))], "malformed_calls", 3),
        ("classic-native", [UNKNOWN], "malformed_calls", 3),
        ("sdk", [Says(calls=((f"tool_{n}", "{}"),)) for n in range(9)], "malformed_calls", 6),
        ("sdk", [Says(calls=(("fetch_web_content", f'{{"url": "{n}"}}'),)) for n in range(9)], "malformed_calls", 6),
        ("sdk", [Says(calls=(("fetch_web_content", f'{{"requests": [{n}]}}'),)) for n in range(10)], "time_out", 9),
        ("sdk", [(READ,), Says(status=400, error="maximum context length is 9")], "context_overflow", 1),
        ("sdk", [(READ,), Says(status=401, error="no")], "engine_error", 1),
        ("sdk", [(READ,), Says("half of", cut=True)], "engine_error", 1),
        ("sdk", [Says("too long a tale", finish="length")], "time_out", 0),
    ],
)
async def test_each_failure_has_its_class(
    profile: str, replies: list[Any], failure: str, turns: int, tmp_path: Path
) -> None:
    done = await play(plan(profile, limits=LIMITS), steps(profile, *replies), tmp_path)
    session = done.session
    assert (session.failure_class, session.verified, session.end_turn) == (failure, False, turns)
    assert session.outcome == ("failed" if failure == "engine_error" else "completed")
    assert session.check == ("double(2) is 3" if (WRONG,) in replies else "double(2) is 5")
    assert (session.diverged_turn, session.recorded_share) == (None, None), "nothing is recorded"
    adds_up(done)


async def test_different_calls_until_a_limit_are_a_time_out(tmp_path: Path) -> None:
    def wander(body: dict[str, Any], n: int) -> Says:
        return said("classic-xml", Command(f"echo {n}"))

    turns = await play(plan("classic-xml", limits=Limits(4, 30.0, 10_000)), wander, tmp_path / "a")
    tokens = await play(plan("classic-xml", limits=Limits(99, 30.0, 120)), wander, tmp_path / "b")
    assert [p.session.failure_class for p in (turns, tokens)] == ["time_out"] * 2
    assert turns.session.end_turn == 4 and "4 turns" in turns.session.error
    assert tokens.session.end_turn == 3 and "120 output tokens" in tokens.session.error


async def test_an_endless_reply_is_ended_by_the_session_s_time(tmp_path: Path) -> None:
    slow = Says("word " * 4_000, gap_s=0.02)
    done = await play(plan("classic-xml", limits=Limits(9, 0.6, 100_000)), lambda body, n: slow, tmp_path)
    assert done.session.failure_class == "time_out" and "0.6 s" in done.session.error
    assert [r.outcome for r in done.lines.requests] == ["cancelled"]
    adds_up(done)


@pytest.mark.parametrize("timeout_s", [9_999.0, None])
async def test_a_command_has_no_more_time_than_its_session(timeout_s: float | None, tmp_path: Path) -> None:
    patient = said("classic-xml", Command("sleep 40; echo done", timeout_s=timeout_s))
    done = await play(plan("classic-xml", limits=Limits(9, 1.5, 100_000)), lambda body, n: patient, tmp_path)
    assert done.session.failure_class == "time_out"
    assert done.session.tool_run_s < 20 and done.lines.tools[0].exit_code is None, "it was stopped"
    adds_up(done)


async def test_an_endless_reply_is_ended_by_the_session_s_tokens(tmp_path: Path) -> None:
    slow = Says("word " * 2_000, gap_s=0.001, piece=20)
    done = await play(plan("classic-xml", limits=Limits(9, 30.0, 200)), lambda body, n: slow, tmp_path)
    assert done.session.failure_class == "time_out"
    assert done.lines.requests[0].stopped and not done.model.finished[0]


async def test_the_end_of_the_run_is_no_failure_of_the_session(tmp_path: Path) -> None:
    def slowly(body: dict[str, Any], n: int) -> Says:
        return said("classic-xml", Command(f"echo {n}"), gap_s=0.01)

    done = await play(plan("classic-xml"), slowly, tmp_path, stop_at_s=0.4)
    assert (done.session.outcome, done.session.verified, done.session.failure_class) == ("stopped", None, "")
    adds_up(done)
