"""Two engines' replies side by side: where they part, how many are equal, and Kaplan and Meier's estimate by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.agreement import Answer, agreement, beside, survival
from simulator.core.proportion import wilson

CALL = ("read_file", '{"path":"a"}')


def said(*tokens: int, calls: tuple[tuple[str, str], ...] = (), error: str = "") -> Answer:
    return Answer(tokens, calls, error)


@pytest.mark.parametrize(
    ("a", "b", "first", "tok"),
    [
        (said(1, 2, 3), said(1, 2, 3), None, 3),
        (said(1, 2, 3), said(1, 9, 3), 1, 3),
        (said(1, 2, 3), said(1, 2), 2, 2),
        (said(), said(4), 0, 0),
        (said(), said(), None, 0),
    ],
)
def test_first_divergence(a: Answer, b: Answer, first: int | None, tok: int) -> None:
    assert (beside(a, b).first, beside(a, b).tok) == (first, tok) == (beside(b, a).first, beside(b, a).tok)


def test_shares_are_of_what_was_answered_and_of_what_made_calls() -> None:
    other = ("read_file", '{"path":"b"}')
    found = agreement(
        [
            (said(1, calls=(CALL,)), said(1, calls=(CALL,))),
            (said(1, calls=(CALL,)), said(2, calls=(other,))),
            (said(1, calls=(CALL,)), said(2)),
            (said(1), said(1)),
            (said(1), said(error="HTTP 500: no")),
        ]
    )
    assert (found["prompts"], found["failed"]) == (5, 1)
    low, high = wilson(2, 4) or (0, 0)
    assert found["replies"] == {"good": 2, "of": 4, "share": 0.5, "low": low, "high": high}
    assert (found["calls"]["good"], found["calls"]["of"]) == (1, 3)
    assert (found["call_names"]["good"], found["call_names"]["of"]) == (2, 3)


def test_nothing_answered_is_nothing_known() -> None:
    found = agreement([(said(error="x"), said(1))])
    assert found["replies"]["share"] is found["replies"]["low"] is found["divergence"]["p50"] is None
    assert found["divergence"] == {"diverged": 0, "tok": 0, "p10": None, "p25": None, "p50": None, "table": []}


def test_kaplan_and_meier_by_hand() -> None:
    """Six replies: two part after 1 token, one after 3; equal ones end after 2, 4 and 4 tokens."""
    same = [said(*range(n)) for n in (2, 4, 4)]
    pairs = [(each, each) for each in same]
    pairs += [(said(0, 5, 6, 7), said(0, 9, 6, 7))] * 2 + [(said(0, 1, 2, 7), said(0, 1, 2, 8))]
    found = survival([beside(a, b) for a, b in pairs])
    assert (found["diverged"], found["tok"]) == (3, 2 + 4 + 4 + 1 + 1 + 3)
    rows = {row["tok"]: row for row in found["table"]}
    assert [row["at_risk"] for row in rows.values()] == [6, 6, 3]  # at the first, second and fourth token
    assert rows[1]["share"] == 1 and (rows[1]["low"], rows[1]["high"]) == wilson(6, 6)
    assert rows[2]["share"] == pytest.approx(4 / 6) and rows[4]["share"] == pytest.approx(4 / 6 * 2 / 3)
    greenwood = math.sqrt(2 / (6 * 4) + 1 / (3 * 2)) / abs(math.log(4 / 9))
    assert rows[4]["low"] == pytest.approx((4 / 9) ** math.exp(1.96 * greenwood), rel=1e-3)
    assert rows[4]["high"] == pytest.approx((4 / 9) ** math.exp(-1.96 * greenwood), rel=1e-3)
    assert (found["p10"], found["p25"], found["p50"]) == (2, 2, 4)


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=30))
def test_the_estimate_falls_and_holds_its_interval(ends: list[tuple[int, bool]]) -> None:
    pairs = [(said(*range(n)), said(*range(n), *([99] if parts else []))) for n, parts in ends]
    found = survival([beside(a, b) for a, b in pairs])
    shares = [row["share"] for row in found["table"]]
    assert shares == sorted(shares, reverse=True)
    for row in found["table"]:
        assert 0 <= row["low"] <= row["share"] + 1e-12 and row["share"] <= row["high"] + 1e-12 <= 1 + 1e-9
    if not any(parts for _, parts in ends):
        assert set(shares) <= {1.0}


def test_a_known_rate_is_found_although_replies_end_early() -> None:
    """Each token differs with the chance 1 %; replies of 1 to 80 tokens: the plain share would say more."""
    rng = np.random.default_rng(7)
    held = []
    for _ in range(200):
        pairs = []
        for length in rng.integers(1, 81, 200):
            first = int(rng.geometric(0.01)) - 1
            tokens = list(range(length))
            other = [*tokens[:first], 999, *tokens[first + 1 :]] if first < length else tokens
            pairs.append(beside(said(*tokens), said(*other)))
        row = next(row for row in survival(pairs)["table"] if row["tok"] == 64)
        held.append(row["low"] <= 0.99**64 <= row["high"])
    assert np.mean(held) > 0.90
