"""What tokens cost, on a GPU and at an API."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from fixtures_fold import failure, reply, run_of, session
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.cost import Owned, Tokens, against, bill, break_even, delivered, own_cost, saving
from simulator.core.price_file import ApiPrice
from simulator.core.summary import summarise

READ = {"read": "2026-10", "source": "list"}
FLAT = ApiPrice(input_usd_mtok=0.1, output_usd_mtok=0.5, **READ)
CACHED = ApiPrice(input_usd_mtok=0.1, cached_usd_mtok=0.01, output_usd_mtok=0.5, **READ)
amount = st.floats(1e-3, 1e12)


def test_the_66_percent_reading() -> None:
    """11,840 tok/s at 7.25 $/h against 0.50 $ a million output tokens: 66 % at 100 %, nothing left at 34 %."""
    tokens = Tokens(1.0, 11_840, 0, 0)
    own, found = own_cost(tokens, 7.25), against(tokens, 7.25, "api", FLAT, 0.34)
    assert own.usd_per_mtok_output == pytest.approx(7.25 / (11_840 * 3_600 / 1e6)) == pytest.approx(0.170, abs=5e-4)
    assert found.saving == pytest.approx(0.66, abs=0.005) and found.saving_at == pytest.approx(0, abs=0.01)
    assert found.break_even == pytest.approx(0.34, abs=0.001)


def test_what_each_unit_costs() -> None:
    own = own_cost(Tokens(1_800, 2e6, 8e6, 6e6, requests=500, sessions=4, solved=2), 8.0)
    assert (own.usd, own.usd_per_mtok_output, own.usd_per_mtok_blended) == (4.0, 2.0, pytest.approx(0.4))
    assert (own.usd_per_1000_requests, own.usd_per_session, own.usd_per_solved) == (8.0, 1.0, 2.0)


def test_what_cannot_be_divided_by_has_no_cost() -> None:
    own = own_cost(Tokens(10, 100, 0, 0, requests=1, sessions=0, solved=None), 8.0)
    assert own.usd_per_session is None and own.usd_per_solved is None
    assert saving(1.0, 0.0) is None and break_even(1.0, 0.0) is None


def test_cached_input_has_its_own_price_where_there_is_one() -> None:
    tokens = Tokens(1.0, 1e6, 10e6, 9e6)
    told, flat = bill(tokens, CACHED), bill(tokens, FLAT)
    assert (told.input_usd, told.cached_usd, told.output_usd) == (pytest.approx(0.1), pytest.approx(0.09), 0.5)
    assert (flat.input_usd, flat.cached_usd) == (pytest.approx(0.1), pytest.approx(0.9))
    assert flat.cached_as_input and not told.cached_as_input
    assert told.blended_usd_mtok == pytest.approx(0.69 / 11)
    unknown = bill(Tokens(1.0, 1e6, 10e6, None), CACHED)
    assert unknown.usd == pytest.approx(1.5) and unknown.cached_as_input


def test_input_may_turn_a_loss_into_a_gain() -> None:
    found = against(Tokens(3_600, 5e6, 700e6, 650e6), 4.45, "api", FLAT, 1.0)
    assert found.output_saving is not None and found.output_saving < 0 and (found.output_break_even or 0) > 1
    assert found.saving is not None and found.saving > 0.9
    assert found.bill.shares()["output"] < 0.05  # type: ignore[operator]


def test_owned() -> None:
    gpu = Owned(price_usd=35_064, years=4, watts=1_000, kwh_usd=0.1, pue=1.5)
    assert (gpu.amortised_usd_h, gpu.electricity_usd_h) == (pytest.approx(1.0), pytest.approx(0.15))
    assert gpu.usd_h == pytest.approx(1.15)


@given(amount, amount, st.floats(0.01, 1.0))
def test_the_saving_is_nothing_at_break_even_and_falls_with_utilisation(own: float, api: float, used: float) -> None:
    even, whole, at = break_even(own, api), saving(own, api), saving(own, api, used)
    assert even is not None and whole is not None and at is not None
    assert at <= whole + 1e-9 * abs(at)
    assert math.isclose(even, 1 - whole, rel_tol=1e-6, abs_tol=1e-9)
    exactly = saving(own, api, even)
    assert exactly is not None and abs(exactly) < 1e-9


@given(amount, amount, st.floats(0, 1))
def test_bills_add_up_and_caching_never_costs_more(output: float, asked: float, share: float) -> None:
    tokens = Tokens(1.0, output, asked, asked * share)
    found, shares = bill(tokens, CACHED), bill(tokens, CACHED).shares()
    assert found.usd <= bill(tokens, FLAT).usd * (1 + 1e-9)
    assert sum(part or 0.0 for part in shares.values()) == pytest.approx(1)


CHUNKS = [(100, 1), (100, 9)]


def test_delivered_is_of_the_window_and_failures_cost_nothing() -> None:
    run = run_of(
        *[reply(1 + i, CHUNKS, prompt_tok=1_000, cached_tok=900, session=f"s{i}") for i in range(4)],
        failure(2.0), sessions=(session("s0", 0, 3, verified=True),), windows={"agent": (0.0, 10.0)},
    )  # fmt: skip
    part = summarise(run)["agent"]
    found = delivered(part)
    assert found == Tokens(10.0, 40.0, 4_000.0, pytest.approx(3_600), 4, 1, None)
    live = delivered(summarise(replace(run, mode="live"))["agent"], live=True)
    assert live is not None and live.solved == 1


def test_nothing_delivered_is_nothing_to_price() -> None:
    assert delivered(None) is None
    assert delivered(summarise(run_of(failure(1.0), failure(2.0)))["agent"]) is None


def test_a_server_that_does_not_tell_what_was_cached() -> None:
    found = delivered(summarise(run_of(reply(1.0, CHUNKS), reply(2.0, CHUNKS)))["agent"])
    assert found is not None and found.cached_tok is None and found.uncached_tok == found.input_tok == 200
