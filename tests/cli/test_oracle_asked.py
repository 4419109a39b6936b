"""`sim run --oracle RATES` where no oracle would answer, and rates that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.cli.run import Options, Virtual, with_options
from simulator.core.scenario import Scenario
from simulator.errors import UsageError

LIVE = {"name": "l", "sessions": 1, "refill": False, "mode": "live"}
REPLAY = {"name": "r", "sessions": 1, "refill": False}


@pytest.mark.parametrize(
    ("scenario", "rates", "more", "part"),
    [
        (REPLAY, "loop=0.1", {}, "give a scenario with `mode: live`"),
        (LIVE, "lop=0.1", {}, "did you mean loop?"),
        (LIVE, "loop=0.8,early_stop=0.8", {}, "add up to 1.6"),
        (LIVE, "loop=0.1", {"endpoint": "http://127.0.0.1:9"}, "not for http://127.0.0.1:9"),
        (LIVE | {"endpoint": {"url": "http://u:p@host"}}, "loop=0.1", {}, r"not for http://***@host"),
        (LIVE, "loop=0.1", {"engine": "top"}, "and top is vLLM"),
    ],
)
def test_rates_without_an_oracle_are_refused(
    scenario: dict[str, Any], rates: str, more: dict[str, Any], part: str
) -> None:
    with pytest.raises(UsageError) as told:
        with_options(Scenario.model_validate(scenario), Options(Path("s.yaml"), oracle=rates, **more))
    assert "--oracle" in str(told.value) and part in str(told.value)


def test_virtual_time_on_a_live_scenario_is_refused_with_what_to_leave_out() -> None:
    with pytest.raises(UsageError, match=r"give --set mode=replay, or leave --virtual out$"):
        with_options(Scenario.model_validate(LIVE), Options(Path("s.yaml"), virtual=Virtual(None, 1)))


def test_rates_of_a_live_scenario_are_taken() -> None:
    scenario = Scenario.model_validate(LIVE)
    assert with_options(scenario, Options(Path("s.yaml"), oracle="loop=0.1", engine="embedded")) == scenario
