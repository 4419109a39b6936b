"""An open loop in the report and on the last screen."""

from __future__ import annotations

import pytest
from fixtures_fold import reply, run_of, session

from simulator.core.run import RunData
from simulator.core.summary import summarise
from simulator.view.arrivals import arrival_lines, arrivals
from simulator.view.report_md import report

STREAM = [(100.0, 1), (20.0, 1)]


def opened(life_s: float) -> RunData:
    due = [float(i) for i in range(40)]
    replies = [reply(d + 0.5, STREAM, session=f"s{i:04d}", t_due_s=d) for i, d in enumerate(due)]
    lives = [session(f"s{i:04d}", d + 0.25, d + life_s, t_due_s=d) for i, d in enumerate(due)]
    plan = {"agent": {"kind": "constant", "places": 9, "due_s": due}}
    return run_of(*replies, sessions=tuple(lives), windows={"agent": (10.0, 40.0)}, arrivals=plan)


@pytest.mark.parametrize(("life_s", "state"), [(5.0, "steady"), (500.0, "no steady state yet")])
def test_arrivals_are_told_with_what_they_are_worth(life_s: float, state: str) -> None:
    summary = summarise(opened(life_s))
    (line,) = arrival_lines(summary)
    assert line == f"arrivals   agents: {state}; 1.00/s planned, 1.00/s achieved, 30 of 30 waited"
    text = report(summary, {})
    for row in (
        "| arrivals due | 30, constant |",
        "| late p50 / p95 | 500 ms / 500 ms |",
        "| places | 9 |",
        "| waited for a place | 30, mean wait 250 ms; 0 found none |",
        "| TTFT from due p50 / p95 | 600 ms / 600 ms |",
    ):
        assert row in text
    assert state in text


def test_a_closed_loop_has_no_such_section() -> None:
    summary = summarise(run_of(reply(1.0, STREAM), windows={"agent": (0.0, 10.0)}))
    assert arrivals(summary) == [] and arrival_lines(summary) == []
    assert "Arrivals" not in report(summary, {})
