"""Identical calls in a row: who is told when, and what ends a run."""

from __future__ import annotations

from functools import reduce

import orjson
import pytest
from cline_cases import start, turn
from hypothesis import given
from hypothesis import strategies as st

from simulator.cline.guard import Guard, notice
from simulator.core import action as act

READ = act.ReadFile("calc.py")


@pytest.mark.parametrize(
    ("calls", "level"),
    [
        ("", ""),
        ("a", ""),
        ("aa", ""),
        ("aaa", "soft"),
        ("aaaa", "soft"),
        ("aaaaa", "hard"),
        ("aaaaaab", ""),
        ("aabaa", ""),
        ("baaa", "soft"),
        ("aaaabaaa", "soft"),
    ],
)
def test_levels(calls, level):
    assert reduce(Guard.after, calls, Guard()).level == level


@given(st.lists(st.sampled_from("ab"), max_size=30))
def test_the_guard_counts_the_run_at_the_end(calls):
    run = 0
    for call in reversed(calls):
        if call != calls[-1]:
            break
        run += 1
    assert reduce(Guard.after, calls, Guard()).times == run


def users(talk) -> list[str]:
    return [m["content"] for m in map(orjson.loads, talk.pool) if m["role"] == "user"]


def test_sdk_tells_the_model_at_three_and_ends_the_run_at_five():
    talk = start("sdk")
    told, ended = [], []
    for _ in range(5):
        turn(talk, READ, act.FileText("a\n"))
        told.append(len(users(talk)) - 1)
        ended.append(talk.ended)
    assert told == [0, 0, 1, 2, 2] and ended == ["", "", "", "", "loop_guard"]
    assert users(talk)[1] == notice("sdk", "read_files", 3) and "after 2 more" in users(talk)[1]


def test_sdk_counts_calls_and_not_replies():
    talk = start("sdk")
    talk.requests()
    talk.reply(act.Step("", (READ,) * 5))
    talk.results([act.FileText("a\n")] * 5, 0.0)
    assert talk.ended == "loop_guard"


@pytest.mark.parametrize("other", [act.ReadFile("calc.py", 1, 9), act.Command("ls"), act.ReadFile("b.py")])
def test_sdk_any_other_call_starts_the_count_anew(other):
    talk = start("sdk")
    for action in (READ, READ, other, READ, READ):
        outcome = act.Ran(0, "") if isinstance(action, act.Command) else act.FileText("a\n")
        turn(talk, action, outcome)
    assert len(users(talk)) == 1 and not talk.ended


@pytest.mark.parametrize("name", ["classic-xml", "classic-native", "compact"])
def test_classic_warns_from_the_third_on_and_never_ends_for_it(name):
    talk = start(name)
    warned = []
    for _ in range(7):
        turn(talk, READ, act.FileText("a\n"), progress="- [ ] x")
        texts = [p["text"] for p in users(talk)[-1]]
        warned.append(any("times in a row with the same arguments" in text for text in texts))
    assert warned == [False, False, True, True, True, True, True] and not talk.ended


def test_classic_stops_after_three_replies_without_a_tool_in_a_row():
    talk = start("classic-native")
    ended = []
    for words in (True, True, False, True, True, True):
        talk.requests()
        talk.reply(act.Step("So.", () if words else (READ,)))
        talk.results([] if words else [act.FileText("a\n")], 0.0)
        ended.append(talk.ended)
    assert ended == ["", "", "", "", "", "no_tool"]
