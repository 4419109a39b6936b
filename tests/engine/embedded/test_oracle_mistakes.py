"""The oracle's mistakes: what each looks like, that it is made good after the complaint, and how often it comes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from oracle_cases import Asked, body_of, recorded, spec

from simulator.core.plan import SessionPlan
from simulator.engine.embedded.brain.mistakes import NO_SUCH_TOOLS, chance, ends, fate, slip
from simulator.engine.embedded.brain.rates import OF_A_TURN, Rates, parse_rates
from simulator.errors import UsageError

#: the step of the small task that edits
EDIT = 6
BEFORE, RIGHT, WRONG = "return rate / 11", "return rate / 12", "as it stood before"


def text_of(message: dict[str, Any]) -> str:
    calls = "".join(call["function"]["arguments"] for call in message["tool_calls"])
    return f"{message['content'] or ''}{calls}"


def answered(body: dict[str, Any], message: dict[str, Any], complaint: str) -> dict[str, Any]:
    """The next request: the reply, and what a client says about it."""
    said = {k: v for k, v in message.items() if v}
    ids = [call["id"] for call in message["tool_calls"]]
    answers = [{"role": "tool", "tool_call_id": i, "content": complaint} for i in ids]
    return {**body, "messages": [*body["messages"], said, *(answers or [{"role": "user", "content": complaint}])]}


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SessionPlan]:
    folder = tmp_path_factory.mktemp("plans")
    return {name: recorded(folder / name, spec(name)) for name in ("classic-xml", "classic-native", "sdk")}


@pytest.mark.parametrize("profile", ["classic-xml", "classic-native", "sdk"])
@pytest.mark.parametrize("kind", OF_A_TURN)
def test_a_slip_shows_and_is_made_good(profile: str, kind: str, plans: dict[str, SessionPlan], tmp_path: Path) -> None:
    plan = plans[profile]
    asked = Asked(tmp_path, [plan], **{kind: 1.0})
    body = body_of(plan, plan.turns[EDIT])
    wrong = asked.message(body)
    assert asked.told[-1].mistake == kind and asked.told[-1].step == EDIT
    native = profile != "classic-xml"
    calls = [call["function"] for call in wrong["tool_calls"]]
    match kind:
        case "malformed" if native:
            with pytest.raises(orjson.JSONDecodeError):
                orjson.loads(calls[0]["arguments"])
        case "malformed":
            assert "<replace_in_file>" in wrong["content"] and ">" not in wrong["content"].split("<replace_in_file>")[1]
        case "unfit_edit":
            assert WRONG in text_of(wrong) and RIGHT in text_of(wrong)
        case "no_tool":
            assert not calls and "<" not in wrong["content"] and wrong["content"].startswith("Twelve months.")
        case "unknown_tool":
            assert any(f"<{n}>" in wrong["content"] or (calls and calls[0]["name"] == n) for n in NO_SUCH_TOOLS)
        case "call_in_content":
            assert not calls and "<tool_call>\n{" in wrong["content"] and "<replace_in_file>" not in wrong["content"]
        case "call_in_reasoning":
            assert not calls and not wrong["content"] and RIGHT in wrong["reasoning_content"]
        case "talks_on":
            assert wrong["content"].endswith("for the rest.") and RIGHT in text_of(wrong)
    if kind == "talks_on":
        assert asked.message(answered(body, wrong, "[x] Result:\ndone"))
        assert asked.told[-1].step == EDIT + 1
        return
    right = asked.message(answered(body, wrong, "This could not be carried out."))
    assert (asked.told[-1].step, asked.told[-1].mistake, asked.told[-1].tries) == (EDIT, "", 1)
    assert BEFORE in text_of(right) and RIGHT in text_of(right) and WRONG not in text_of(right)
    assert bool(right["tool_calls"]) == native


def test_the_same_request_again_is_answered_right(plans: dict[str, SessionPlan], tmp_path: Path) -> None:
    """A client that found nothing but reasoning asks again and leaves no trace of it in the history."""
    plan = plans["classic-native"]
    asked = Asked(tmp_path, [plan], call_in_reasoning=1.0)
    body = body_of(plan, plan.turns[EDIT])
    assert not asked.message(body)["tool_calls"]
    assert asked.message(body)["tool_calls"]


def test_a_loop_repeats_one_call_for_ever(plans: dict[str, SessionPlan], tmp_path: Path) -> None:
    plan = plans["sdk"]
    asked = Asked(tmp_path, [plan], loop=1.0)
    body, seen = body_of(plan, plan.turns[0]), []
    for _ in range(14):
        message = asked.message(body)
        seen.append(text_of(message))
        body = answered(body, message, '[{"query":"q","result":"r","success":true}]')
    at = asked.told[-1].step
    assert at < EDIT and set(seen[at:]) == {seen[at]} and len(set(seen[: at + 1])) == at + 1
    assert [t.mistake for t in asked.told] == [""] * (at + 1) + ["loop"] * (13 - at)
    assert asked.told[-1].fatal


@pytest.mark.parametrize("profile", ["classic-xml", "sdk"])
def test_an_early_stop_claims_to_be_done_before_the_work(
    profile: str, plans: dict[str, SessionPlan], tmp_path: Path
) -> None:
    plan = plans[profile]
    asked = Asked(tmp_path, [plan], early_stop=1.0)
    for step, turn in enumerate(plan.turns):
        message = asked.message(body_of(plan, turn))
        if asked.told[-1].mistake:
            assert asked.told[-1].fatal and step <= EDIT
            assert "Divided by twelve." in message["content"] and not message["tool_calls"]
            return
    pytest.fail("it went on to the end")


@pytest.mark.parametrize("profile", ["classic-xml", "classic-native", "sdk"])
def test_a_wrong_edit_is_not_noticed(profile: str, plans: dict[str, SessionPlan], tmp_path: Path) -> None:
    """It lacks what it should write, and the next steps follow as if it did not."""
    plan = plans[profile]
    asked = Asked(tmp_path, [plan], wrong_edit=1.0)
    body = body_of(plan, plan.turns[EDIT])
    wrong = asked.message(body)
    assert BEFORE in text_of(wrong) and RIGHT not in text_of(wrong) and asked.told[-1].fatal
    asked.message(answered(body, wrong, "[replace_in_file for 'rates/loan.py'] Result:\nsaved"))
    assert (asked.told[-1].step, asked.told[-1].mistake) == (EDIT + 1, "")


def test_mistakes_come_as_often_as_the_rates_say_and_repeat(plans: dict[str, SessionPlan], tmp_path: Path) -> None:
    """Over many seeds; a binomial count lies within four of its standard deviations."""
    (solution, *_) = Asked(tmp_path, [plans["sdk"]]).solutions
    rates = Rates(malformed=0.1, no_tool=0.2, loop=0.3, wrong_edit=0.2)
    n = 2_000
    fates = [fate(rates, seed, "k", solution).kind for seed in range(n)]
    slips = [slip(rates, seed, "k", solution, 2) for seed in range(n)]
    for found, kind, rate in ((fates, "loop", 0.3), (fates, "wrong_edit", 0.2), (fates, "early_stop", 0.0),
                              (slips, "malformed", 0.1), (slips, "no_tool", 0.2)):  # fmt: skip
        assert abs(found.count(kind) - rate * n) <= 4 * (n * rate * (1 - rate)) ** 0.5, kind
    assert slips == [slip(rates, seed, "k", solution, 2) for seed in range(n)]
    other = replace(solution, branch="explorer 1: tests")
    assert {fate(rates, seed, "k", other).kind for seed in range(50)} == {""}, "sub-agents make no mistakes"


@pytest.mark.parametrize("profile", ["classic-xml", "sdk"])
def test_the_share_of_solved_tasks_follows_from_the_rates(
    profile: str, plans: dict[str, SessionPlan], tmp_path: Path
) -> None:
    """Counted over seeds. A reply without a call ends sdk's session before the edit, and costs the classic client a
    turn."""
    (solution,) = Asked(tmp_path, [plans[profile]]).solutions
    rates = Rates(loop=0.1, early_stop=0.1, wrong_edit=0.05, no_tool=0.04, call_in_reasoning=0.02, malformed=0.2)
    n, solved, steps = 2_000, 0, range(len(solution.ways))
    for seed in range(n):
        lost = bool(fate(rates, seed, "k", solution).kind)
        solved += not lost and not any(ends(slip(rates, seed, "k", solution, k), solution, k) for k in steps)
    share = chance(rates, solution)
    assert abs(solved - share * n) <= 4 * (n * share * (1 - share)) ** 0.5
    if profile == "sdk":
        assert share == pytest.approx(0.75 * 0.96 * 0.94**6)
    else:
        assert share == pytest.approx(0.75)


def test_only_replies_that_can_have_a_mistake_have_it(plans: dict[str, SessionPlan], tmp_path: Path) -> None:
    (solution, *_) = Asked(tmp_path, [plans["sdk"]]).solutions
    unfit = Rates(unfit_edit=1.0)
    steps = range(len(solution.ways))
    assert [step for step in steps if slip(unfit, 1, "k", solution, step)] == [EDIT]
    assert slip(Rates(no_tool=1.0), 1, "k", solution, len(solution.ways) - 1) == "", "the last reply has no call"


def test_rates_are_checked_and_near_names_are_told() -> None:
    assert parse_rates("malformed=0.05, loop=0.1", "--oracle") == {"malformed": 0.05, "loop": 0.1}
    for text, part in (
        ("malformd=0.1", "did you mean malformed?"),
        ("loop", "write a rate from 0 to 1, as loop=0.05"),
        ("loop=often", "loop is often"),
        ("loop=1.5", "loop: "),
        ("loop=0.7,early_stop=0.6", "add up to 1.3, more than 1"),
    ):
        with pytest.raises(UsageError, match=r"^--oracle: ") as told:
            parse_rates(text, "--oracle")
        assert part in str(told.value)
