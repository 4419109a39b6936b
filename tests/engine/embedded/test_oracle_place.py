"""The oracle without a server: every request of a plan gets the reply that was recorded for it, also from a history
that was cut, repaired or interrupted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from oracle_cases import STEPS, Asked, body_of, recorded, spec

from simulator.core.action import Command, Complete, ReadFile, Step
from simulator.core.plan import SessionPlan
from simulator.engine.embedded.brain.history import Signs, shown
from simulator.engine.embedded.replies import Limits

PROFILES = ("classic-xml", "classic-glm", "classic-native", "compact", "sdk")
Calls = list[tuple[str, Any]]


def calls_of(message: dict[str, Any]) -> Calls:
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    return [(each["name"], orjson.loads(each["arguments"])) for each in functions]


def replies_of(plan: SessionPlan) -> list[tuple[str, list[tuple[dict[str, Any], dict[str, Any]]]]]:
    """Each conversation's (body, recorded reply) by turns: the reply is what the next request has more, or, of the last
    one, the first of the model's messages behind it."""
    found = []
    for turns in (plan.turns, *(branch.turns for branch in plan.branches)):
        pairs = []
        for turn in turns:
            if turn.purpose != "compaction":
                at = next(i for i in range(max(turn.view) + 1, len(plan.pool)) if b'"assistant"' in plan.pool[i][:30])
                pairs.append((body_of(plan, turn), orjson.loads(plan.pool[at])))
        found.append((turns[0].purpose, pairs))
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_each_request_of_a_plan_gets_the_recorded_reply(profile: str, tmp_path: Path) -> None:
    plan = recorded(tmp_path, spec(profile, plan_mode=True, subagents=True))
    asked = Asked(tmp_path, [plan])
    conversations = replies_of(plan)
    assert len(conversations) > 2, "sub-agents are there"
    for purpose, pairs in conversations:
        for step, (body, reply) in enumerate(pairs):
            message = asked.message(body)
            assert (message["content"] or "") == (reply.get("content") or "")
            assert calls_of(message) == calls_of(reply)
            told = asked.told[-1]
            assert (told.step, told.steps, told.tries, told.mistake) == (step, len(pairs), 0, "")
            assert bool(told.branch) == (purpose == "subagent")


def test_a_reply_has_as_many_tokens_as_were_planned(tmp_path: Path) -> None:
    """With the plan's tokenizer the engine's own, lengths agree but for tokens that a reply shares with its frame."""
    plan = recorded(tmp_path, spec("sdk"))
    asked = Asked(tmp_path, [plan])
    for turn in plan.turns:
        reply = asked.reply(body_of(plan, turn))
        assert reply is not None and reply.speech is not None
        assert len(reply.ids) == 4 * reply.n_tok == 4 * len(reply.speech.tokens)


@pytest.mark.parametrize("profile", ["classic-xml", "classic-native", "sdk"])
def test_histories_that_were_cut_still_tell_the_place(profile: str, tmp_path: Path) -> None:
    """Only the first pair and the last two replies are left, a note in between, as a truncation leaves it."""
    plan = recorded(tmp_path, spec(profile))
    asked = Asked(tmp_path, [plan])
    turns = plan.turns
    for step in range(4, len(turns)):
        body = body_of(plan, turns[step])
        messages = body["messages"]
        replies = [n for n, m in enumerate(messages) if m["role"] == "assistant"]
        note = {"role": "assistant", "content": "[NOTE] Part of this conversation was taken out."}
        body["messages"] = [*messages[:2], note, *messages[replies[-2] - 1 :]]
        asked.message(body)
        assert asked.told[-1].step == step


def test_equal_steps_are_told_apart_by_what_came_before(tmp_path: Path) -> None:
    look = Step("Look.", (ReadFile("rates/loan.py"),))
    test = Step("Test.", (Command("cat rates/table.py"),))
    steps = (look, test, look, test, test, *STEPS[6:7], test, look, Step("", (Complete("Done."),)))
    for profile in ("classic-xml", "sdk"):
        plan = recorded(tmp_path / profile, spec(profile), steps)
        asked = Asked(tmp_path, [plan])
        for step, turn in enumerate(plan.turns):
            asked.message(body_of(plan, turn))
            assert asked.told[-1].step == step, profile


