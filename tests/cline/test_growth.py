"""How a conversation grows: byte for byte, in every profile, whatever is done in it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import orjson
import pytest
from cline_cases import SETUP, SOURCE, body, count, histories, messages, start, turn
from hypothesis import given, settings

from simulator import tokenizer
from simulator.cline.conversation import Conversation
from simulator.cline.profiles import PROFILES
from simulator.cline.results import advance, render_result
from simulator.cline.state import ResultState
from simulator.core import action as act
from simulator.engine.embedded.prompts import Prompts
from simulator.errors import UsageError

EACH = pytest.mark.parametrize("name", PROFILES)


@EACH
@settings(max_examples=60, deadline=None)
@given(history=histories())
def test_each_request_extends_the_one_before_byte_for_byte(name, history):
    talk = start(name)
    before, before_tok = b"", 0
    for number, (step, outcomes) in enumerate(history):
        draft = talk.requests()[-1]
        sent = body(talk, draft)
        assert orjson.loads(sent)["messages"] == messages(talk, draft)
        upto = sent[: -len(talk.tail) - 1]
        assert draft.cut == ""  # a dozen short turns come nowhere near a cut
        assert upto.startswith(before)
        assert draft.prompt_tok > before_tok
        before, before_tok = upto, draft.prompt_tok
        assert talk.reply(step).output_tok > 0
        talk.results(outcomes, SETUP.start_unix_s + number)


@EACH
@settings(max_examples=60, deadline=None)
@given(history=histories())
def test_results_are_those_of_render_result_and_travel_in_the_next_request(name, history):
    profile, talk, state = PROFILES[name], start(name), ResultState(SETUP.cwd)
    for step, outcomes in history:
        talk.requests()
        talk.reply(step)
        (text,) = talk.results(outcomes, SETUP.start_unix_s)
        assert text == render_result(profile, step.actions[0], outcomes[0], state)
        state = advance(profile, state, step.actions[0], text)
        if profile.client == "classic":
            last = orjson.loads(talk.pool[-1])
            assert last["role"] == "user" and last["content"][0]["text"] == text


@EACH
@settings(max_examples=30, deadline=None)
@given(history=histories())
def test_the_same_steps_give_the_same_bytes(name, history):
    def play() -> list[bytes]:
        talk = start(name)
        for step, outcomes in history:
            talk.requests()
            talk.reply(step)
            talk.results(outcomes, SETUP.start_unix_s)
        return talk.pool

    assert play() == play()


def test_key_order_classic():
    talk = start("classic-xml", extra_body={"stream_options": {"continuous_usage_stats": True}, "top_p": 0.9})
    sent = orjson.loads(body(talk, talk.requests()[0]))
    assert list(sent) == ["model", "messages", "temperature", "stream", "stream_options", "top_p"]
    assert sent["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert b'"temperature":0,' in talk.tail


def test_key_order_sdk():
    talk = start("sdk", thinking="medium")
    sent = orjson.loads(body(talk, talk.requests()[0]))
    assert list(sent) == [
        "model", "reasoning_effort", "messages", "tools", "tool_choice", "stream", "stream_options",
    ]  # fmt: skip
    assert sent["messages"][1] == {"role": "user", "content": SETUP.task_prompt}, "the bare text of the request"


@pytest.mark.parametrize("key", ["messages", "max_tokens", "tools"])
def test_extra_body_may_not_break_the_plan(key):
    with pytest.raises(UsageError, match=key):
        start("sdk", extra_body={key: 1})


def test_classic_user_messages_are_lists_of_parts_in_order():
    talk = start("classic-xml")
    turn(talk, act.ReadFile("calc.py"), act.FileText("a = 1\n"))
    first, last = orjson.loads(talk.pool[1]), orjson.loads(talk.pool[-1])
    assert [p["type"] for p in first["content"]] == ["text"] * 3
    assert first["content"][0]["text"] == f"<task>\n{SETUP.task_prompt}\n</task>"
    for message in (first, last):
        assert message["content"][-1]["text"].startswith("<environment_details>")
    assert "src/util.py" in first["content"][-1]["text"]
    assert "src/util.py" not in last["content"][-1]["text"], "the file list is sent once"


def test_classic_takes_one_action_a_step():
    talk = start("classic-xml")
    talk.requests()
    with pytest.raises(UsageError, match="split it"):
        talk.reply(act.Step("", (act.ReadFile("a"), act.ReadFile("b"))))


def test_classic_call_is_xml_in_the_text_with_the_checklist_inside():
    talk = start("classic-xml")
    turn(talk, act.ReadFile("calc.py", 1, 9), act.FileText("a\n"), progress="- [ ] Read", say="A look.")
    assert orjson.loads(talk.pool[2])["content"] == (
        "A look.\n\n<read_file>\n<path>calc.py</path>\n<start_line>1</start_line>\n<end_line>9</end_line>\n"
        "<task_progress>\n- [ ] Read\n</task_progress>\n</read_file>"
    )


def checklist_parts(talk: Conversation) -> list[int]:
    """For each user message in the pool, how many parts are neither result, task nor environment."""
    users = [m for m in map(orjson.loads, talk.pool) if m["role"] == "user"]
    return [len(m["content"]) - 2 for m in users]


def test_reminder_every_turn_without_a_list_and_every_sixth_with_one():
    talk = start("classic-xml")
    for k in range(3):
        turn(talk, act.ReadFile(f"{k}.py"), act.FileText("a\n"))
    assert checklist_parts(talk) == [1, 1, 1, 1]
    for k in range(14):
        turn(talk, act.ReadFile(f"x{k}.py"), act.FileText("a\n"), progress="- [x] A\n- [ ] B" if k == 0 else "")
    due = [k for k, n in enumerate(checklist_parts(talk)[4:]) if n]
    assert due == [6, 12], "counted from the request whose reply carried the list"
    assert "1 of 2 items ticked (50%)" in talk.pool[-5].decode() + talk.pool[-3].decode()


def test_command_output_travels_twice_in_classic():
    talk = start("classic-xml")
    turn(talk, act.Command("make check"), act.Ran(0, "all is well\n"))
    assert talk.pool[-1].count(b"all is well") == 2


def test_three_identical_calls_draw_a_warning():
    talk = start("classic-xml")
    for _ in range(3):
        turn(talk, act.ListFiles("."), act.Listing(("a",)), progress="- [ ] x")
    lengths = [len(orjson.loads(m)["content"]) for m in talk.pool[3::2]]
    assert lengths == [2, 2, 3]


def test_a_reply_without_a_tool_is_answered_with_an_error_in_classic():
    talk = start("classic-xml")
    talk.requests()
    talk.reply(act.Step("Just words.", ()))
    assert talk.results([], SETUP.start_unix_s) == []
    assert orjson.loads(talk.pool[-1])["content"][0]["text"].startswith("[ERROR]")


@EACH
def test_completion_ends_the_conversation(name):
    talk = start(name)
    talk.requests()
    talk.reply(act.Step("", (act.Complete("All done."),)))
    size = len(talk.pool)
    assert talk.results([act.Finished()], SETUP.start_unix_s) == [""]
    assert len(talk.pool) == size
    last = orjson.loads(talk.pool[-1])
    profile = PROFILES[name]
    assert ("<attempt_completion>" in (last["content"] or "")) == (profile.calls == "xml")
    assert bool(last.get("tool_calls")) == (profile.calls == "native" and profile.client == "classic")


def test_context_usage_tells_the_last_request():
    talk = start("classic-xml")
    draft = talk.requests()[0]
    output = talk.reply(act.Step("", (act.ReadFile("a"),))).output_tok
    talk.results([act.FileText("a\n")], SETUP.start_unix_s)
    assert f"\n{draft.prompt_tok + output:,} / 128K tokens used (" in orjson.loads(talk.pool[-1])["content"][-1]["text"]


def test_sdk_calls_and_results_pair_up():
    talk = start("sdk")
    talk.requests()
    edit = act.Edit("calc.py", (("rate_1(", "first("), ("rate_2(", "second(")))
    after = SOURCE.replace("rate_1(", "first(", 1).replace("rate_2(", "second(", 1)
    talk.reply(act.Step("", (act.ReadFile("calc.py"), edit), reasoning="Let me see."))
    talk.results([act.FileText(SOURCE), act.Edited("calc.py", SOURCE, after)], SETUP.start_unix_s)
    said, *tools = [orjson.loads(m) for m in talk.pool[2:]]
    assert said["content"] is None and said["reasoning_content"] == "Let me see."
    assert list(said) == ["role", "content", "reasoning_content", "tool_calls"]
    assert [t["tool_call_id"] for t in tools] == [c["id"] for c in said["tool_calls"]]
    assert len({c["id"] for c in said["tool_calls"]}) == len(tools) == 3
    assert orjson.loads(said["tool_calls"][0]["function"]["arguments"]) == {"files": [{"path": SETUP.cwd + "/calc.py"}]}
    assert "first(" in tools[1]["content"] and "second(" in tools[2]["content"]


def test_sdk_sends_long_results_cut_and_returns_them_whole():
    talk = start("sdk")
    talk.requests()
    talk.reply(act.Step("", (act.Command("cat long"),)))
    (text,) = talk.results([act.Ran(0, "w" * 20_000)], SETUP.start_unix_s)
    assert len(orjson.loads(text)[0]["result"]) == 20_000
    assert len(orjson.loads(orjson.loads(talk.pool[-1])["content"])[0]["result"]) == 8_000


@EACH
def test_planned_prompt_tokens_are_the_embedded_engines_own(name):
    """The real bodies, read by the engine that is to serve them: tools, calls, thinking, parts."""
    setup = replace(SETUP, mode="plan", subagents=True)
    talk, engine = Conversation(PROFILES[name], setup, tokenizer.count), Prompts(16)
    client = PROFILES[name].client
    steps = [
        (act.ReadFile("calc.py"), act.FileText(SOURCE)),
        (act.Propose("1. Change calc.py.", "Go ahead."), act.Heard("Go ahead.")),
        *([(act.SwitchToAct(), act.Finished())] if client == "sdk" else []),
        (act.Delegate(("Look at src.", "Look at tests.")), act.Reports((report("src"), report("tests")))),
        (
            act.Edit("calc.py", (("rate_1(", "eins("), ("rate_2(", "zw\u00f6lf("))),
            act.Edited("calc.py", SOURCE, SOURCE),
        ),
        (act.Command("ls"), act.Ran(0, "a\nb\n")),
        (act.Command("pytest"), act.Ran(1, "1 failed\n")),
    ]
    for action, outcome in steps:
        for draft in turn(talk, action, outcome, say="A look at it.", reasoning="Where is it?", progress="- [ ] x"):
            sent = orjson.loads(body(talk, draft))
            counted = engine.chat(sent["messages"], sent.get("tools")).n_tok
            assert draft.prompt_tok == pytest.approx(counted, rel=0.002)
            assert draft.prompt_tok == counted, "both follow one template"


def report(text: str) -> act.Report:
    return act.Report(f"Look at {text}.", f"{text}: nothing odd.", 4, 3, 9_000, 400)


def test_every_text_is_counted_once():
    seen: list[str] = []

    def counting(text: str) -> int:
        seen.append(text)
        return count(text)

    talk = Conversation(PROFILES["sdk"], SETUP, counting)
    for k in range(20):
        turn(talk, act.Command(f"echo {k}"), act.Ran(0, f"{k}\n" * 50), say=f"Step {k}.")
    long = [t for t in seen if len(t) > 60]
    assert len(long) == len(set(long))


@EACH
def test_pool_only_grows(name):
    talk = start(name)
    sizes = [len(talk.pool)]
    for k in range(5):
        turn(talk, act.ReadFile(f"{k}"), act.FileText("a"))
        sizes.append(len(talk.pool))
    assert all(b > a for a, b in itertools.pairwise(sizes))
