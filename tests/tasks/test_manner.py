"""A recorded solution as each client would have it: looks joined, ends unread, a plan first; the work is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_task import FIX, STEPS

from simulator.cline.profiles import PROFILES
from simulator.core.action import (
    LOOKS,
    Action,
    Command,
    Complete,
    Definitions,
    ListFiles,
    Propose,
    ReadFile,
    Step,
    SwitchToAct,
)
from simulator.tasks.steps import JOIN_MOST, Manner, adapted, prepared

LONG = tuple(replace(s, say=f"{s.say} {k}") for k in range(12) for s in STEPS[:-1]) + STEPS[-1:]


def manner(profile: str, **changes: object) -> Manner:
    base = Manner(PROFILES[profile], parallel_tool_calls=True, plan_mode=False, seed=3, cwd="/home/dev/projects/rates")
    return replace(base, **changes)  # type: ignore[arg-type]


def work(steps: Sequence[Step]) -> list[Action]:
    return [a for s in steps for a in s.actions if not isinstance(a, Propose | SwitchToAct)]


@pytest.mark.parametrize("profile", ["classic-xml", "classic-glm", "sdk"])
def test_where_nothing_differs_the_steps_are_the_recorded_ones(profile):
    assert prepared(LONG, manner(profile)) == LONG


@given(st.integers(0, 500), st.booleans(), st.booleans())
def test_the_work_is_the_same_in_every_manner(seed, parallel, plan_mode):
    asked = manner("classic-native", seed=seed, parallel_tool_calls=parallel, plan_mode=plan_mode)
    made = prepared(LONG, asked)
    assert work(made) == work(LONG)
    assert made == prepared(LONG, asked), "drawn by the seed alone"


def test_parallel_calls_join_looks_of_one_kind_in_a_tenth_of_the_replies():
    shares = []
    for seed in range(20):
        made = prepared(LONG, manner("classic-native", seed=seed))
        several = [s for s in made if len(s.actions) > 1]
        shares.append(len(several) / len(made))
        for step in several:
            assert len(step.actions) <= JOIN_MOST and len({type(a) for a in step.actions}) == 1
            assert isinstance(step.actions[0], LOOKS)
    assert 0.01 < sum(shares) / len(shares) < 0.2


def test_one_call_a_reply_leaves_text_or_a_second_call_unread():
    made = [
        s for seed in range(10) for s in prepared(LONG, manner("classic-native", seed=seed, parallel_tool_calls=False))
    ]
    assert all(len(s.actions) == 1 for s in made)
    unread = [s.unread for s in made if s.unread]
    assert 0.2 < len(unread) / len(made) < 0.5
    calls = [text for text in unread if "<tool_call>" in text]
    assert 0.3 < len(calls) / len(unread) < 0.7
    assert not any(s.unread for s in made if isinstance(s.actions[0], Complete))


def test_several_actions_are_taken_apart_where_one_call_is_read():
    steps = (Step("Both.", (ReadFile("a"), ReadFile("b")), "Hm.", "- [ ] x"), *STEPS[-2:])
    made = prepared(steps, manner("classic-native", parallel_tool_calls=False))
    assert [s.actions for s in made[:2]] == [(ReadFile("a"),), (ReadFile("b"),)]
    assert [(s.say, s.reasoning, s.progress) for s in made[:2]] == [("Both.", "Hm.", "- [ ] x"), ("", "", "")]


@pytest.mark.parametrize("client", ["classic-xml", "sdk"])
def test_plan_mode_looks_then_proposes_then_acts(client):
    made = prepared(STEPS, manner(client, plan_mode=True))
    at = next(k for k, s in enumerate(made) if isinstance(s.actions[0], Propose))
    assert made[:at] == STEPS[:6], "up to the first change"
    (proposal,) = made[at].actions
    assert isinstance(proposal, Propose)
    assert (
        "`rates/loan.py`: 1 place changed. Twelve months." in proposal.plan and "`cat rates/loan.py`" in proposal.plan
    )
    rest = made[at + 1 :]
    if client == "sdk":
        assert rest[0].actions == (SwitchToAct(),)
        rest = rest[1:]
    assert rest == STEPS[6:]


def test_planning_looks_at_eight_steps_at_most():
    steps = (*(Step("", (ReadFile(f"{k}"),)) for k in range(20)), Step("", (FIX,)), STEPS[-1])
    made = prepared(steps, manner("sdk", plan_mode=True))
    assert isinstance(made[8].actions[0], Propose)


@pytest.mark.parametrize(
    ("action", "becomes"),
    [
        (ListFiles(".", recursive=True), "git ls-files -co --exclude-standard -- . | sort"),
        (ListFiles("a b"), "ls -1p 'a b'"),
        (Definitions("rates"), "grep -rnE '^ *(async def|def|class|function|export) ' rates"),
    ],
)
def test_what_a_client_has_no_tool_for_is_done_by_a_command(action, becomes):
    assert adapted(action, PROFILES["compact"].missing) == Command(becomes)
    assert adapted(action, ()) is action
