"""Live sessions over real sockets, in a real workspace: what a model says decides, and each way to fail has a name."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from talking import BUG, CWD, MENDED, Played, Says, plan, play

from simulator.cline import texts
from simulator.cline.classic.calls import as_native, as_xml
from simulator.cline.profiles import profile as profile_of
from simulator.cline.sdk import calls as sdk
from simulator.core.action import Action, Command, Complete, Delegate, Edit, Propose, ReadFile, SwitchToAct, Write
from simulator.core.live import Limits
from simulator.drive.wall import PARTS

PROFILES = ("classic-xml", "classic-glm", "classic-native", "compact", "sdk")
READ, FIX = ReadFile("calc.py"), Edit("calc.py", (("    return x + x + 1\n", "    return x + x\n"),))
WRONG = Write("calc.py", BUG.replace("+ 1", "- 1"))
DONE = Complete("double() doubles now.")
PATH: tuple[tuple[Action, ...], ...] = (
    (READ,),
    (FIX,),
    (Command("python -c 'import calc; print(calc.double(2))'"),),
    (DONE,),
)


def said(profile: str, *actions: Action, text: str = "Next.", **more: Any) -> Says:
    """The reply of a model that does these, in its client's own form."""
    chosen = profile_of(profile)
    if chosen.client == "sdk":
        made = [call for action in actions for call in sdk.calls(action, CWD)]
        return Says(sdk.answer(text, actions), tuple((n, json.dumps(a)) for n, a in made), **more)
    if chosen.calls == "native":
        made = [as_native(action, "", CWD) for action in actions]
        return Says(text, tuple((n, json.dumps(a)) for n, a in made), **more)
    return Says("\n\n".join([text, *(as_xml(action, "") for action in actions)]), **more)


def steps(profile: str, *replies: Sequence[Action] | Says) -> Callable[[dict[str, Any], int], Says]:
    """One reply a request; the last one for ever."""

    def script(body: dict[str, Any], n: int) -> Says:
        reply = replies[min(n, len(replies) - 1)]
        return reply if isinstance(reply, Says) else said(profile, *reply)

    return script


def adds_up(done: Played) -> None:
    session = done.session
    parts = sum(getattr(session, f"{part}_s") for part in PARTS)
    assert parts == pytest.approx(session.t_end_s - session.t_ready_s, abs=1e-6)


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


NOTHING = Says("I think it is fine as it is.")
CUT_IN_TEXT = Says('<tool_call>\n{"name": "read_file", "arguments": {"path": "calc.py"}}\n</tool_call>')
LIMITS = Limits(9, 30.0, 100_000)