def test_a_repaired_or_rewritten_call_is_known_again(tmp_path: Path) -> None:
    """Keys in another order, other blanks, no text beside it; or its end missing, when it was carried out all the
    same. With a complaint behind it the step is still to be done."""
    plan = recorded(tmp_path, spec("sdk"))
    (solution, *_) = Asked(tmp_path, [plan]).solutions
    signs = Signs(solution)
    read = solution.ways[8].reply.calls[0]
    fields = orjson.loads(read[1])
    task = {"role": "user", "content": solution.request}

    def said(arguments: str) -> dict[str, Any]:
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": read[0], "arguments": arguments}}],
        }

    good = {"role": "tool", "content": '[{"query":"q","result":"1 | def","success":true}]'}
    bad = {"role": "tool", "content": '[{"query":"q","result":"","error":"no path","success":false}]'}
    turned = orjson.dumps(dict(reversed(fields.items())), option=orjson.OPT_INDENT_2).decode()
    assert shown(signs, [task, said(turned), good]).next == 9
    assert shown(signs, [task, said(turned), bad]).next == 9, "a result that fails is a result"
    assert shown(signs, [task, said(read[1][:-1]), good]).next == 9
    again = shown(signs, [task, said(read[1][:-1]), bad])
    assert (again.next, again.tries) == (8, 1)


def test_a_client_that_closes_the_stream_after_the_call_is_followed(tmp_path: Path) -> None:
    plan = recorded(tmp_path, spec("classic-xml"))
    asked = Asked(tmp_path, [plan])
    body = body_of(plan, plan.turns[3])
    body["messages"][-2]["content"] += "\n\nWith that known I could go on to the next file."
    asked.message(body)
    assert asked.told[-1].step == 3


def test_a_call_that_was_cut_is_not_taken_for_the_step(tmp_path: Path) -> None:
    steps = [Step(f"{'A long word before the call. ' * 4}{n}", (ReadFile("rates/loan.py"),)) for n in range(3)]
    plan = recorded(tmp_path, spec("classic-xml"), (*steps, *STEPS[6:7], STEPS[-1]))
    asked = Asked(tmp_path, [plan], malformed=1.0)
    body = body_of(plan, plan.turns[2])
    cut = asked.message(body)
    assert len(cut["content"]) > 100
    said = {"role": "assistant", "content": cut["content"]}
    body["messages"] += [said, {"role": "user", "content": "No tool was called."}]
    assert asked.message(body)["content"].endswith("</read_file>")
    assert [(t.step, t.tries) for t in asked.told] == [(2, 0), (2, 1)]


def test_summaries_are_asked_for_and_tell_the_place(tmp_path: Path) -> None:
    """A client may keep nothing but the summary."""
    plan = recorded(tmp_path, spec("sdk"))
    asked = Asked(tmp_path, [plan])
    body = body_of(plan, plan.turns[6])
    shown_as_text = "\n\n".join(f"[{m['role']}]\n{orjson.dumps(m).decode()}" for m in body["messages"][1:])
    request = asked.solutions[0].request
    text = f"{request}\n\n{shown_as_text}".replace('\\"', '"')
    summary = asked.message(
        {"messages": [{"role": "system", "content": "Write a summary."}, {"role": "user", "content": text}]}
    )
    assert asked.told[-1].step == -1 and not summary["tool_calls"]
    assert request in summary["content"] and "6 of 10 steps are behind me" in summary["content"]
    only = [body["messages"][0], {"role": "user", "content": f"Context summary:\n\n{summary['content']}"}]
    asked.message({**body, "messages": only})
    assert asked.told[-1].step == 6


def test_a_request_whose_lines_were_folded_is_known(tmp_path: Path) -> None:
    plan = recorded(tmp_path, spec("classic-xml"))
    asked = Asked(tmp_path, [plan])
    body = body_of(plan, plan.turns[0])
    part = body["messages"][1]["content"][0]
    part["text"] = part["text"].replace(". ", ".\n\n  ")
    asked.message(body)
    assert asked.told[-1].step == 0


def test_what_is_nobodys_conversation_is_left_to_the_filler(tmp_path: Path) -> None:
    plan = recorded(tmp_path, spec("classic-xml"))
    asked = Asked(tmp_path, [plan])
    body = body_of(plan, plan.turns[2])
    strange = {"messages": [{"role": "user", "content": "Write a poem."}]}
    assert asked.reply(strange) is None and asked.oracle.unknown == 1
    assert asked.reply(body, Limits(64, forced=True)) is None
    assert asked.reply(body, Limits(64, min_tok=64)) is None
    cut = asked.reply(body, Limits(5))
    assert cut is not None and cut.finish == "length" and cut.n_tok == 5


def test_a_file_that_grows_is_read_again_and_equal_lines_count_once(tmp_path: Path) -> None:
    first = recorded(tmp_path / "a", spec("classic-xml"))
    asked = Asked(tmp_path, [first])
    path = asked.oracle.library.path
    second = replace(asked.solutions[0], request="Something else altogether has to be done.")
    body = body_of(first, first.turns[0])
    body["messages"][1]["content"][0]["text"] = f"<task>\n{second.request}\n</task>"
    assert asked.reply(body) is None
    with path.open("ab") as file:
        file.write(asked.solutions[0].line() + second.line()[:40])
    assert asked.reply(body) is None, "half a line is not read"
    with path.open("ab") as file:
        file.write(second.line()[40:])
    assert asked.reply(body) is not None
    assert len(asked.oracle.library) == 2
