"""Classic with native calls: results that travel beside their calls, closed streams, cuts that leave no call without
its answer; and modes and sub-agents in every client."""

from __future__ import annotations

import orjson
import pytest
from cline_cases import SETUP, SOURCE, body, messages, start, turn

from simulator.cline.classic.client import MISSING
from simulator.cline.profiles import PROFILES
from simulator.core import action as act
from simulator.errors import UsageError

NATIVE = pytest.mark.parametrize("name", ["classic-native", "compact"])
CLASSIC = pytest.mark.parametrize("name", [n for n, p in PROFILES.items() if p.client == "classic"])


@NATIVE
def test_key_order(name):
    talk = start(name, extra_body={"stream_options": {"continuous_usage_stats": True}})
    sent = orjson.loads(body(talk, talk.requests()[0]))
    assert list(sent) == [
        "model", "messages", "temperature", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
    ]  # fmt: skip
    assert sent["tool_choice"] == "auto" and sent["parallel_tool_calls"] is True


@NATIVE
def test_a_tool_message_says_that_the_result_is_missing_and_the_user_message_brings_it(name):
    talk = start(name)
    talk.requests()
    talk.reply(act.Step("Both.", (act.ReadFile("a.py"), act.ReadFile("b.py")), progress="- [ ] x"))
    talk.results([act.FileText("one\n"), act.FileText("two\n")], SETUP.start_unix_s)
    said, *tools, user = messages(talk, talk.requests()[0])[2:]
    assert said["content"] == "Both." and [c["function"]["name"] for c in said["tool_calls"]] == ["read_file"] * 2
    assert [t["tool_call_id"] for t in tools] == [c["id"] for c in said["tool_calls"]]
    assert {t["content"] for t in tools} == {MISSING} and len(MISSING) == len("result missing")
    texts = [p["text"] for p in user["content"]]
    assert texts[0].startswith("[read_file for 'a.py'] Result:\n1 | one") and "1 | two" in texts[1]
    assert texts[-1].startswith("<environment_details>")
    arguments = [orjson.loads(c["function"]["arguments"]) for c in said["tool_calls"]]
    assert arguments == [{"path": "a.py", "task_progress": "- [ ] x"}, {"path": "b.py"}], "the checklist goes once"


@pytest.mark.parametrize(
    ("action", "name", "arguments"),
    [
        (act.ReadFile("a.py", 2, 5), "read_file", {"path": "a.py", "start_line": 2, "end_line": 5}),
        (act.Command("ls"), "execute_command", {"command": "ls", "requires_approval": False}),
        (act.ListFiles("src", True), "list_files", {"path": "src", "recursive": True}),
        (act.Write("a.py", "x"), "write_to_file", {"absolutePath": SETUP.cwd + "/a.py", "content": "x"}),
        (
            act.Edit("a.py", (("x", "y"),)),
            "replace_in_file",
            {"absolutePath": SETUP.cwd + "/a.py", "diff": "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE"},
        ),
        (act.Complete("Done."), "attempt_completion", {"result": "Done."}),
        (act.Propose("The plan.", "Yes."), "plan_mode_respond", {"response": "The plan."}),
        (act.Delegate(("One?", "Two?")), "use_subagents", {"prompt_1": "One?", "prompt_2": "Two?"}),
    ],
)
def test_arguments_have_their_types_and_fit_the_schema(action, name, arguments):
    talk = start("classic-native", subagents=True)
    (draft,) = talk.requests()
    talk.reply(act.Step("", (action,)))
    (call,) = orjson.loads(talk.pool[-1])["tool_calls"]
    assert (call["function"]["name"], orjson.loads(call["function"]["arguments"])) == (name, arguments)
    tools = {t["function"]["name"]: t["function"]["parameters"] for t in orjson.loads(body(talk, draft))["tools"]}
    assert set(tools[name]["required"]) <= set(arguments) <= set(tools[name]["properties"])


def test_a_stream_is_closed_after_the_first_call_and_what_follows_is_in_no_history():
    def play(unread: str):
        talk = start("classic-native", parallel_tool_calls=False)
        talk.requests()
        reply = talk.reply(act.Step("A look.", (act.ReadFile("a.py"),), unread=unread))
        talk.results([act.FileText("a\n")], SETUP.start_unix_s)
        return reply, talk

    (whole, talk), (closed, other) = play(""), play("And then I will read the other file as well. " * 5)
    assert whole.stop_after_tok is None
    assert closed.stop_after_tok == whole.output_tok - 1 < closed.output_tok, "all but the mark that never came"
    assert talk.pool[2] == other.pool[2] and b"other file" not in b"".join(other.pool)
    assert b"\\n0 / 128K tokens used" in other.pool[-1], "its usage chunk was never read"


def test_one_call_a_reply_refuses_steps_with_several():
    talk = start("classic-native", parallel_tool_calls=False)
    talk.requests()
    with pytest.raises(UsageError, match="split it"):
        talk.reply(act.Step("", (act.ReadFile("a"), act.ReadFile("b"))))