@pytest.mark.parametrize(
    ("profile", "replies", "failure", "turns"),
    [
        ("classic-xml", [(READ,), (WRONG,), (DONE,)], "wrong_answer", 3),
        ("sdk", [(READ,), (DONE,)], "wrong_answer", 2),
        ("classic-xml", [NOTHING], "gave_up", 3),
        ("classic-native", [(READ,), NOTHING], "gave_up", 4),
        ("sdk", [Says(reasoning="It is fine.")], "gave_up", 1),
        ("sdk", [Says(reasoning=CUT_IN_TEXT.text)], "malformed_calls", 1),
        ("sdk", [(READ,)], "loop", 5),
        ("classic-xml", [(READ,)], "loop", 9),
        ("classic-native", [CUT_IN_TEXT], "malformed_calls", 3),
        ("sdk", [CUT_IN_TEXT], "malformed_calls", 1),
        ("classic-xml", [Says("<read_fil>\n<path>calc.py</path>\n</read_fil>")], "malformed_calls", 3),
        ("classic-native", [Says(calls=(("read_file", '{"file": "calc.py"'),))], "malformed_calls", 3),
        ("classic-native", [Says(calls=(("open_file", '{"path": "calc.py"}'),))], "malformed_calls", 3),
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


async def test_a_command_has_no_more_time_than_its_session(tmp_path: Path) -> None:
    patient = said("classic-xml", Command("sleep 40; echo done", timeout_s=9_999.0))
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


async def test_a_model_that_hears_its_client_s_complaints_goes_on(tmp_path: Path) -> None:
    """Each mistake is answered in the client's words, and three that are not in a row end nothing."""
    for profile in ("classic-xml", "classic-native", "sdk"):
        broken = Says(calls=(("read_file", "{"),)) if profile == "classic-native" else NOTHING
        if profile == "sdk":
            broken = Says(calls=(("open_file", '{"path": "calc.py"}'),))
        replies = [broken, (READ,), broken, (FIX,), broken, broken, (DONE,)]
        done = await play(plan(profile, path=PATH), steps(profile, *replies), tmp_path / profile)
        assert done.session.verified is True and done.session.end_turn == 7, profile
        complaint = {"classic-xml": "called no tool", "classic-native": "without a value", "sdk": "NoSuchTool"}
        assert complaint[profile] in done.last(1)
        assert done.session.diverged_turn == 0 and done.session.recorded_share == 0.75


async def test_arguments_that_end_too_soon_are_mended(tmp_path: Path) -> None:
    cut = json.dumps({"path": f"{CWD}/calc.py", "old_text": "x + x + 1", "new_text": "x + x"})[:-2]
    done = await play(plan("sdk"), steps("sdk", Says(calls=(("editor", cut),)), (DONE,)), tmp_path)
    assert done.session.verified is True
    echoed = done.messages(1)[2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(echoed)["new_text"] == "x + x", "what goes back to the server is sound JSON"


async def test_a_reply_cut_by_its_length_limit_is_taken_as_it_stands_by_classic(tmp_path: Path) -> None:
    cut = Says(as_xml(Write("calc.py", MENDED), "").split("</content>")[0], finish="length")
    done = await play(plan("classic-xml"), steps("classic-xml", cut, (DONE,)), tmp_path)
    assert done.session.verified is True and done.lines.requests[0].defect == "length"


async def test_sdk_is_told_of_replies_cut_off_and_goes_on(tmp_path: Path) -> None:
    cut = Says("A very long tale", finish="length")
    done = await play(plan("sdk"), steps("sdk", (READ,), cut, cut, (FIX,), (DONE,)), tmp_path)
    assert done.session.verified is True and done.session.end_turn == 3
    assert [r.retry for r in done.lines.requests] == [0, 0, 1, 2, 0]
    assert "cut off" in done.last(3)


@pytest.mark.parametrize("profile", ["classic-xml", "classic-native"])
async def test_a_client_that_takes_one_call_closes_the_stream(profile: str, tmp_path: Path) -> None:
    one = plan(profile, parallel_tool_calls=False)
    first = said(profile, READ, FIX, gap_s=0.005)
    done = await play(one, steps(profile, first, (FIX,), (DONE,)), tmp_path)
    assert done.session.verified is True
    assert done.lines.requests[0].stopped and not done.model.finished[0]
    assert [t.tool for t in done.lines.tools] == ["read", "edit", "complete"]
    kept = done.messages(1)[2]
    assert len(kept.get("tool_calls", [1])) == 1 and "replace_in_file" not in json.dumps(kept)
    adds_up(done)


async def test_several_calls_of_one_reply_are_all_carried_out(tmp_path: Path) -> None:
    for profile in ("classic-xml", "classic-native", "sdk"):
        done = await play(plan(profile), steps(profile, (READ, FIX), (DONE,)), tmp_path / profile)
        assert done.session.verified is True and done.session.end_turn == 2
        assert [t.tool for t in done.lines.tools][:2] == ["read", "edit"]
        shown = json.dumps(done.messages(1)[3:])
        assert "def double(x)" in shown and (f"Edited {CWD}/calc.py" in shown or "final_file_content" in shown)


async def test_a_list_in_one_sdk_call_is_answered_by_one_message(tmp_path: Path) -> None:
    both = Says(calls=(("read_files", json.dumps({"files": [{"path": f"{CWD}/{n}"} for n in ("calc.py", "no.py")]})),))
    done = await play(plan("sdk"), steps("sdk", both, (FIX,), (DONE,)), tmp_path)
    (answer,) = [m for m in done.messages(1) if m["role"] == "tool"]
    rows = json.loads(answer["content"])
    assert [row["success"] for row in rows] == [True, False] and len(done.lines.tools) == 4


async def test_plan_mode(tmp_path: Path) -> None:
    for profile in ("classic-xml", "classic-native", "sdk"):
        replies: list[Any] = [(READ,), (Propose("1. mend it", "go"),), (FIX,), (DONE,)]
        if profile == "sdk":
            replies.insert(2, (SwitchToAct(),))
        else:
            replies.insert(1, (FIX,))  # refused while it is planning
        one = plan(profile, plan_mode=True, answer="Fine, go ahead.")
        done = await play(one, steps(profile, *replies), tmp_path / profile)
        assert done.session.verified is True, profile
        assert "Fine, go ahead." in json.dumps(done.messages(3))
        if profile != "sdk":
            assert "PLAN MODE" in done.last(2) and "not changed in PLAN MODE" in done.last(2)
        else:
            assert "editor" not in json.dumps(done.model.bodies[0]["tools"])
            assert "editor" in json.dumps(done.model.bodies[3]["tools"])


async def test_sub_agents_are_live_as_well(tmp_path: Path) -> None:
    for profile in ("classic-xml", "classic-native", "sdk"):

        def script(body: dict[str, Any], n: int, profile: str = profile) -> Says:
            told = json.dumps(body["messages"][1])
            if "look at calc" in told and "Mend double" not in told:
                found = [m for m in body["messages"] if "x + x + 1" in json.dumps(m)]
                return said(profile, Complete("it adds one too many") if found else READ)
            if "it adds one too many" not in json.dumps(body["messages"]):
                return said(profile, Delegate(("look at calc, first", "look at calc, second")))
            mended = any(FIX.path in json.dumps(m) and "x + x" in json.dumps(m) for m in body["messages"][3:])
            replies = sum(m["role"] == "assistant" for m in body["messages"])
            return said(profile, DONE if mended and replies > 1 else FIX)

        done = await play(plan(profile, subagents=True), script, tmp_path / profile)
        assert done.session.verified is True, (profile, done.session.error)
        assert sorted({r.branch for r in done.lines.requests}) == [0, 1, 2]
        assert {r.purpose for r in done.lines.requests if r.branch} == {"subagent"}
        assert done.session.subagent_s > 0
        adds_up(done)


async def test_classic_history_is_cut_by_the_server_s_count(tmp_path: Path) -> None:
    """Not by our own: the usage of the last request passes the limit of a 64k window."""
    counts = [1_000, 2_000, 3_000, 4_000, 5_000, 40_000, 8_000, 8_000]

    def script(body: dict[str, Any], n: int) -> Says:
        if n == 7:
            return said("classic-xml", DONE, prompt_tok=counts[n])
        return said("classic-xml", FIX if n == 6 else Command(f"echo {n}"), prompt_tok=counts[n])

    done = await play(plan("classic-xml", context_window_tok=64_000), script, tmp_path)
    assert done.session.verified is True
    lengths = [len(body["messages"]) for body in done.model.bodies]
    assert lengths[:6] == [2, 4, 6, 8, 10, 12] and lengths[6] < 12 and lengths[7] == lengths[6] + 2
    assert done.messages(6)[2]["role"] == "assistant" and "echo" not in done.messages(6)[2]["content"]


async def test_sdk_history_is_summed_up_by_the_model(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()

    def script(body: dict[str, Any], n: int) -> Says:
        if "tools" not in body:
            return Says("So far calc.py was read; double() is wrong.")
        history = json.dumps(body["messages"])
        if "Context summary" in history:
            return said("sdk", DONE if "x + x + 1" in history and "Edited" in history else FIX)
        return said("sdk", Command(f"seq {10_000 * n} {10_000 * n + 1_500}"))

    done = await play(plan("sdk", context_window_tok=32_000, limits=Limits(60, 30.0, 100_000)), script, tmp_path)
    assert done.session.verified is True, done.session.error
    kinds = [r.purpose for r in done.lines.requests]
    assert kinds.count("compaction") == 1
    after = done.messages(kinds.index("compaction") + 1)
    assert after[1]["content"].startswith("Context summary:\n\nSo far calc.py was read")
    assert [r.turn for r in done.lines.requests] == list(range(len(kinds)))


async def test_an_overflow_is_answered_by_a_shorter_history(tmp_path: Path) -> None:
    for profile in ("classic-xml", "sdk"):
        full = {"said": False}

        def script(body: dict[str, Any], n: int, profile: str = profile, full: dict[str, bool] = full) -> Says:
            if n == 8 and not full["said"]:
                full["said"] = True
                return Says(status=400, error="This model's maximum context length is 9 tokens")
            if n < 8:
                return said(profile, Command(f"seq {10_000 * n} {10_000 * n + 3_000}"))
            return said(profile, FIX if n == 9 else DONE)

        done = await play(plan(profile), script, tmp_path / profile)
        assert done.session.verified is True, (profile, done.session.error)
        assert len(json.dumps(done.messages(9))) < len(json.dumps(done.messages(8)))


async def test_a_checklist_is_asked_for_until_it_comes(tmp_path: Path) -> None:
    ticked = "- [x] Read\n- [ ] Mend"
    for profile in ("classic-xml", "classic-native"):
        if profile == "classic-xml":
            first = Says(as_xml(READ, ticked))
        else:
            name, arguments = as_native(READ, ticked, CWD)
            first = Says(calls=((name, json.dumps(arguments)),))
        replies = [(Command("ls"),), first, (FIX,), (DONE,)]
        done = await play(plan(profile), steps(profile, *replies), tmp_path / profile)
        missing = texts.load("classic/checklist_missing.md")
        assert [missing in done.last(n) for n in range(4)] == [False, True, False, False], profile
        assert done.session.verified is True


async def test_a_file_read_again_is_told_as_such(tmp_path: Path) -> None:
    replies = [(READ,), (Command("ls"),), (READ,), (Command("pwd"),), (READ,), (FIX,), (READ,), (DONE,)]
    done = await play(plan("classic-xml"), steps("classic-xml", *replies), tmp_path)
    told = [done.last(n) for n in (1, 3, 5, 7)]
    assert "[File already read]" in told[1] and "[DUPLICATE READ]" in told[2]
    assert all("already read" not in each and "DUPLICATE" not in each for each in (told[0], told[3])), "it had changed"


async def test_a_limit_on_replies_is_sent_as_a_user_would_set_it(tmp_path: Path) -> None:
    limits = Limits(9, 30.0, 100_000, reply_tok=512)
    done = await play(plan("sdk", limits=limits), steps("sdk", (FIX,), (DONE,)), tmp_path)
    assert [body["max_tokens"] for body in done.model.bodies] == [512, 512]


async def test_an_insertion_by_line(tmp_path: Path) -> None:
    def insert(line: int, text: str) -> Says:
        told = {"path": f"{CWD}/calc.py", "new_text": text, "insert_line": line}
        return Says(calls=(("editor", json.dumps(told)),))

    done = await play(plan("sdk"), steps("sdk", insert(1, "# one"), insert(99, "# last\n"), (FIX,), (DONE,)), tmp_path)
    assert (done.tools.root / "calc.py").read_text() == f"# one\n{MENDED}# last\n"
