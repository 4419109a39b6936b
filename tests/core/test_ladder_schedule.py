"""The order of a ladder's work: who runs when and where, and how long it will take."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.ladder.schedule import Life, Took, expected_s, left_s, schedule

SIZES = {"rungs": st.integers(1, 7), "pairs": st.integers(1, 7), "lanes": st.integers(1, 5)}


def words(lives: tuple[Life, ...]) -> str:
    return " ".join("ABCDEFG"[life.rung] * len(life.pairs) for life in lives)


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ({"rungs": 2, "pairs": 4}, "A B B A A B B A"),
        ({"rungs": 3, "pairs": 2}, "A B C C B A"),
        ({"rungs": 1, "pairs": 2}, "A A"),
        ({"rungs": 2, "pairs": 3, "repeats_per_life": 2}, "AA BB B A"),
        ({"rungs": 4, "pairs": 2, "ends_first": True}, "A D D A B C C B"),
        ({"rungs": 2, "pairs": 2, "ends_first": True}, "A B B A"),
        ({"rungs": 1, "pairs": 1, "ends_first": True}, "A"),
    ],
)
def test_the_order_turns_round_from_pair_to_pair(asked: dict[str, int], order: str) -> None:
    assert words(schedule(**asked)) == order


def test_the_two_sides_of_a_pair_run_at_once_and_swap_gpus() -> None:
    lives = schedule(2, 4, lanes=2)
    assert [(life.rung, life.lane) for life in lives] == [(0, 0), (1, 1), (1, 0), (0, 1)] * 2
    four = {(life.pairs[0], life.rung): life.lane for life in schedule(2, 4, lanes=4)}
    assert [(four[n, 0], four[n, 1]) for n in range(4)] == [(0, 1), (2, 3), (1, 0), (3, 2)]


@given(**SIZES, repeats_per_life=st.integers(1, 3), ends_first=st.booleans())
def test_every_rung_has_each_pair_once_and_a_life_is_one_rung(
    rungs: int, pairs: int, lanes: int, repeats_per_life: int, ends_first: bool
) -> None:
    lives = schedule(rungs, pairs, lanes=lanes, repeats_per_life=repeats_per_life, ends_first=ends_first)
    done = Counter((life.rung, pair) for life in lives for pair in life.pairs)
    assert done == {(rung, pair): 1 for rung in range(rungs) for pair in range(pairs)}
    assert all(0 <= life.lane < lanes and 1 <= len(life.pairs) <= repeats_per_life for life in lives)
    if repeats_per_life == 1:
        assert all(len(life.pairs) == 1 for life in lives), "a rung is never measured twice in one server's life"


@given(**SIZES)
def test_sides_of_a_pair_are_neighbours_in_time(rungs: int, pairs: int, lanes: int) -> None:
    """No repeat of a pair before the pair before it is done with, and within a pair every rung once."""
    lives = schedule(rungs, pairs, lanes=lanes)
    assert [life.pairs[0] for life in lives] == [pair for pair in range(pairs) for _ in range(rungs)]


@given(rungs=st.integers(1, 6), lanes=st.integers(1, 6))
def test_a_rung_meets_every_lane_equally_often(rungs: int, lanes: int) -> None:
    round_trip = lanes if rungs >= lanes else rungs * (lanes // rungs)
    seen = Counter((life.rung, life.lane) for life in schedule(rungs, round_trip, lanes=lanes))
    for rung in range(rungs):
        assert sorted(n for (r, _), n in seen.items() if r == rung) == [1] * round_trip


@given(**SIZES, repeats_per_life=st.integers(1, 3))
def test_with_the_ends_first_nothing_comes_before_their_pairs(
    rungs: int, pairs: int, lanes: int, repeats_per_life: int
) -> None:
    ranks = []
    for life in schedule(rungs, pairs, lanes=lanes, repeats_per_life=repeats_per_life, ends_first=True):
        ranks.append(0 if life.rung in (0, rungs - 1) else 1 + (life.pairs[0] > 0))
    assert ranks == sorted(ranks)


def test_an_estimate_takes_the_same_rungs_time_and_not_the_cold_start() -> None:
    life = Life(1, 0, (2,))
    assert expected_s(life, 1, [], 100.0) == pytest.approx(110.0), "nothing known: at least its window"
    over = [Took(0, 350.0, (200.0,)), Took(0, 90.0, (210.0,)), Took(0, 100.0, (190.0,))]
    assert expected_s(life, 2, over, 0.0) == pytest.approx(1.1 * (100 + 2 * 200))
    assert expected_s(life, 1, [*over, Took(1, 40.0, (60.0,))], 0.0) == pytest.approx(110.0)


def test_what_is_left_is_the_longest_lane() -> None:
    lives = schedule(3, 1, lanes=2)
    assert left_s(lives, 1, [], 5.0) is None
    assert left_s(lives, 1, [Took(0, 10.0, (20.0,))], 5.0) == pytest.approx(60.0), "two lives on lane 0, one on lane 1"
    assert left_s((), 1, [Took(0, 10.0, (20.0,))], 5.0) == 0
    assert left_s((), 3, [Took(0, 10.0, (20.0,))], 5.0, {0: 2, 1: 0}) == pytest.approx(40.0), "two levels of this life"


@pytest.mark.parametrize("wrong", ["rungs", "pairs", "lanes", "repeats_per_life"])
def test_nothing_is_no_ladder(wrong: str) -> None:
    with pytest.raises(ValueError, match="at least one"):
        schedule(**{"rungs": 1, "pairs": 1, wrong: 0})
