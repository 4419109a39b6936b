"""Which session a request belongs to, from nothing but its messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.record.chains import FORGET, MOST_SESSIONS, Chains, Placed

SYSTEM = {"role": "system", "content": "You are an agent that works in a folder of its own. " * 5}


class Talk:
    """A client that sends its whole history each time. clock: seconds, one a request."""

    clock = 0.0

    def __init__(self, chains: Chains, task: str, system: dict[str, Any] = SYSTEM) -> None:
        self.chains = chains
        self.messages: list[dict[str, Any]] = [system, user(task)]
        self.n = 0

    def ask(self, *, good: bool = True, group: str = "", answer: str = "", keep: bool = True) -> Placed:
        self.n += 1
        reply = assistant(
            answer or f"I look at file number {self.n} of the folder now, because the task names it first"
        )
        placed = send(self.chains, self.messages, reply if good else None, group=group)
        if good and keep:
            self.messages = [*self.messages, reply, user(f"The result of step {self.n}: " + "line of text " * 20)]
        return placed


def send(chains: Chains, messages: list[dict[str, Any]], reply: Any, *, group: str = "", took_s: float = 0.5) -> Placed:
    Talk.clock += 1.0
    return chains.place(
        messages, group=group, t_s=Talk.clock, t_end_s=Talk.clock + took_s, good=reply is not None, reply=reply
    )


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


@pytest.fixture
def chains() -> Chains:
    Talk.clock = 0.0
    return Chains()


def test_sessions_that_alternate_are_told_apart(chains: Chains) -> None:
    talks = [Talk(chains, f"Mend the module number {n} so that its tests pass, please, and say so") for n in range(5)]
    rounds = [[talk.ask() for talk in talks] for _ in range(4)]
    for n, placed in enumerate(zip(*rounds, strict=True)):
        assert [p.session for p in placed] == [f"s{n + 1:04d}"] * 4
        assert [p.turn for p in placed] == [0, 1, 2, 3]
        assert [p.by for p in placed] == ["first", "prefix", "prefix", "prefix"]
        assert [p.kept for p in placed] == [0, 2, 4, 6]


def test_one_request_sent_again_after_a_bad_reply_is_the_same_turn(chains: Chains) -> None:
    talk = Talk(chains, "Count the lines of every file in this folder and tell me how many there are")
    talk.ask()
    bad, again, next_one = talk.ask(good=False), talk.ask(), talk.ask()
    assert not bad.again and again.again and again.turn == bad.turn == 1
    assert next_one.turn == 2 and len({p.session for p in (bad, again, next_one)}) == 1


def test_two_agents_with_one_task_stay_two(chains: Chains) -> None:
    """Their first requests are equal; each goes on from its own reply."""
    one, two = (
        Talk(chains, "Do the same thing as everybody else does here"),
        Talk(chains, "Do the same thing as everybody else does here"),
    )
    first = one.ask(answer="the first agent says this and nothing else"), two.ask(answer="the second agent says that")
    assert first[0].session != first[1].session
    assert two.ask().session == first[1].session and one.ask().session == first[0].session


def test_a_reply_that_is_still_coming_cannot_be_continued(chains: Chains) -> None:
    talk = Talk(chains, "Do one thing after the other, in the order of the list")
    reply = assistant("a reply that takes long")
    slow = send(chains, talk.messages, reply, took_s=100.0)
    other = send(chains, [*talk.messages, reply, user("go on")], assistant("no"))
    assert other.session != slow.session


def test_a_history_cut_in_the_middle_stays_with_its_session(chains: Chains) -> None:
    one, two = (
        Talk(chains, "Rename the function in all the files that use it"),
        Talk(chains, "Write the missing tests for the parser"),
    )
    for _ in range(6):
        last, other = one.ask(), two.ask()
    note = assistant("[some of the conversation was removed]")
    one.messages = [*one.messages[:2], note, *one.messages[7:]]
    cut = one.ask()
    assert cut.session == last.session != other.session and cut.by == "rewritten" and cut.kept == 2
    assert one.ask().by == "prefix" and two.ask().session == other.session


def test_requests_with_the_same_examples_are_no_session(chains: Chains) -> None:
    texts = [f"Example {n} of what is wanted here, told at some length so that it is known. " * 3 for n in range(4)]
    shots = [turn(text) for text in texts for turn in (user, assistant)]
    asked = [[SYSTEM, *shots, user(f"And what about the case number {n} of our long list?")] for n in range(5)]
    assert len({send(chains, each, assistant("This is so.")).session for each in asked}) == 5


def test_a_summary_in_place_of_the_past_and_the_call_that_asked_for_it(chains: Chains) -> None:
    talk = Talk(chains, "Parse all the invoices of the year and write them into one table")
    for _ in range(6):
        last = talk.ask()
    told = json.dumps([m["content"] for m in talk.messages[1:7]])
    aside = send(
        chains, [{"role": "system", "content": "Summarise."}, user(f"<history>{told}</history>")], assistant("So far")
    )
    assert aside.session == last.session and aside.aside and aside.by == "quoted"
    talk.messages = [talk.messages[0], user("Context summary:\n\nSo far"), *talk.messages[-4:]]
    after = talk.ask()
    assert after.session == last.session and after.by == "rewritten" and after.turn == last.turn + 1


def test_a_sub_agent_knows_whose_it_is(chains: Chains) -> None:
    parent = Talk(chains, "Find out why the nightly build of the project fails and mend it")
    task = "Look through the build logs of the last seven days and list every error with its first date"
    arguments = json.dumps({"systemPrompt": "You help.", "task": task})
    call = {"id": "c1", "type": "function", "function": {"name": "spawn_agent", "arguments": arguments}}
    reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    started = send(chains, parent.messages, reply)
    child = Talk(chains, task, {"role": "system", "content": "You help."})
    assert child.ask().parent == started.session and child.ask().parent == ""
    parent.messages += [reply, {"role": "tool", "tool_call_id": "c1", "content": "There were four errors in all."}]
    assert parent.ask().session == started.session


def test_a_header_names_sessions_and_keeps_what_is_not_one_conversation_apart(chains: Chains) -> None:
    talk, title = (
        Talk(chains, "Build the thing"),
        Talk(chains, "Give this a title", {"role": "system", "content": "Titles."}),
    )
    first, other = talk.ask(group="abc"), title.ask(group="abc")
    assert (first.session, first.by) == ("abc", "header")
    assert (other.session, other.parent) == ("abc/2", "abc")
    assert talk.ask(group="abc").session == "abc"
    assert Talk(chains, "Build the thing").ask(group="xyz").session == "xyz"


def test_a_clients_name_may_look_like_ours(chains: Chains) -> None:
    ours, theirs = (
        Talk(chains, "The task of the one without a header"),
        Talk(chains, "The task of the one with a header"),
    )
    assert ours.ask().session == "s0001"
    named = theirs.ask(group="s0001")
    assert (named.session, named.parent) == ("s0001/2", "")
    assert ours.ask().session == "s0001" and theirs.ask(group="s0001").session == "s0001/2"
    assert Talk(chains, "Another one without a header").ask().session == "s0002"


def test_marks_for_a_cache_and_dropped_thoughts_change_nothing(chains: Chains) -> None:
    first = [SYSTEM, user("Say something about each of the files here")]
    one = send(chains, first, {**assistant("well"), "reasoning_content": "hm"})
    part = {"type": "text", "text": first[1]["content"], "cache_control": {"type": "ephemeral"}}
    two = send(
        chains, [SYSTEM, {"role": "user", "content": [part]}, assistant("well"), user("go on")], assistant("yes")
    )
    assert two.session == one.session and two.by == "prefix"
    three = send(
        chains,
        [
            SYSTEM,
            first[1],
            {**assistant("well"), "reasoning_content": "hm"},
            user("go on"),
            assistant("yes"),
            user("more"),
        ],
        None,
    )
    assert three.session == one.session and three.kept == 4


def test_forgetting_is_bounded_and_harmless(chains: Chains) -> None:
    for n in range(MOST_SESSIONS + FORGET + 10):
        send(chains, [user(f"A task of its own, number {n}")], assistant("ok"))
    assert len(chains._sessions) < MOST_SESSIONS + FORGET and len(chains._ends) == len(chains._sessions)
    late = Talk(chains, "The last task of them all, and it goes on for a while")
    assert late.ask().session == late.ask().session
