"""The measured retry behaviour: how many sends, how far apart."""

from __future__ import annotations

import itertools

import pytest

from simulator.cline.profiles import PROFILES
from simulator.cline.retry import Retry, next_try
from simulator.core.record import ERRORS
from simulator.errors import UsageError


def schedule(profile: str, error: str) -> list[Retry]:
    tries = (next_try(profile, error, n) for n in itertools.count(1))
    return list(itertools.takewhile(lambda r: r is not None, tries))


def delays(profile: str, error: str) -> list[float]:
    return [r.delay_s for r in schedule(profile, error)]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("error", ERRORS)
def test_every_error_ends_in_giving_up(profile, error):
    assert len(list(itertools.islice(iter(schedule(profile, error)), 100))) < 50


def test_classic_429_sends_nine_times_in_seven_seconds_before_the_application_waits():
    first = delays("classic-xml", "rate_limited")[:8]
    assert 6 < sum(first) < 8
    assert delays("classic-xml", "rate_limited")[8] == 2
    assert len(delays("classic-xml", "rate_limited")) + 1 == 9 * 4


def test_classic_server_error_sends_three_times_per_application_try():
    steps = delays("classic-xml", "server_error")
    assert len(steps) + 1 == 3 * 4
    assert steps[2::3] == [2, 4, 8]


def test_classic_overflow_truncates_and_sends_at_once_each_time():
    steps = schedule("classic-xml", "context_overflow")
    assert [r.change for r in steps] == ["truncate", "", "truncate", "", "truncate", "", "truncate"]
    assert [r.delay_s for r in steps] == [0, 2, 0, 4, 0, 8, 0]


@pytest.mark.parametrize("error", ["rate_limited", "server_error"])
def test_sdk_sends_six_times(error):
    assert delays("sdk", error) == [2.5, 4, 8, 16, 32]


def test_sdk_empty_overflow_timeout_and_cut():
    assert delays("sdk", "empty") == [0.25, 0.25]
    assert schedule("sdk", "context_overflow") == [Retry(0.0, "compact")]
    assert delays("sdk", "timeout") == delays("sdk", "cut") == []
    assert delays("classic-xml", "timeout")[0] == 4.7


@pytest.mark.parametrize(("error", "tries"), [("no such", 1), ("timeout", 0)])
def test_wrong_arguments(error, tries):
    with pytest.raises(UsageError):
        next_try("sdk", error, tries)


def test_unknown_profile_names_the_choices():
    with pytest.raises(UsageError, match=r"classic-xml, .*sdk"):
        next_try("clasic", "timeout", 1)
