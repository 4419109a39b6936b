"""What solved tasks took, from the counts of a live run."""

from __future__ import annotations

import pytest
from fixtures_fold import reply, run_of, session

from simulator.core.cost import delivered, own_cost
from simulator.core.proportion import wilson
from simulator.core.quality import quality, quality_of
from simulator.core.summary import summarise

STREAM = [(250, 1), (20, 3)]


def agent(*solved: bool, mode: str = "live", told: int | None = 100):
    sessions = [
        session(f"s{n}", verified=good, failure_class="" if good else "loop", task_kind=("coding", "finance")[n % 2])
        for n, good in enumerate(solved)
    ]
    replies = [reply(10.0 + n, STREAM, session=f"s{n}", prompt_tok=told) for n in range(len(solved) or 1)]
    return summarise(run_of(*replies, sessions=sessions, mode=mode, windows={"agent": (0.0, 1_800.0)}))["agent"]


def test_share_rate_and_tokens_those_of_the_unsolved_included() -> None:
    found = agent(True, False, True, False)["quality"]
    assert found["share"] == 0.5 and (found["low"], found["high"]) == wilson(2, 4)
    assert found["per_hour"] == pytest.approx(4)  # two in half an hour
    assert found["prompt_tok_per_solved"] == 200 and found["output_tok_per_solved"] == 8
    assert found["tok_per_solved"] == 208
    assert found["by_kind"] == {
        name: {"share": share, "low": wilson(good, 2)[0], "high": wilson(good, 2)[1]}  # type: ignore[index]
        for name, share, good in (("coding", 1.0, 2), ("finance", 0.0, 0))
    }


def test_nothing_solved_has_a_rate_of_0_and_no_price() -> None:
    part = agent(False, False)
    found = part["quality"]
    assert (found["share"], found["low"], found["per_hour"]) == (0.0, 0.0, 0.0) and found["high"] < 1
    assert found["tok_per_solved"] is found["output_tok_per_solved"] is None
    tokens = delivered(part, live=True)
    assert tokens is not None and tokens.solved == 0 and own_cost(tokens, 4.0).usd_per_solved is None


def test_nobody_judged_and_a_replay() -> None:
    found = agent()["quality"]
    assert found["share"] is found["low"] is found["high"] is None and found["per_hour"] == 0
    assert agent(True, mode="replay")["quality"] is None and quality(None, 10.0) is None


def test_a_server_that_tells_of_no_prompt_tokens() -> None:
    found = agent(True, told=None)["quality"]
    assert found["prompt_tok_per_solved"] is found["tok_per_solved"] is None and found["output_tok_per_solved"] == 4


def test_an_older_summary_has_it_folded_from_its_counts() -> None:
    part = agent(True, False)
    known = part.pop("quality")
    assert quality_of(part) == known


def test_a_solved_task_is_one_however_its_session_ended() -> None:
    run = run_of(
        reply(10.0, STREAM, session="s0"), sessions=(session("s0", outcome="failed", verified=True),), mode="live"
    )
    tokens = delivered(summarise(run)["agent"], live=True)
    assert tokens is not None and tokens.solved == 1
