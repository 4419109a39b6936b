"""Pairs of runs: ratio, interval, p, power; held against tables, against brute force and against a known truth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from simulator.core.compare.pairs import PairedRatio, holm, outliers, ratio_of_pairs, sign_flip_p
from simulator.core.compare.power import minimum_detectable, pairs_to_equal, pairs_to_tell, power
from simulator.core.compare.verdict import Setting, Verdict, more, verdict

SIMULATIONS = 2_000
LOGS = st.lists(st.floats(-0.5, 0.5), min_size=2, max_size=9)


def test_by_hand() -> None:
    """ln 1.1, ln 1.1, ln 1.21: mean 4/3 ln 1.1, standard error 1/3 ln 1.1, t for two degrees of freedom 4.303."""
    found = ratio_of_pairs([10, 20, 10], [11, 22, 12.1])
    step = math.log(1.1)
    assert found.ratio == pytest.approx(1.1 ** (4 / 3))
    assert found.high == pytest.approx(math.exp(step * (4 + 4.3027) / 3), rel=1e-4)
    assert found.low == pytest.approx(math.exp(step * (4 - 4.3027) / 3), rel=1e-4)
    assert found.p == 0.25 and found.n == 3
    assert found.cv == pytest.approx(step / math.sqrt(3) / math.sqrt(2))


def test_one_pair_has_a_ratio_and_nothing_else() -> None:
    found = ratio_of_pairs([4.0], [5.0])
    assert found == PairedRatio(pytest.approx(1.25), None, None, None, None, 1, None, None, found.logs)
    assert verdict(found, "higher", 0.02) is Verdict.SUGGESTIVE


@pytest.mark.parametrize(
    ("a", "b"), [([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0]), ([1.0], [-1.0]), ([math.nan], [1.0])]
)
def test_what_is_no_pair_is_refused(a: Sequence[float], b: Sequence[float]) -> None:
    with pytest.raises(ValueError):
        ratio_of_pairs(a, b)


def test_equal_values_are_equal() -> None:
    found = ratio_of_pairs([3.0, 4.0, 5.0], [3.0, 4.0, 5.0])
    assert (found.ratio, found.low, found.high, found.p, found.p_t, found.mde) == (1, 1, 1, 1, 1, 0)
    assert verdict(found, "lower", 0.05) is Verdict.EQUIVALENT


def test_two_pairs_that_are_alike_decide_nothing() -> None:
    found = ratio_of_pairs([100.0, 200.0], [103.0, 206.0])
    assert found.low == pytest.approx(1.03) and verdict(found, "higher", 0.02) is Verdict.SUGGESTIVE


@given(LOGS)
def test_sign_flip_against_brute_force(logs: list[float]) -> None:
    seen = abs(sum(logs)) - 1e-9 * sum(map(abs, logs))
    sums = [abs(sum(s * x for s, x in zip(signs, logs, strict=True))) for signs in _signs(len(logs))]
    assert sign_flip_p(np.array(logs)) == pytest.approx(np.mean([each >= seen for each in sums]))


def _signs(n: int) -> itertools.product[tuple[int, ...]]:
    return itertools.product((1, -1), repeat=n)


@pytest.mark.parametrize(("n", "least"), [(3, 0.25), (5, 0.0625), (6, 0.03125), (20, 2 / 2**20), (32, 2 / 2**32)])
def test_the_smallest_p(n: int, least: float) -> None:
    assert sign_flip_p(np.linspace(1, 2, n)) == pytest.approx(least)


def test_past_the_exact_ones_student_takes_over_smoothly() -> None:
    logs = np.random.default_rng(4).normal(0.01, 0.03, 33)
    exact, by_t = sign_flip_p(logs[:32]), float(reference.ttest_1samp(logs[:32], 0).pvalue)
    assert exact == pytest.approx(by_t, rel=0.1)
    assert sign_flip_p(logs) == pytest.approx(float(reference.ttest_1samp(logs, 0).pvalue))


@given(LOGS, st.floats(0.1, 10))
def test_sides_may_be_exchanged_and_units_chosen(logs: list[float], unit: float) -> None:
    a = [unit * (1 + i) for i in range(len(logs))]
    b = [value * math.exp(each) for value, each in zip(a, logs, strict=True)]
    there, back = ratio_of_pairs(a, b), ratio_of_pairs(b, a)
    assert there.ratio * back.ratio == pytest.approx(1)
    assert there.low is not None and back.high is not None and there.low * back.high == pytest.approx(1)
    assert there.p == pytest.approx(back.p)
    assert verdict(there, "higher", 0.02) == verdict(there, "lower", 0.02) or there.certain


def test_holm_by_hand() -> None:
    """Three of them, in rising order 0.01, 0.02, 0.04: times 3, 2, 1, and never falling."""
    assert holm([0.04, None, 0.01, 0.02]) == [0.04, None, pytest.approx(0.03), 0.04]
    assert holm([0.5, 0.9]) == [1.0, 1.0] and holm([]) == []


def test_outliers_are_pointed_at() -> None:
    assert outliers([0.01, 0.012, 0.009, 0.011, 0.2]) == [4]
    assert outliers([0.01, 0.012, 0.009, 0.2]) == []
    assert outliers([0.01, 0.01, 0.01, 0.01, 0.0101]) == []


def test_detectable_effects_are_those_of_the_page() -> None:
    """docs/diff.md prints them; CV 2 %."""
    for n, share in ((3, 0.092), (5, 0.0475), (6, 0.0406), (10, 0.028)):
        assert minimum_detectable(n, 0.02) == pytest.approx(share, rel=0.01)
    assert minimum_detectable(1, 0.02) is None and minimum_detectable(6, 0.0) == 0


def test_how_many_pairs_would_do() -> None:
    enough = pairs_to_tell(1.03, 0.02)
    assert enough is not None
    sd = math.sqrt(2) * 0.02
    assert power(enough, math.log(1.03) / sd) >= 0.8 > power(enough - 1, math.log(1.03) / sd)
    assert pairs_to_tell(1.0, 0.02) is None and pairs_to_tell(1.0001, 0.05) is None and pairs_to_tell(1.03, 0.0) == 2
    assert pairs_to_equal(1.03, 0.02, 0.02) is None
    few, many = pairs_to_equal(1.0, 0.01, 0.02), pairs_to_equal(1.01, 0.01, 0.02)
    assert few is not None and many is not None and few < many


@pytest.mark.parametrize(
    ("low", "high", "better", "p", "setting", "expected"),
    [
        (1.03, 1.08, "higher", None, Setting(True, True), Verdict.INCOMPARABLE),
        (1.03, 1.08, "higher", None, Setting(False, True), Verdict.CLIENT_LIMITED),
        (None, None, "higher", None, Setting(), Verdict.SUGGESTIVE),
        (0.99, 1.01, "higher", None, Setting(), Verdict.EQUIVALENT),
        (1.005, 1.015, "higher", None, Setting(), Verdict.EQUIVALENT),  # sure, and too small to matter
        (1.03, 1.08, "higher", None, Setting(), Verdict.BETTER),
        (1.03, 1.08, "lower", None, Setting(), Verdict.WORSE),
        (0.90, 0.95, "higher", None, Setting(), Verdict.WORSE),
        (0.90, 0.95, "lower", None, Setting(), Verdict.BETTER),
        (0.90, 0.95, "lower", 0.2, Setting(), Verdict.INCONCLUSIVE),  # one of many, and Holm is not convinced
        (0.90, 0.95, "lower", 0.04, Setting(), Verdict.BETTER),
        (0.97, 1.04, "higher", None, Setting(), Verdict.INCONCLUSIVE),
    ],
)
def test_the_first_word_that_applies(
    low: float | None, high: float | None, better: str, p: float | None, setting: Setting, expected: Verdict
) -> None:
    ratio = 1.04 if low is None or high is None else math.sqrt(low * high)
    found = PairedRatio(ratio, low, high, 0.03, 0.01, 6, 0.03, 0.02)
    assert verdict(found, better, 0.02, setting, p) is expected


def test_an_inconclusive_one_says_how_many_more() -> None:
    found = ratio_of_pairs([100, 100, 100], [103, 107, 101])
    assert verdict(found, "higher", 0.02) is Verdict.INCONCLUSIVE
    towards = more(found, 0.02)
    assert towards.towards == "different" and towards.pairs is not None and towards.pairs > 3
    assert more(ratio_of_pairs([100, 100, 100], [130, 70, 120]), 0.02).pairs is None
    level = more(ratio_of_pairs([100] * 4, [100.1, 98.5, 101.5, 100]), 0.02)
    assert level.towards == "equivalent" and level.pairs is not None and level.pairs > 4


# --- a known truth ---


def simulated(seed: int, n: int, ratio: float, cv: float, times: int = SIMULATIONS) -> list[PairedRatio]:
    """Comparisons of n pairs whose sides vary by cv from run to run, and from seed to seed by ten times as much."""
    rng = np.random.default_rng(seed)
    work = rng.normal(0, 10 * cv, (times, n))
    a = np.exp(7 + work + rng.normal(0, cv, (times, n)))
    b = np.exp(7 + work + math.log(ratio) + rng.normal(0, cv, (times, n)))
    return [ratio_of_pairs(left, right) for left, right in zip(a, b, strict=True)]


def share_of(found: list[PairedRatio], word: Verdict) -> float:
    return sum(verdict(each, "higher", 0.02) is word for each in found) / len(found)


@pytest.mark.parametrize(("n", "ratio", "cv"), [(3, 1.0, 0.02), (6, 1.05, 0.02), (6, 1.0, 0.1), (12, 0.9, 0.05)])
def test_intervals_cover_the_truth(n: int, ratio: float, cv: float) -> None:
    found = simulated(n, n, ratio, cv)
    covered = np.mean([each.low <= ratio <= each.high for each in found if each.low and each.high])
    assert 0.93 <= covered <= 0.97


@pytest.mark.parametrize(("n", "cv"), [(3, 0.02), (6, 0.02), (6, 0.05), (10, 0.1)])
def test_equal_engines_are_seldom_called_better(n: int, cv: float) -> None:
    found = simulated(100 + n, n, 1.0, cv)
    assert share_of(found, Verdict.BETTER) < 0.05 and share_of(found, Verdict.WORSE) < 0.05
    assert np.mean([each.p is not None and each.p <= 0.05 for each in found]) < 0.065


@pytest.mark.parametrize(("n", "cv"), [(3, 0.02), (5, 0.02), (6, 0.03), (10, 0.02)])
def test_power_is_what_the_printed_effect_promises(n: int, cv: float) -> None:
    effect = minimum_detectable(n, cv)
    assert effect is not None
    assert 0.75 <= share_of(simulated(200 + n, n, math.exp(effect), cv), Verdict.BETTER) <= 0.85


def test_equal_engines_are_called_equivalent_with_enough_pairs() -> None:
    """About 17 % with 10 pairs and 70 % with 20 at a CV of 2 %; as many as are asked for give about 80 %."""
    shares = [share_of(simulated(300 + n, n, 1.0, 0.02, 1_000), Verdict.EQUIVALENT) for n in (10, 20)]
    assert shares[0] == pytest.approx(0.17, abs=0.03) and shares[1] == pytest.approx(0.69, abs=0.04)
    enough = pairs_to_equal(1.0, 0.02, 0.02)
    assert enough is not None and 0.75 <= share_of(simulated(5, enough, 1.0, 0.02, 500), Verdict.EQUIVALENT) <= 0.9
