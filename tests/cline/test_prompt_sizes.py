"""Prompts and tools have the sizes that were measured on the wire, within 10 %."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from cline_cases import SETUP, body, count, messages, start
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline import texts
from simulator.cline.conversation import Conversation
from simulator.cline.profiles import PROFILES, Profile, subagent

TINY_CWD = "/home/user/loan-calculator"


def about(measured: int) -> object:
    return pytest.approx(measured, rel=0.10)


@pytest.fixture(scope="module")
def o200k():
    encoding = pytest.importorskip("quicktok").get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text))


def first_messages(profile: str, **changes: Any) -> list[dict]:
    talk = start(profile, cwd=TINY_CWD, **changes)
    return messages(talk, talk.requests()[0])


def tools(tool_set: str) -> list[dict]:
    return texts.tools("sdk/tools.yaml", tool_set)


def test_classic_prompt_in_characters():
    system = first_messages("classic-xml")[0]["content"]
    assert len(system) == about(46_418)
    assert system.find(TINY_CWD) == about(1_596), "the working directory ends the shared prefix this early"


#: system prompt, tools, how many, first user message, the whole first request, and where the folder stands in the
#: system prompt; None: not measured
MEASURED = {
    "classic-xml": (9_707, 0, 0, 555, 10_300, None),
    "classic-glm": (4_057, 0, 0, 558, 4_600, None),
    "classic-native": (2_136, 3_051, 11, 558, 5_800, 178),
    "compact": (734, 2_725, 7, 450, 3_900, None),
    "sdk": (835, 3_629, 25, None, None, 216),
}


@pytest.mark.parametrize("profile", PROFILES)
def test_first_request_in_tokens(o200k, profile):
    system_tok, tools_tok, number, user_tok, total_tok, folder_tok = MEASURED[profile]
    talk = start(profile, cwd=TINY_CWD)
    sent = orjson.loads(body(talk, talk.requests()[0]))
    system, user = sent["messages"]
    made = sent.get("tools", [])
    user_text = user["content"] if isinstance(user["content"], str) else "\n".join(p["text"] for p in user["content"])
    found = o200k(system["content"]), o200k(json.dumps(made, separators=(",", ":"))) if made else 0, o200k(user_text)
    assert found[0] == about(system_tok)
    assert found[1] == about(tools_tok) and len(made) == number
    if user_tok is not None:
        assert found[2] == about(user_tok)
    if total_tok is not None:
        assert sum(found) == about(total_tok)
    if folder_tok is not None:
        assert o200k(system["content"][: system["content"].find(TINY_CWD)]) == about(folder_tok)


def test_sdk_plan_mode_prompt_in_tokens(o200k):
    assert o200k(first_messages("sdk", mode="plan")[0]["content"]) == about(1_194)


def test_classic_plan_mode_costs_this_much_in_each_message(o200k):
    acting, planning = (first_messages("classic-xml", mode=mode)[1]["content"][-1]["text"] for mode in ("act", "plan"))
    assert abs(o200k(planning) - o200k(acting) - 230) <= 35


def test_subagents_have_a_shorter_prompt(o200k):
    for profile in PROFILES.values():
        own = start_as(subagent(profile))
        assert o200k(messages(own, own.requests()[0])[0]["content"]) < 0.6 * o200k(
            first_messages(profile.name)[0]["content"]
        )


def start_as(profile: Profile) -> Conversation:
    return Conversation(profile, SETUP, count)


def test_sdk_prompt_in_characters():
    assert first_messages("sdk")[0]["content"].find(TINY_CWD) == about(1_000)


@pytest.mark.parametrize(
    ("tool_set", "number", "tok"), [("cli", 25, 3_629), ("cli-plan", 24, None), ("editor", 6, 1_719)]
)
def test_sdk_tools(o200k, tool_set, number, tok):
    made = tools(tool_set)
    assert len(made) == number
    if tok is not None:
        assert o200k(json.dumps(made, separators=(",", ":"))) == about(tok)


def test_compaction_system_prompt(o200k):
    assert abs(o200k(texts.load("sdk/compaction_system.md")) - 17) <= 3


@pytest.mark.parametrize(
    "name", ["classic/checklist_first.md", "classic/checklist_missing.md", "classic/checklist_switch.md"]
)
def test_reminder_without_a_list(o200k, name):
    assert o200k(texts.load(name)) == about(185)


@pytest.mark.parametrize(
    ("file", "tool_set"),
    [("sdk/tools.yaml", s) for s in ("cli", "cli-plan", "editor", "agent")]
    + [("classic/tools_native.yaml", s) for s in ("native", "compact", "explorer", "subagents")],
)
def test_tools_are_valid_schemas(file, tool_set):
    for tool in texts.tools(file, tool_set):
        function = tool["function"]
        parameters = function["parameters"]
        assert parameters["type"] == "object"
        assert set(parameters.get("required", [])) <= set(parameters["properties"]), function["name"]
        assert function["description"].endswith("."), function["name"]


@pytest.mark.parametrize("profile", PROFILES)
def test_no_slot_is_left_open(profile):
    assert "{{" not in first_messages(profile)[0]["content"]


@given(st.text())
def test_a_value_that_looks_like_a_slot_stays(value):
    assert texts.fill("a {{cwd}} b", {"cwd": value + "{{date}}"}) == f"a {value}{{{{date}}}} b"


@pytest.mark.parametrize("profile", PROFILES)
def test_agents_in_different_folders_share_no_more_than_the_text_before_the_folder(profile):
    one, other = (start(profile, cwd=cwd).pool[0] for cwd in ("/srv/agent-01", "/srv/bgent-02"))
    same = next(k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert same < {"sdk": 0.3, "classic-native": 0.1, "compact": 0.1}.get(profile, 0.05) * len(one)
    assert SETUP.cwd.encode() in start(profile).pool[0]
