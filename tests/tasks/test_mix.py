"""Which sessions a scenario asks for: the shares of the first ones are the scenario's, whatever the seed."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.scenario import Scenario
from simulator.tasks.mix import draw, spread


def scenario(**changes: object) -> Scenario:
    return Scenario.model_validate({"name": "t", "sessions": 64, "refill": False, "seed": 1} | changes)


weights = st.lists(st.floats(0.01, 5), min_size=1, max_size=5).map(lambda w: tuple(zip("abcde", w, strict=False)))


@given(weights, st.text(max_size=5), st.integers(1, 200))
def test_shares_of_any_prefix_stay_close(given_weights, seed, n):
    total = sum(w for _, w in given_weights)
    seen: Counter[str] = Counter()
    for k, name in enumerate(spread(seed, given_weights, n), 1):
        seen[name] += 1
        for each, weight in given_weights:
            off = seen[each] - k * weight / total
            assert -1.5 * len(given_weights) / 2 < off < 1.001, (k, each, off)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 99))
def test_whole_shares_come_out_exactly(parts, seed):
    """0.5 / 0.5 of eight slots is four and four."""
    made = spread(str(seed), tuple(zip("abcd", map(float, parts), strict=False)), sum(parts) * 3)
    for rounds in (1, 2, 3):
        seen = Counter(made[: sum(parts) * rounds])
        assert [seen[name] for name, _ in zip("abcd", parts, strict=False)] == [p * rounds for p in parts]


@given(weights, st.integers(1, 60), st.integers(1, 60))
def test_a_longer_sequence_begins_with_the_shorter_one(given_weights, n, m):
    assert spread("s", given_weights, n + m)[:n] == spread("s", given_weights, n)


def test_seeds_give_different_orders_and_names_without_weight_never_come():
    half = (("a", 1.0), ("b", 1.0))
    assert len({spread(str(seed), half, 16) for seed in range(30)}) > 20
    assert set(spread("s", (("no", 1.0), ("yes", 0.0)), 50)) == {"no"}


@pytest.mark.parametrize("seed", range(20))
def test_eight_slots_of_two_profiles_are_four_and_four(seed):
    asked = scenario(sessions=8, seed=seed, profiles={"classic-xml": 0.5, "sdk": 0.5}, sizes={"medium": 1})
    assert Counter(draw(asked, slot, 0).profile for slot in range(8)) == {"classic-xml": 4, "sdk": 4}


def test_kinds_profiles_and_sizes_are_spread_independently_of_each_other():
    asked = scenario(
        profiles={"classic-xml": 1, "sdk": 1},
        sizes={"medium": 1, "long": 1},
        tasks={"coding": 1, "finance": 1},
        start="beginning",
    )
    specs = [draw(asked, slot, 0) for slot in range(64)]
    for one, other in itertools.combinations(("kind", "size", "profile"), 2):
        cells = Counter((getattr(s, one), getattr(s, other)) for s in specs)
        assert len(cells) == 4 and min(cells.values()) >= 6, (one, other, cells)


@pytest.mark.parametrize(
    ("key", "share", "number"), [("plan_mode", 0.25, 16), ("subagents", 0.5, 32), ("subagents", 0, 0)]
)
def test_shares_of_plan_mode_and_subagents(key, share, number):
    asked = scenario(**{key: share})
    assert sum(getattr(draw(asked, slot, 0), key) for slot in range(64)) == number
    later = [getattr(draw(asked, slot, nth), key) for slot in range(64) for nth in (1, 2)]
    assert abs(sum(later) / len(later) - share) < 0.15


def test_an_added_share_leaves_the_tasks_as_they_were():
    """Sessions of two scenarios that differ in their clients only do the same work."""
    plain, planned = scenario(), scenario(plan_mode=0.5, subagents=0.5)
    for slot, nth in itertools.product(range(16), range(3)):
        one, other = draw(plain, slot, nth), draw(planned, slot, nth)
        assert (one.kind, one.size, one.seed, one.profile) == (other.kind, other.size, other.seed, other.profile)