@NATIVE
def test_a_cut_leaves_no_answer_without_its_call(name):
    talk = start(name)
    for k in range(200):
        (draft,) = talk.requests()
        said = messages(talk, draft)
        calls = [c["id"] for m in said for c in m.get("tool_calls", ())]
        assert calls == [m["tool_call_id"] for m in said if m["role"] == "tool"]
        if draft.cut:
            break
        turn(talk, act.Command(f"cat {k}"), act.Ran(0, f"{k}\n{SOURCE}"))
    assert draft.cut == "truncated" and said[2]["content"].startswith("[NOTE]")
    assert [m["role"] for m in said[:4]] == ["system", "user", "assistant", "user"]
    follow = turn(talk, act.ReadFile("z"), act.FileText("z"))[-1]
    assert talk.requests()[-1].view[: len(follow.view)] == follow.view


@CLASSIC
def test_plan_mode_grows_by_appending_alone(name):
    talk = start(name, mode="plan")
    before = turn(talk, act.ReadFile("a"), act.FileText("a\n"))[-1]
    asked = turn(talk, act.Propose("The plan.", "Go."), act.Heard("Go."))[-1]
    after = talk.requests()[-1]
    assert asked.view[: len(before.view)] == before.view and after.view[: len(asked.view)] == asked.view
    assert after.cut == "" and (after.head, talk.heads) == (0, talk.heads[:1])
    users = [m for m in messages(talk, after) if m["role"] == "user"]
    modes = ["# Current Mode\nPLAN MODE" in u["content"][-1]["text"] for u in users]
    assert modes == [True, True, False]
    reminders = [u["content"][-2]["text"].split("\n")[0] for u in users]
    assert reminders == ["# task_progress: optional while planning"] * 2 + ["# task_progress: a list is due now"]
    assert "Go." in users[-1]["content"][0]["text"]


def test_sdk_switch_changes_prompt_and_tools_and_misses_the_whole_prefix():
    talk = start("sdk", mode="plan")
    turn(talk, act.ReadFile("a"), act.FileText("a\n"))
    asked = turn(talk, act.Propose("The plan.", "Go."), act.Heard("Go."))[-1]
    assert messages(talk, asked)[-1]["role"] == "tool"
    before = turn(talk, act.SwitchToAct(), act.Finished())[-1]
    assert [m["role"] for m in messages(talk, before)[-2:]] == ["assistant", "user"]
    assert (
        messages(talk, before)[-2]["content"].endswith("The plan.") and messages(talk, before)[-1]["content"] == "Go."
    )
    after = talk.requests()[-1]
    assert (before.cut, after.cut) == ("", "switched") and after.view[0] != before.view[0]
    assert after.view[1 : len(before.view)] == before.view[1:]
    names = [{t["function"]["name"] for t in orjson.loads(body(talk, d))["tools"]} for d in (before, after)]
    assert "switch_to_act_mode" in names[0] - names[1] and "editor" in names[1] - names[0]
    follow = turn(talk, act.ReadFile("b"), act.FileText("b\n"))[-1]
    assert talk.requests()[-1].cut == "" and follow == after


def test_classic_has_no_tool_that_leaves_plan_mode():
    talk = start("classic-xml", mode="plan")
    talk.requests()
    with pytest.raises(UsageError, match="its user does that"):
        talk.reply(act.Step("", (act.SwitchToAct(),)))


REPORTS = act.Reports(
    tuple(act.Report(f"Look at {n}.\nAll of it.", f"{n} is fine.", 4, 3, 12_000, 500) for n in ("src", "tests"))
)


@CLASSIC
def test_reports_come_back_with_what_each_sub_agent_took(name):
    talk = start(name, subagents=True)
    turn(talk, act.Delegate(("Look at src.", "Look at tests.")), REPORTS)
    text = orjson.loads(talk.pool[-1])["content"][0]["text"]
    assert text.startswith(
        "[use_subagents] Result:\n2 sub-agents sent, 2 done, 0 failed. 6 tool calls, 24,000 tokens in"
    )
    assert "## 2. Look at tests.\nDone: 4 replies, 3 tool calls, 12,000 tokens in, 500 tokens out.\n\ntests is" in text


def test_sdk_spawns_one_call_an_agent_and_hears_from_each():
    talk = start("sdk")
    turn(talk, act.Delegate(("Look at src.", "Look at tests.")), REPORTS)
    said, *tools = [orjson.loads(m) for m in talk.pool[2:]]
    assert [orjson.loads(c["function"]["arguments"])["task"] for c in said["tool_calls"]] == [
        "Look at src.",
        "Look at tests.",
    ]
    answers = [orjson.loads(t["content"]) for t in tools]
    assert [a["text"] for a in answers] == ["src is fine.", "tests is fine."]
    assert answers[0]["usage"] == {"inputTokens": 12_000, "outputTokens": 500} and answers[0]["iterations"] == 4


@pytest.mark.parametrize("subagents", [False, True])
@CLASSIC
def test_the_tool_for_sub_agents_is_there_only_where_it_is_switched_on(name, subagents):
    talk = start(name, subagents=subagents)
    sent = body(talk, talk.requests()[0])
    assert (b"use_subagents" in sent) is subagents


def test_compaction_shows_the_mode_of_each_user_message():
    talk = start("sdk")
    for k in range(400):
        drafts = turn(talk, act.Command(f"cat {k}"), act.Ran(0, SOURCE))
        if len(drafts) > 1:
            break
    ask = messages(talk, drafts[0])[1]["content"]
    assert f'[User]\n<user_input mode="act">{SETUP.task_prompt}</user_input>' in ask
    assert b"<user_input" not in talk.pool[1], "the tag is not on the wire"
