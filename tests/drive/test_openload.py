"""Sessions that arrive by a clock, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import accumulate, pairwise

import pytest
from misbehaving import Script, serving
from test_load import Lines, plan

from simulator.core.plan import SessionPlan
from simulator.drive.clock import RunClock
from simulator.drive.endpoint import Endpoint
from simulator.drive.load import LoadResult
from simulator.drive.meter import Meter
from simulator.drive.openload import OpenLoad, OpenShape
from simulator.drive.sender import Sender
from simulator.drive.session import Stage
from simulator.drive.synthetic import Synthetic, SyntheticShape
from simulator.drive.tools import RecordedTools

#: run time that due times count from
LEAD_S = 0.3


class Arrivals:
    """One session an arrival, all planned."""

    def __init__(self, plans: Sequence[SessionPlan]) -> None:
        self.plans, self.ready = plans, asyncio.Event()
        self.ready.set()

    def nth(self, slot: int, n: int) -> str | None:
        return self.plans[slot].session if n == 0 and slot < len(self.plans) else None

    def load(self, session: str) -> SessionPlan:
        return next(p for p in self.plans if p.session == session)


async def drive(
    due_s: Sequence[float], *, places: int = 8, window_s: float | None = None, ramp_s: float = 0.0, turns: int = 2,
    word: str = "ok", tokens: int = 4, limit_s: float = 60.0, interrupt_after_s: float | None = None,
    work: Arrivals | None = None,
) -> tuple[Lines, LoadResult, float]:  # fmt: skip
    """(lines, result, run time from which the arrivals count)."""
    lines, clock, interrupt = Lines(), RunClock(), asyncio.Event()
    meter, origin = Meter(clock.now), []
    plans = [plan(f"s{n:04d}", turns) for n in range(len(due_s))]
    async with serving(Script(lambda s, n: word, tokens=tokens)) as url:
        endpoint = Endpoint(url, "key", clock.now)
        sender = Sender(endpoint, lines, meter, clock.now, "run", len)
        stage = Stage(sender, RecordedTools(), lines, meter, clock.now, clock.at, asyncio.Event(), False, True)
        shape = OpenShape(tuple(enumerate(due_s)), due_s[0], range(places), window_s, ramp_s, limit_s, LEAD_S)
        if interrupt_after_s is not None:
            asyncio.get_running_loop().call_later(interrupt_after_s, interrupt.set)
        result = await OpenLoad(stage, shape, work or Arrivals(plans), interrupt, origin.append).run()
        await endpoint.close()
    return lines, result, origin[0] if origin else -1.0


async def test_sessions_arrive_when_they_are_due_and_their_first_request_is_due_then() -> None:
    due_s = [0.0, 0.1, 0.1, 0.5]
    lines, result, t0 = await drive(due_s)
    sessions = sorted(lines.sessions, key=lambda s: s.session)
    assert [s.t_due_s for s in sessions] == [pytest.approx(t0 + t) for t in due_s]
    assert all(s.outcome == "completed" and s.t_ready_s >= s.t_due_s for s in sessions if s.t_due_s is not None)
    for session in sessions:
        first, second = sorted((r for r in lines.requests if r.session == session.session), key=lambda r: r.turn)
        assert first.t_due_s == session.t_due_s and first.t_call_s >= first.t_due_s
        assert second.t_due_s >= (first.t_last_s or 0.0), "later turns are due when the work before them is done"
    assert result.window is None and result.sessions == 4 and result.stopped == ""


async def test_a_late_start_shifts_no_later_one() -> None:
    due_s = [0.0, 0.0, 0.0, 0.4]
    lines, _, t0 = await drive(due_s, places=1, word="slow", tokens=6, turns=1)
    sessions = sorted(lines.sessions, key=lambda s: s.session)
    starts = [s.t_start_s - t0 for s in sessions]
    assert starts == sorted(starts), "in order of arrival"
    assert sessions[2].t_ready_s - t0 > sessions[0].t_end_s - t0, "it waited for the only place"
    assert [s.t_due_s for s in sessions] == [pytest.approx(t0 + t) for t in due_s], "and all are due as planned"
    busy = sorted((s.t_ready_s, s.t_end_s) for s in sessions)
    assert all(one[1] <= next_[0] for one, next_ in pairwise(busy)), "one at a time"
    assert {s.slot for s in sessions} == {0}


async def test_the_window_opens_after_the_ramp_and_lasts_its_time() -> None:
    lines, result, t0 = await drive([0.1 * n for n in range(12)], window_s=0.6, ramp_s=0.5)
    assert result.window is not None
    assert result.window[0] == pytest.approx(t0 + 0.5) and result.window[1] == pytest.approx(t0 + 1.1, abs=0.3)
    assert lines.windows["agent"] == result.window
    assert max(r.t_call_s for r in lines.requests) < result.window[1] + 0.2, "nothing starts after the window"


async def test_a_window_lasts_also_when_its_last_session_ends_early() -> None:
    _, result, t0 = await drive([0.0], window_s=1.0)
    assert result.window is not None and result.window[1] >= t0 + 0.99 and not result.ran_dry


async def test_arrivals_that_never_found_a_place_are_not_started_after_the_window() -> None:
    lines, result, _ = await drive([0.0] * 6, places=1, word="slow", tokens=12, turns=1, window_s=0.5)
    assert 1 <= len(lines.sessions) < 6 and result.sessions == len(lines.sessions) and result.stopped == ""


async def test_an_interrupt_and_the_limit_end_it() -> None:
    _, result, _ = await drive([0.0, 30.0], interrupt_after_s=LEAD_S + 0.3)
    assert result.stopped == "interrupted"
    _, result, _ = await drive([0.0, 30.0], limit_s=LEAD_S + 0.5)
    assert result.stopped == "time limit"


@pytest.mark.parametrize("cap", [None, 2])
async def test_synthetic_requests_leave_when_they_are_due_or_wait_for_a_place(cap: int | None) -> None:
    lines, clock = Lines(), RunClock()
    meter = Meter(clock.now)
    due_s = (0.0, 0.0, 0.0, 0.0, 0.5)
    shape = SyntheticShape(4, 1, cap, 5, 0, 1, "m", 1300, 2000, 60.0, due_s=due_s)
    async with serving(Script(lambda s, n: "slow", tokens=2)) as url:
        endpoint = Endpoint(url, "k", clock.now)
        sender = Sender(endpoint, lines, meter, clock.now, "run", len)
        result = await Synthetic(sender, lines, meter, clock.now, shape, asyncio.Event()).run()
        await endpoint.close()
    assert result.window is not None and result.stopped == ""
    records = sorted(lines.requests, key=lambda r: int(r.session.removeprefix("syn")))
    assert [r.t_due_s - result.window[0] for r in records] == pytest.approx(list(due_s))
    assert all(r.t_call_s >= r.t_due_s for r in records)
    edges = sorted([(r.t_call_s, 1) for r in records] + [(r.t_end_s, -1) for r in records])
    assert max(accumulate(step for _, step in edges)) == (4 if cap is None else cap)


async def test_a_plan_that_cannot_be_read_is_told() -> None:
    class Broken(Arrivals):
        def load(self, session: str) -> SessionPlan:
            raise OSError(f"{session} is torn")

    with pytest.raises(OSError, match="s0001 is torn"):
        await drive([0.0], work=Broken([plan("s0001")]), window_s=5.0)
