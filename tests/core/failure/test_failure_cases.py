"""Cases and their judgement: bounds, words, ratios, and what a wrong file is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.failure.case import Bounds, judge, parse
from simulator.errors import UsageError

FOLDER = Path(__file__).resolve().parents[3] / "scenarios" / "failures"
CASE = """\
one:
  what: something goes wrong
  scenario: one.yaml
  expect: {errors.timeout: 2, ttft_s: {min: 1, max: 2}}
  ends: {sdk: "timeout", classic-xml: ""}
  beside: {engine: baseline}
  ratio: {ttft_s: {min: 2}}
"""
GOOD = {"errors.timeout": 2.0, "ttft_s": 1.5}
ENDS = {"sdk": ["timeout: silent"], "classic-xml": ["", ""]}


def met(figures: dict[str, float | None], ends: dict[str, list[str]], beside: dict[str, float | None]) -> list[bool]:
    return [found.met for found in judge(parse(CASE, "x")["one"], figures, ends, beside)]


def test_what_is_as_expected_is_met_and_each_thing_that_is_not_is_told_apart() -> None:
    assert met(GOOD, ENDS, {"ttft_s": 0.5}) == [True] * 5
    assert met({**GOOD, "errors.timeout": 1.0}, ENDS, {"ttft_s": 0.5}) == [False, True, True, True, True]
    assert met({"ttft_s": 2.5}, ENDS, {"ttft_s": 0.5}) == [False, False, True, True, True]
    assert met(GOOD, {**ENDS, "sdk": [""]}, {"ttft_s": 0.5}) == [True, True, False, True, True]
    assert met(GOOD, {**ENDS, "classic-xml": ["", "timeout"]}, {"ttft_s": 0.5}) == [True, True, True, False, True]
    assert met(GOOD, ENDS, {"ttft_s": 1.0}) == [True, True, True, True, False]


def test_nothing_to_take_a_figure_from_meets_no_expectation() -> None:
    assert met({"errors.timeout": 2.0, "ttft_s": None}, {}, {"ttft_s": None}) == [True, False, False, False, False]
    assert met(GOOD, ENDS, {"ttft_s": 0.0})[-1] is False


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_bounds(low: float, high: float, value: float) -> None:
    low, high = min(low, high), max(low, high)
    assert Bounds(min=low, max=high).hold(value) == (low <= value <= high)
    assert Bounds.model_validate(low).hold(low)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "must be a mapping"),
        ("one: {what: a, scenario: b}", "nothing is expected"),
        ("one: {what: a, scenario: b, expect: {ttft: 1}}", "did you mean `ttft_s`"),
        ("one: {what: a, scenario: b, expect: {ttft_s: {min: 2, max: 1}}}", "min \\(2\\) is above max"),
        ("one: {what: a, scenario: b, expect: {ttft_s: {}}}", "give a number"),
        ("one: {what: a, scenario: b, ratio: {ttft_s: 1}}", "`beside` and `ratio` go together"),
        ("one: {what: a, scenario: b, expects: {ttft_s: 1}}", "expects: Extra inputs"),
        ("one: {what: a}\none: {what: b}", "given twice"),
    ],
)
def test_a_wrong_file_is_told_where_it_is_wrong(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        parse(text, "expected.yaml")
    assert "expected.yaml" in str(error.value)


def test_every_shipped_case_names_files_that_are_there_and_every_file_has_a_case() -> None:
    cases = parse((FOLDER / "expected.yaml").read_text(), "expected.yaml")
    named = {name for case in cases.values() for name in (case.scenario, case.faults, case.engine) if name}
    assert named == {path.name for path in FOLDER.glob("*.yaml")} - {"expected.yaml"}
    assert all(case.reported for case in cases.values())
