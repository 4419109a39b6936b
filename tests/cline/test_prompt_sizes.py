"""Prompts and tools have the sizes that were measured on the wire, within 10 %."""

from __future__ import annotations

import json

import pytest
from cline_cases import SETUP, messages, start
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline import texts
from simulator.cline.profiles import PROFILES

TINY_CWD = "/home/user/loan-calculator"


def about(measured: int) -> object:
    return pytest.approx(measured, rel=0.10)


@pytest.fixture(scope="module")
def o200k():
    encoding = pytest.importorskip("quicktok").get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text))


def first_messages(profile: str) -> list[dict]:
    talk = start(profile, cwd=TINY_CWD)
    return messages(talk, talk.requests()[0])


def tools(tool_set: str) -> list[dict]:
    return texts.tools("sdk/tools.yaml", tool_set)


def test_classic_prompt_in_characters():
    system = first_messages("classic-xml")[0]["content"]
    assert len(system) == about(46_418)
    assert system.find(TINY_CWD) == about(1_596), "the working directory ends the shared prefix this early"


def test_classic_prompt_in_tokens(o200k):
    system, user = first_messages("classic-xml")
    assert o200k(system["content"]) == about(9_707)
    assert o200k("\n".join(p["text"] for p in user["content"])) == about(555)


def test_sdk_prompt_in_tokens(o200k):
    system = first_messages("sdk")[0]["content"]
    assert o200k(system) == about(835)
    assert o200k(system[: system.find(TINY_CWD)]) == about(216)


def test_sdk_prompt_in_characters():
    assert first_messages("sdk")[0]["content"].find(TINY_CWD) == about(1_000)


@pytest.mark.parametrize(("tool_set", "number", "tok"), [("cli", 25, 3_629), ("editor", 6, 1_719)])
def test_sdk_tools(o200k, tool_set, number, tok):
    made = tools(tool_set)
    assert len(made) == number
    assert o200k(json.dumps(made, separators=(",", ":"))) == about(tok)


def test_compaction_system_prompt(o200k):
    assert abs(o200k(texts.load("sdk/compaction_system.md")) - 17) <= 3


@pytest.mark.parametrize("name", ["classic/checklist_first.md", "classic/checklist_missing.md"])
def test_reminder_without_a_list(o200k, name):
    assert o200k(texts.load(name)) == about(185)


def test_tools_are_valid_schemas():
    for tool in tools("cli"):
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
    assert same < 0.3 * len(one) if profile == "sdk" else same < 0.05 * len(one)
    assert SETUP.cwd.encode() in start(profile).pool[0]
