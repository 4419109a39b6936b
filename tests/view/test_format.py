"""How numbers look."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.view.format import DASH, against, bar, cell, count, digits, duration, measure, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.04123, "0.0412"), (1, "1.00"), (9.996, "10.0"), (41.26, "41.3"), (99.96, "100"), (999.4, "999"),
        (999.6, "1,000"), (11_840.4, "11,840"), (-0.0521, "-0.0521"), (-1e-17, "0"), (None, DASH), (math.nan, DASH),
    ],
)  # fmt: skip
def test_digits(value: float | None, text: str) -> None:
    assert digits(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 s"), (4.2e-5, "42.0 µs"), (0.0412, "41.2 ms"), (0.99951, "1.00 s"), (0.0009999, "1.00 ms"),
        (4.12, "4.12 s"), (99.9, "99.9 s"), (99.96, "1:40 min"), (125, "2:05 min"), (3_725, "1:02:05 h"),
        (-0.002, "-2.00 ms"), (None, DASH),
    ],
)  # fmt: skip
def test_duration(value: float | None, text: str) -> None:
    assert duration(value) == text


@pytest.mark.parametrize(
    ("value", "limit", "unit", "text"),
    [
        (0.01202, 0.012, "s", "12.02 ms"), (0.013, 0.012, "s", "13.0 ms"), (0.012, 0.012, "s", "12.0 ms"),
        (0.9504, 0.95, "share", "95.04 %"), (120.2, 120.0, "s", "120.2 s"), (None, 1.0, "s", DASH),
    ],
)  # fmt: skip
def test_a_value_near_its_limit_has_the_digits_that_tell_them_apart(
    value: float | None, limit: float, unit: str, text: str
) -> None:
    assert against(value, limit, unit) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.912, "91.2 %"), (0, "0 %"), (1, "100 %"), (0.00123, "0.123 %"), (None, DASH)]
)
def test_percent(share: float | None, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("unit", "text"),
    [("s", "12.0 s"), ("share", "1,200 %"), ("", "12.0"), ("x", "12.0x"), ("tok/s", "12.0 tok/s"), ("/h", "12.0 /h")],
)
def test_units(unit: str, text: str) -> None:
    assert measure(12.0, unit) == text
    assert measure(None, unit) == measure(math.inf, unit) == DASH


@given(st.floats())
def test_no_number_looks_broken(value: float) -> None:
    for text in (digits(value), duration(value), percent(value), measure(value, "tok/s"), count(value)):
        assert text == DASH or ("nan" not in text and "inf" not in text and "e" not in text)


@given(st.floats(1e-3, 999))
def test_three_digits_are_right(value: float) -> None:
    assert float(digits(value).replace(",", "")) == pytest.approx(value, rel=0.0051)


def test_bars_grow_with_their_share() -> None:
    bars = [bar(share / 50) for share in range(51)]
    assert bars[0] == "" and bars[1] != "" and bars[-1] == "█" * 20
    assert all(len(a) <= len(b) for a, b in itertools.pairwise(bars))
    assert bar(None) == bar(math.nan) == bar(-0.1) == "" and len(bar(3.0)) == 20


def test_texts_of_a_run_are_no_markup() -> None:
    told = cell("a|b\n**bold** [x](y) <script> \x1b[31m`code`")
    assert "\n" not in told and "\x1b" not in told
    for mark in ("|", "*", "[", "<", "`"):
        assert told.count(mark) == told.count("\\" + mark)
