"""Live runs beside each other: which tasks are pairs, and which verdict goes before which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from fixtures_compare import one
from fixtures_fold import session

from simulator.core.compare.comparable import OneRun
from simulator.core.compare.comparison import Comparison, Question, compare
from simulator.core.compare.solving import checked, solving
from simulator.core.compare.verdict import Verdict
from simulator.core.metric import OUTPUT, SOLVED_HOUR

GOOD, BAD = [True] * 20, [True] * 10 + [False] * 10


def live(solved: Sequence[bool], output: float = 100.0, *, name: str = "a", seed: int = 1, **changes: Any) -> OneRun:
    failure = changes.pop("failure", "loop")
    sessions = [session(f"s{n}", verified=each, failure_class="" if each else failure) for n, each in enumerate(solved)]
    agent = {"quality": {"per_hour": float(sum(solved))}, **changes.pop("agent", {})}
    run = one(output, name=name, seed=seed, mode=changes.pop("mode", "live"), agent=agent, **changes)
    return OneRun(run.name, run.manifest, run.summary, True, {}, {}, tasks=checked(sessions))


def beside(a: Sequence[OneRun], b: Sequence[OneRun], **question: Any) -> Comparison:
    return compare(a, b, Question(**question))


def test_a_sure_fall_is_worse_even_where_tok_s_rose() -> None:
    a = [live(GOOD, 100 + n, seed=n) for n in range(1, 7)]
    b = [live(BAD, 150 + n, name="b", seed=n) for n in range(1, 7)]
    found = beside(a, b, primary=OUTPUT)
    assert found.primary is not None and found.primary.word is Verdict.BETTER
    assert found.word is Verdict.WORSE and found.solving is not None
    assert (found.solving.n, found.solving.lost, found.solving.won) == (120, 60, 0)
    assert found.solving.losses == (("loop", 60),)
    assert any("other work" in note for note in found.notes)
    assert beside(b, a, primary=OUTPUT).solving.word is Verdict.BETTER  # type: ignore[union-attr]


def test_one_run_a_side_decides_on_solved_tasks_and_on_nothing_else() -> None:
    found = beside([live(GOOD)], [live(BAD, name="b")], primary=SOLVED_HOUR)
    assert found.primary is not None and found.primary.word is Verdict.SUGGESTIVE and found.word is Verdict.WORSE


def test_nothing_solved_at_all_is_worse_although_a_rate_of_0_has_no_ratio() -> None:
    found = beside([live(GOOD)], [live([False] * 20, name="b")], primary=SOLVED_HOUR)
    assert found.primary is not None and found.primary.found is None and found.word is Verdict.WORSE


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"engine": {"model": "other"}}, Verdict.INCOMPARABLE),
        ({"client": "client-limited", "failure": "time_out"}, Verdict.CLIENT_LIMITED),
        ({"client": "client-limited"}, Verdict.WORSE),  # a slow client changes no model's words
        ({"stopped": "SIGINT"}, Verdict.INCOMPARABLE),
        ({"agent": {"requests": {"sent": 50, "ok": 25, "failed": 25}}}, Verdict.WORSE),  # what failed solved nothing
    ],
)
def test_what_goes_before_a_fall(changes: dict[str, Any], word: Verdict) -> None:
    found = beside([live(GOOD)], [live(BAD, name="b", **changes)])
    assert found.solving is not None and found.solving.word is word
    assert found.word is word


def test_a_difference_that_was_asked_for_forbids_nothing() -> None:
    found = beside([live(GOOD)], [live(BAD, name="b", engine={"model": "o"})], allowed=frozenset({"model"}))
    assert found.word is Verdict.WORSE


def test_tasks_are_paired_by_seed_session_and_what_was_asked() -> None:
    tasks = checked([session("s0", verified=True), session("s1", verified=False)])
    others = checked([session("s0", verified=False), session("s1", verified=True, task_size="long"), session("s2")])
    found = solving([(tasks, others)])
    assert found is not None and (found.n, found.lost, found.alone) == (1, 1, (1, 2))
    assert found.losses == (("wrong_answer", 1),)
    across = beside([live(GOOD, seed=1)], [live(BAD, name="b", seed=2)], allowed=frozenset({"seed"}))
    assert across.solving is None and across.live


def test_replays_are_as_they_were() -> None:
    found = beside([live(GOOD, mode="replay")], [live(BAD, name="b", mode="replay")])
    assert found.solving is None and not found.live
