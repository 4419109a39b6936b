"""An engine's speed in a cell of the map: a closed loop of one shape, in virtual time."""

from __future__ import annotations

import pytest

from simulator.core.grid import Shape
from simulator.engine.embedded.config import find_settings, load_params
from simulator.virtual.grid import _prompt, longest, speed, turns

BASELINE, TOP = (load_params(find_settings(each, "")) for each in ("baseline", "top"))


@pytest.mark.parametrize("cached", [0.5, 0.8, 0.93, 0.97])
def test_a_perfect_cache_would_find_the_share_that_was_asked_for(cached: float) -> None:
    shape = Shape(100, cached, 20_000)
    prompts = [_prompt(shape, n) for n in range(turns(shape))]
    assert prompts == sorted(prompts) and prompts[-1] == longest(shape)
    assert sum(prompts) / len(prompts) == pytest.approx(20_000, rel=0.01)
    assert 1 - prompts[-1] / sum(prompts) == pytest.approx(cached, abs=0.03)
    assert turns(Shape(100, 0.0, 20_000)) == 1


def test_what_real_engines_gave_comes_out() -> None:
    """512/512 at 256 on one H200: 8,976 tok/s; agents of 44,145/340, 93 % cached, 21.8 open: 1,192."""
    assert speed(BASELINE, Shape(512, 0.0, 512), 256) == pytest.approx(8_976, rel=0.1)
    assert speed(BASELINE, Shape(340, 0.933, 44_145), 22) == pytest.approx(1_192, rel=0.15)


def test_orders_that_any_engine_has() -> None:
    alone, many = (speed(TOP, Shape(128, 0.0, 2_048), n) or 0 for n in (1, 16))
    assert alone < many < 16 * alone
    new, known = (speed(BASELINE, Shape(128, share, 16_384), 8) or 0 for share in (0.0, 0.93))
    assert known > 1.5 * new
    assert (speed(TOP, Shape(128, 0.0, 512), 4) or 0) > (speed(BASELINE, Shape(128, 0.0, 512), 4) or 0)


def test_the_same_twice_and_nothing_for_what_does_not_fit() -> None:
    shape = Shape(64, 0.9, 8_192)
    assert speed(TOP, shape, 5) == speed(TOP, shape, 5)
    assert speed(TOP, Shape(64, 0.0, TOP.max_model_len), 1) is None
    assert speed(TOP, Shape(64, 0.9, TOP.max_model_len * 3 // 4), 1) is None


def test_short_replies_are_measured_long_enough_to_tell_who_leads() -> None:
    """Two rounds of 512/16 named the wrong one at every other column; over 3,000 requests the baseline leads in all."""
    for at_once in (5, 8, 10, 12, 16):
        a, b = (speed(each, Shape(16, 0.0, 512), at_once) or 0 for each in (TOP, BASELINE))
        assert 1.0 < b / a < 1.4, at_once
