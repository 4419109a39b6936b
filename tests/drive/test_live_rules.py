"""The rules by which each client reads, answers and remembers what a live model says, over real sockets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from live_cases import DONE, FIX, NOTHING, PATH, READ, adds_up, said, steps
from talking import CWD, MENDED, Says, plan, play

from simulator.cline import texts
from simulator.cline.classic.calls import as_native, as_xml
from simulator.core.action import Command, Complete, Delegate, Propose, SwitchToAct, Write
from simulator.core.live import Limits


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
        assert done.session.diverged_turn == 0 and done.session.recorded_share == pytest.approx(2 / 3)


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
    assert [row["success"] for row in rows] == [True, False] and len(done.lines.tools) == 3, "its answer is no call"


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


async def test_a_stream_that_breaks_after_output_is_the_reply_for_classic(tmp_path: Path) -> None:
    broken = Says(as_xml(FIX, "") + "\nand then", cut=True)
    done = await play(plan("classic-xml"), steps("classic-xml", broken, (DONE,)), tmp_path)
    assert done.session.verified is True and [r.error for r in done.lines.requests] == ["cut", ""]
    assert done.messages(1)[2]["content"].endswith("and then")


async def test_a_refused_request_is_sent_again(tmp_path: Path) -> None:
    for profile in ("classic-xml", "sdk"):
        busy = Says(status=429, error="slow down")
        done = await play(plan(profile), steps(profile, (READ,), busy, (FIX,), (DONE,)), tmp_path / profile)
        assert done.session.verified is True and done.session.backoff_s > 0.4
        assert [(r.turn, r.retry) for r in done.lines.requests] == [(0, 0), (1, 0), (1, 1), (2, 0)]
        assert done.messages(1) == done.messages(2), "nothing of it enters the history"
        adds_up(done)


async def test_a_notice_stands_for_a_summary_that_does_not_come(tmp_path: Path) -> None:
    def script(body: dict[str, Any], n: int) -> Says:
        history = json.dumps(body["messages"])
        if "tools" not in body:
            return Says(status=400, error="no")
        if "SYSTEM_NOTICE" in history:
            return said("sdk", DONE if "Edited" in history else FIX)
        return said("sdk", Command(f"seq {10_000 * n} {10_000 * n + 1_500}"))

    done = await play(plan("sdk", context_window_tok=32_000, limits=Limits(60, 30.0, 100_000)), script, tmp_path)
    assert done.session.verified is True, done.session.error
    assert [r.error for r in done.lines.requests if r.purpose == "compaction"] == ["bad_request"]


async def test_a_sub_agent_that_fails_fails_alone(tmp_path: Path) -> None:
    def script(body: dict[str, Any], n: int) -> Says:
        if "Mend double" not in json.dumps(body["messages"][1]):
            return Says(status=401, error="not you")
        replies = sum(m["role"] == "assistant" for m in body["messages"])
        return said("sdk", (Delegate(("look",)), FIX, DONE)[replies])

    done = await play(plan("sdk"), script, tmp_path)
    assert done.session.verified is True and done.session.outcome == "completed"
    (report,) = [json.loads(m["content"])["text"] for m in done.messages(2) if m["role"] == "tool"]
    assert report.startswith("Failed: auth") and "not you" in report


async def test_a_plan_that_nobody_may_answer_for_ever_is_an_answer(tmp_path: Path) -> None:
    """In sdk's plan mode a reply without a call is a plan; after three of them it is the end."""
    one = plan("sdk", plan_mode=True, answer="Go on.")
    done = await play(one, steps("sdk", Says("I would mend it.")), tmp_path)
    assert (done.session.failure_class, done.session.end_turn) == ("wrong_answer", 4)


async def test_what_comes_with_the_first_call_in_one_read_is_not_kept(tmp_path: Path) -> None:
    for profile in ("classic-xml", "classic-native"):
        one = plan(profile, parallel_tool_calls=False)
        at_once = said(profile, READ, FIX, piece=10_000)
        done = await play(one, steps(profile, at_once, (FIX,), (DONE,)), tmp_path / profile)
        assert [t.tool for t in done.lines.tools] == ["read", "edit", "complete"]
        assert "replace_in_file" not in json.dumps(done.messages(1)[2]), profile


async def test_the_usage_of_a_stream_that_was_closed_is_never_heard_of(tmp_path: Path) -> None:
    """So nothing is cut, however long the prompts are by the server's count; read to the end, the history is."""

    def script(body: dict[str, Any], n: int) -> Says:
        action = DONE if n == 7 else FIX if n == 6 else Command(f"echo {n}")
        return said("classic-xml", action, prompt_tok=120_000, counting=True, gap_s=0.001)

    closed = await play(plan("classic-xml", parallel_tool_calls=False), script, tmp_path / "closed")
    read = await play(plan("classic-xml"), script, tmp_path / "read")
    lengths = [[len(body["messages"]) for body in done.model.bodies] for done in (closed, read)]
    assert lengths[0] == list(range(2, 18, 2)) and max(lengths[1]) < 10
    assert closed.session.verified is True and read.session.verified is True


async def test_long_results_are_cut_as_sdk_sends_them(tmp_path: Path) -> None:
    done = await play(plan("sdk"), steps("sdk", (Command("seq 1 5000"),), (FIX,), (DONE,)), tmp_path)
    (answer,) = [m for m in done.messages(1) if m["role"] == "tool"]
    (row,) = json.loads(answer["content"])
    assert len(row["result"]) == 8_000 and "left out of the middle" in row["result"]
