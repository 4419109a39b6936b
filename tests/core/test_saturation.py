"""The search for the largest load, against oracles of every kind."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.saturation import CLIENT, CLOSE, MET, MISSED, Span, Trial, Verdict, decide
from simulator.view.saturation import Found, sentence

Oracle = Callable[[float, int], str]


def search(span: Span, oracle: Oracle) -> tuple[Verdict, list[Trial]]:
    """oracle(point, nth time it is tried). Fails when the search does not end."""
    trials: list[Trial] = []
    for _ in range(60):
        step = decide(span, trials)
        if isinstance(step, Verdict):
            return step, trials
        assert span.low <= step <= span.high
        assert not span.whole or step == int(step)
        trials.append(Trial(step, oracle(step, sum(t.point == step for t in trials))))
    raise AssertionError(f"no end: {trials}")


def below(limit: float) -> Oracle:
    return lambda point, nth: MET if point <= limit else MISSED


AGENTS = Span(1.0, 512.0, True)


@pytest.mark.parametrize(
    ("limit", "kind", "best", "over"),
    [
        (44, "found", 44, 46),  # a twentieth of 44 is two agents
        (1, "found", 1, 2),
        (300, "found", None, None),
        (511, "found", None, None),
        (512, "at least", 512, None),
        (9e9, "at least", 512, None),
        (0, "below", None, 1),
    ],
)
def test_agents_by_hand(limit: float, kind: str, best: float | None, over: float | None) -> None:
    verdict, trials = search(AGENTS, below(limit))
    assert verdict.kind == kind
    if best is not None or over is not None:
        assert (verdict.best, verdict.below) == (best, over)
    assert [t.point for t in trials[:2]] in ([1, 2], [1, 1]), "doubling from the smallest"
    boundary = [p for p in (verdict.best, verdict.below) if p is not None]
    assert all(sum(t.point == p for t in trials) == 2 for p in boundary), "the boundary's probes are repeated, once"


@given(st.integers(1, 64), st.integers(0, 6), st.floats(0, 5000), st.booleans())
def test_a_monotone_oracle_is_bracketed(low: int, doublings: int, limit: float, whole: bool) -> None:
    span = Span(float(low), float(low * 2**doublings + (doublings > 1)), whole)
    verdict, trials = search(span, below(limit))
    best, over = verdict.best, verdict.below
    if verdict.kind == "found":
        assert best is not None and over is not None and best <= limit < over
        assert over - best <= max(1.0 if whole else 0.0, CLOSE * best)
    elif verdict.kind == "at least":
        assert best == span.high <= limit
    else:
        assert verdict.kind == "below" and over == span.low > limit
    # up the ladder, down by halves to a twentieth, and the two repeats
    assert len(trials) <= math.log2(span.high / span.low) + 2 + math.log2(1 / CLOSE) + 2 + 2
    assert decide(span, trials) == verdict, "the verdict stands"


@given(st.data(), st.floats(20, 200), st.floats(1.0, 1.6))
def test_a_noisy_oracle_is_told_between_which_loads(data: st.DataObject, limit: float, width: float) -> None:
    edge = limit * width

    def oracle(point: float, nth: int) -> str:
        if limit < point < edge:
            return data.draw(st.sampled_from([MET, MISSED]))
        return MET if point <= limit else MISSED

    verdict, trials = search(AGENTS, oracle)
    assert verdict.best is not None and verdict.below is not None
    assert verdict.best < verdict.below, "a range, however often the verdict flips"
    assert verdict.best <= edge and verdict.below > limit, "the truth lies between"
    met = {t.point for t in trials if t.outcome == MET}
    missed = {t.point for t in trials if t.outcome == MISSED}
    assert verdict.kind == ("noisy" if any(p >= q for p in met for q in missed) else "found")


@given(st.data())
def test_any_oracle_ends(data: st.DataObject) -> None:
    verdict, _ = search(AGENTS, lambda point, nth: data.draw(st.sampled_from([MET, MISSED, CLIENT])))
    assert verdict.best is None or verdict.below is None or verdict.best < verdict.below or verdict.kind == "client"


def test_a_flip_at_the_boundary_is_told() -> None:
    def oracle(point: float, nth: int) -> str:
        if point == 44 and nth == 1:
            return MISSED
        return MET if point <= 44 else MISSED

    verdict, _ = search(AGENTS, oracle)
    assert (verdict.kind, verdict.best, verdict.below) == ("noisy", 40, 46)


def test_a_miss_that_did_not_stand_is_bounded_from_above() -> None:
    def oracle(point: float, nth: int) -> str:
        return MISSED if point > 50 or (point == 32 and nth == 0) else MET

    verdict, trials = search(AGENTS, oracle)
    assert (verdict.kind, verdict.best, verdict.below) == ("noisy", 31, 64)
    assert [t.point for t in trials][-3:] == [31, 32, 64]


def test_the_client_as_the_limit_ends_the_search() -> None:
    verdict, trials = search(AGENTS, lambda point, nth: CLIENT if point >= 64 else MET)
    assert (verdict.kind, verdict.best, verdict.below) == ("client", 32, 64)
    assert [t.point for t in trials][-2:] == [64, 64], "once may be chance, twice is not"


def test_a_client_that_stumbled_once_is_forgiven() -> None:
    def oracle(point: float, nth: int) -> str:
        return CLIENT if point == 8 and nth == 0 else MET if point <= 44 else MISSED

    verdict, trials = search(AGENTS, oracle)
    assert (verdict.kind, verdict.best) == ("found", 44)
    assert sum(t.point == 8 for t in trials) == 2


def test_where_a_second_try_gives_the_same_there_is_none() -> None:
    verdict, trials = search(Span(1.0, 512.0, True, tries=1), below(44))
    assert (verdict.kind, verdict.best, verdict.below) == ("found", 44, 46)
    assert len({t.point for t in trials}) == len(trials)


def test_trials_of_an_earlier_search_are_used() -> None:
    _, trials = search(AGENTS, below(44))
    for cut in range(len(trials)):
        rest, again = decide(AGENTS, trials[:cut]), trials[:cut]
        assert isinstance(rest, float) and rest == trials[cut].point
        assert decide(AGENTS, again + trials[cut:]) == decide(AGENTS, trials)
    unasked = [*trials, Trial(3.0, MET), Trial(500.0, MISSED)]
    assert decide(AGENTS, unasked) == decide(AGENTS, trials)


@pytest.mark.parametrize(
    ("emulated", "rate", "cure"),
    [(True, False, "--virtual"), (True, True, "idle cores, or another"), (False, False, "or another")],
)
def test_a_client_that_is_the_limit_has_a_cure(emulated: bool, rate: bool, cure: str) -> None:
    found = Found("demo", "m", emulated, rate, [], [], Verdict(CLIENT, None, 1.0))
    assert sentence(found).startswith("The client is the limit at 1 ") and cure in sentence(found)
    assert ("--virtual" in sentence(found)) == (emulated and not rate), "virtual time takes no rates, nor a real engine"
