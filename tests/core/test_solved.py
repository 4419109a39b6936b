"""Tasks solved by live sessions, and why the others were not."""

from __future__ import annotations

from fixtures_fold import reply, run_of, session

from simulator.core.record import FAILURES
from simulator.core.solved import solved
from simulator.core.summary import summarise
from simulator.core.window import traffic


def fold(*sessions, replies=(), **parts):
    run = run_of(*(replies or [reply(10.0, [(250, 1), (20, 2)])]), sessions=sessions, mode="live", **parts)
    sample = traffic(run, "agent")
    assert sample is not None
    return solved(sample)


def test_nobody_judged_is_nothing_known():
    for sessions in ((), (session("s0", outcome="stopped"),)):
        found = fold(*sessions)
        assert (found["judged"], found["solved"], found["share"], found["failures"]) == (0, 0, None, {})
        assert found["unjudged"] == len(sessions) and found["turns"]["p50"] is None


def test_counts_by_class_kind_and_profile():
    every = [
        session(f"f{n}", verified=False, failure_class=name, profile="sdk", end_turn=n)
        for n, name in enumerate(FAILURES)
    ]
    good = [session(f"g{n}", verified=True, profile="classic-xml", task_kind="finance", end_turn=10) for n in range(2)]
    found = fold(*every, *good, session("open", outcome="stopped"))
    assert (found["judged"], found["solved"], found["unjudged"]) == (9, 2, 1)
    assert found["share"] == 2 / 9
    assert list(found["failures"]) == list(FAILURES) and set(found["failures"].values()) == {1}
    assert found["by_profile"] == {"classic-xml": {"judged": 2, "solved": 2}, "sdk": {"judged": 7, "solved": 0}}
    assert found["by_kind"]["finance"] == {"judged": 2, "solved": 2}
    assert found["turns"]["max"] == 10 and found["turns"]["n"] == 9


def test_a_session_that_its_engine_failed_and_that_is_right_all_the_same_is_solved():
    found = fold(session("s0", outcome="failed", verified=True))
    assert found["solved"] == 1 and found["failures"] == {}


def test_tokens_are_of_all_requests_of_a_session_its_sub_agents_included():
    stream = [(250, 1), (20, 2)]
    replies = [
        reply(10.0, stream, session="s0", prompt_tok=100),
        reply(11.0, stream, session="s0", prompt_tok=50, branch=1),
        reply(10.5, stream, session="s1", prompt_tok=7),
        reply(12.0, stream, session="s9", prompt_tok=1_000),
    ]
    found = fold(session("s0", verified=True), session("s1", verified=False, failure_class="loop"), replies=replies)
    assert (found["prompt_tok"]["min"], found["prompt_tok"]["max"]) == (7, 150)
    assert found["output_tok"]["n"] == 2


def test_the_recorded_way():
    found = fold(
        session("a", verified=True, recorded_share=1.0),
        session("b", verified=True, recorded_share=0.5, diverged_turn=3),
        session("c", verified=False, failure_class="gave_up"),
    )
    assert (found["recorded"], found["on_path"]) == (2, 1)
    assert found["diverged_turn"]["p50"] == 3 and found["recorded_share"]["mean"] == 0.75


def test_only_what_ended_in_the_window_counts():
    windows = {"agent": (5.0, 20.0)}
    inside, outside = session("a", 0, 15, verified=True), session("b", 0, 25, verified=True)
    assert fold(inside, outside, windows=windows)["judged"] == 1


def test_a_replay_solves_nothing_and_a_live_run_warns_of_no_recorded_solution():
    wrong = session("s0", verified=False, failure_class="wrong_answer")
    replies = [reply(10.0, [(250, 1), (20, 2)])]
    live = summarise(run_of(*replies, sessions=(wrong,), mode="live"))
    replay = summarise(run_of(*replies, sessions=(session("s0", verified=False),)))
    assert (live["mode"], replay["mode"]) == ("live", "replay")
    assert live["agent"]["live"]["judged"] == 1 and replay["agent"]["live"] is None
    codes = [[each["code"] for each in summary["warnings"]] for summary in (live, replay)]
    assert "not_verified" not in codes[0] and "not_verified" in codes[1]
