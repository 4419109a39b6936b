"""Sessions, load and synthetic traffic over real sockets, against a server that misbehaves on command."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from misbehaving import Script, serving

from simulator.core.action import ListFiles, ReadFile
from simulator.core.plan import PlannedCall, SessionPlan, Turn
from simulator.core.record import EngineSample, Pulse, Request, Session, ToolRun
from simulator.core.task import Check
from simulator.drive.clock import RunClock
from simulator.drive.endpoint import Endpoint
from simulator.drive.load import Load, LoadResult, LoadShape
from simulator.drive.meter import Meter
from simulator.drive.sender import Sender
from simulator.drive.session import PARTS, Stage
from simulator.drive.synthetic import Synthetic, SyntheticShape
from simulator.drive.tools import RecordedTools


@dataclass
class Lines:
    """A recorder that keeps everything in lists."""

    requests: list[Request] = field(default_factory=list)
    tools: list[ToolRun] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    windows: dict[str, tuple[float, float]] = field(default_factory=dict)
    chunks: list[tuple[Sequence[int], Sequence[int]]] = field(default_factory=list)

    def request(self, record: Request, deltas_us: Sequence[int], tokens: Sequence[int]) -> None:
        self.requests.append(record)
        self.chunks.append((deltas_us, tokens))

    def tool(self, record: ToolRun) -> None:
        self.tools.append(record)

    def session(self, record: Session) -> None:
        self.sessions.append(record)

    def engine(self, sample: EngineSample) -> None: ...
    def pulse(self, pulse: Pulse) -> None: ...
    def diff(self, session: str, patch: str) -> None: ...
    def said(self, session: str, line: bytes) -> None: ...
    def flush(self) -> None: ...

    def window(self, kind: str, start_s: float, end_s: float) -> None:
        self.windows[kind] = (start_s, end_s)


def plan(session: str, turns: int = 3, *, profile: str = "classic-xml", start: int = 0, think_s: float = 0.0,
         pace_s: float = 0.0) -> SessionPlan:  # fmt: skip
    pool = tuple(b'{"role":"user","content":"%d"}' % i for i in range(2 * turns + 1))
    return SessionPlan(
        session=session,
        task_template="t",
        task_kind="coding",
        task_size="medium",
        task_seed=1,
        task_name="n",
        profile=profile,
        cwd="/home/dev/n",
        heads=(b'{"model":"%s","messages":[' % session.encode(),),
        pool=pool,
        tail=b'],"stream":true',
        turns=tuple(
            Turn(i, "agent", tuple(range(2 * i + 1)), "", 0, 100 + i, 4, think_s,
                 (PlannedCall(ReadFile("a"), "a", pace_s), PlannedCall(ListFiles(), "b", pace_s)))
            for i in range(turns)
        ),
        check=Check("", ""),
        start_turn=start,
    )  # fmt: skip


class Queues:
    """Plans by slot, all of them made."""

    def __init__(self, queues: Sequence[Sequence[SessionPlan]]) -> None:
        self.queues, self.ready = queues, asyncio.Event()

    def nth(self, slot: int, n: int) -> str | None:
        return self.queues[slot][n].session if n < (len(self.queues[slot]) if self.ready.is_set() else 1) else None

    def load(self, session: str) -> SessionPlan:
        return next(p for queue in self.queues for p in queue if p.session == session)


async def drive(
    script: Script, queues: Sequence[Sequence[SessionPlan]], *, paced: bool = False, window_s: float | None = None,
    interrupt_after_s: float | None = None, limit_s: float = 60.0, timeout_s: float = 20.0,
    planned_after_s: float = 0.0, drain_s: float = 60.0,
) -> tuple[Lines, LoadResult]:  # fmt: skip
    lines, clock, interrupt = Lines(), RunClock(), asyncio.Event()
    meter = Meter(clock.now)
    work = Queues(queues)
    asyncio.get_running_loop().call_later(planned_after_s, work.ready.set)
    async with serving(script) as url:
        endpoint = Endpoint(url, "key", clock.now, timeout_s=timeout_s)
        stage = Stage(
            sender=Sender(endpoint, lines, meter, clock.now, "run", len),
            tools=RecordedTools(),
            recorder=lines,
            meter=meter,
            now=clock.now,
            at=clock.at,
            stopping=asyncio.Event(),
            paced=paced,
            forced=True,
        )
        shape = LoadShape(len(queues), window_s, 0.0, limit_s, drain_s=drain_s)
        if interrupt_after_s is not None:
            asyncio.get_running_loop().call_later(interrupt_after_s, interrupt.set)
        result = await Load(stage, shape, work, interrupt).run()
        await endpoint.close()
    return lines, result


async def test_a_session_sends_its_plan_byte_for_byte_and_its_wall_adds_up() -> None:
    script, one = Script(lambda s, n: "ok"), plan("s0000", turns=4, start=1, think_s=0.02, pace_s=0.03)
    lines, result = await drive(script, [[one]], paced=True)
    assert script.seen["s0000"] == [one.body(t, forced=True) for t in one.turns[1:]]
    assert [r.turn for r in lines.requests] == [1, 2, 3]
    assert all(r.outcome == "ok" and r.output_tok == 4 and r.cached_tok == 50 for r in lines.requests)
    (session,) = lines.sessions
    assert session.outcome == "completed" and session.verified is True and session.tool_calls == 6
    parts = sum(getattr(session, f"{part}_s") for part in PARTS)
    assert parts == pytest.approx(session.t_end_s - session.t_ready_s, rel=1e-6)
    assert session.think_s >= 2 * 0.02 and session.tool_pace_s >= 6 * 0.02
    assert result.window is None and not lines.windows, "sessions played once have no steady window"
    assert result.unverified == 0


async def test_clock_points_are_in_order_and_chunks_add_up() -> None:
    lines, _ = await drive(Script(lambda s, n: "ok", tokens=6), [[plan("s0000")], [plan("s0001")]])
    for record, (deltas, tokens) in zip(lines.requests, lines.chunks, strict=True):
        assert record.t_sent_s is not None and record.t_first_s is not None and record.t_last_s is not None
        points = [record.t_due_s, record.t_call_s, record.t_sent_s, record.t_first_s, record.t_last_s, record.t_end_s]
        assert points == sorted(points)
        assert sum(tokens) == record.output_tok == 6
        assert record.t_sent_s + sum(deltas) / 1e6 == pytest.approx(record.t_last_s, abs=2e-6)


@pytest.mark.parametrize(
    ("word", "profile", "error", "sends", "outcome"),
    [
        ("401", "classic-xml", "auth", 1, "failed"),
        ("cut", "sdk", "cut", 1, "failed"),
        ("400", "sdk", "bad_request", 1, "failed"),
        ("garbage", "sdk", "malformed", 1, "failed"),
        ("empty", "sdk", "empty", 3, "failed"),
        ("reset", "sdk", "cut", 1, "failed"),
        ("hang", "sdk", "timeout", 1, "failed"),
    ],
)
async def test_a_failure_keeps_its_kind_and_disturbs_nobody(
    word: str, profile: str, error: str, sends: int, outcome: str
) -> None:
    script = Script(lambda s, n: word if s == "s0000" else "ok")
    queues = [[plan("s0000", profile=profile)], [plan("s0001")], [plan("s0002", profile="sdk")]]
    lines, _ = await drive(script, queues, timeout_s=0.5)
    bad = [r for r in lines.requests if r.session == "s0000"]
    assert [r.error for r in bad] == [error] * sends and [r.retry for r in bad] == list(range(sends))
    assert all(r.outcome == "failed" and r.detail and "abcdef123456" not in r.detail for r in bad)
    sessions = {s.session: s for s in lines.sessions}
    assert sessions["s0000"].outcome == outcome and sessions["s0000"].error.startswith(error)
    assert all(sessions[s].outcome == "completed" for s in ("s0001", "s0002"))
    assert sum(r.outcome == "ok" for r in lines.requests) == 6


async def test_a_passing_fault_is_retried_as_the_profile_does() -> None:
    lines, _ = await drive(Script(lambda s, n: "429" if n == 1 else "ok"), [[plan("s0000")]])
    assert [(r.turn, r.retry, r.error) for r in lines.requests] == [
        (0, 0, ""), (1, 0, "rate_limited"), (1, 1, ""), (2, 0, "")
    ]  # fmt: skip
    (session,) = lines.sessions
    assert session.outcome == "completed" and session.backoff_s > 0.3


async def test_a_key_that_a_server_repeats_reaches_no_record() -> None:
    lines, clock, key = Lines(), RunClock(), "plainsecret123456"
    async with serving(Script(lambda s, n: "echo")) as url:
        endpoint = Endpoint(url, key, clock.now)
        sender = Sender(endpoint, lines, Meter(clock.now), clock.now, "run", len, secret=key)
        shape = SyntheticShape(4, 1, 1, 1, 0, 1, "m", 1300, 2000, 60.0)
        await Synthetic(sender, lines, Meter(clock.now), clock.now, shape, asyncio.Event()).run()
        await endpoint.close()
    (record,) = lines.requests
    assert record.error == "auth" and "***" in record.detail and key not in record.detail


async def test_a_plan_that_cannot_be_read_is_told_and_not_lost() -> None:
    class Broken(Queues):
        def load(self, session: str) -> SessionPlan:
            raise OSError(f"{session} is torn")

    clock, lines = RunClock(), Lines()
    meter, work = Meter(clock.now), Broken([[plan("s0000")]])
    work.ready.set()
    endpoint = Endpoint("http://127.0.0.1:9/v1", "k", clock.now)
    sender = Sender(endpoint, lines, meter, clock.now, "run", len)
    stage = Stage(sender, RecordedTools(), lines, meter, clock.now, clock.at, asyncio.Event(), False, True)
    with pytest.raises(OSError, match="s0000 is torn"):
        await Load(stage, LoadShape(1, None, 0.0, 10.0), work, asyncio.Event()).run()
    await endpoint.close()


async def test_refused_is_told_from_cut() -> None:
    clock, lines = RunClock(), Lines()
    endpoint = Endpoint("http://127.0.0.1:9/v1", "k", clock.now)
    exchange = await endpoint.post("/chat/completions", b"{}")
    await endpoint.close()
    assert (exchange.failure, exchange.status) == ("refused", 0) and not lines.requests


async def test_the_window_opens_at_the_last_slot_s_first_output_and_slots_refill() -> None:
    queues = [[plan(f"s{slot}{k:03d}", turns=40) for k in range(20)] for slot in range(3)]
    script = Script(lambda s, n: "slow" if s == "s1000" and n == 0 else "ok")
    lines, result = await drive(script, queues, window_s=1.0)
    assert result.window is not None
    start, end = result.window
    slow = min((r for r in lines.requests if r.session == "s1000"), key=lambda r: r.t_first_s or 9e9)
    assert slow.t_first_s is not None and slow.t_first_s <= start < slow.t_end_s, "a long first reply holds nobody up"
    assert end - start == pytest.approx(1.0, abs=0.3)
    assert all(r.t_call_s <= end + 0.2 for r in lines.requests), "a request started after the window"
    assert {s.outcome for s in lines.sessions} <= {"completed", "stopped"}
    assert all(r.outcome == "ok" for r in lines.requests), "the drain lets what is in flight finish"


async def test_what_outlasts_the_drain_is_cancelled_and_kept() -> None:
    script = Script(lambda s, n: "slow", tokens=600)
    lines, result = await drive(script, [[plan("s0000")]], window_s=0.3, drain_s=0.2)
    assert result.window is not None and result.stopped == ""
    (only,) = lines.requests
    assert only.error == "cancelled" and only.chunks and only.t_end_s < result.window[1] + 10


async def test_slots_wait_for_plans_that_are_still_made_and_so_does_the_window() -> None:
    queues = [[plan("s0000"), plan("s0002")], [plan("s0001"), plan("s0003")]]
    lines, result = await drive(Script(lambda s, n: "ok"), queues, window_s=1.0, planned_after_s=0.7)
    assert result.window is not None and result.window[0] >= 0.69
    assert len(lines.sessions) == 4 and {s.outcome for s in lines.sessions} == {"completed"}


async def test_a_slot_without_work_is_counted() -> None:
    _, result = await drive(Script(lambda s, n: "ok"), [[plan("s0000")], [plan("s0001")]], window_s=0.8)
    assert result.ran_dry == 2


async def test_an_interrupt_stops_at_once_and_keeps_what_was_received() -> None:
    script = Script(lambda s, n: "slow", tokens=200)
    lines, result = await drive(script, [[plan("s0000")], [plan("s0001")]], interrupt_after_s=0.6)
    assert result.stopped == "interrupted"
    assert [r.error for r in lines.requests] == ["cancelled"] * 2
    assert all(r.chunks and r.output_tok for r in lines.requests)
    assert [s.outcome for s in lines.sessions] == ["stopped"] * 2


async def test_an_interrupt_before_the_first_answers_leaves_nothing_to_complain_about() -> None:
    complaints: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(str(context["message"])))
    _, result = await drive(Script(lambda s, n: "hang"), [[plan("s0000")], [plan("s0001")]], interrupt_after_s=0.3)
    gc.collect()
    assert result.stopped == "interrupted" and complaints == []


async def test_the_time_limit_ends_a_run() -> None:
    script = Script(lambda s, n: "slow", tokens=20)
    _, result = await drive(script, [[plan("s0000", turns=50)]], window_s=30, limit_s=1.5)
    assert result.stopped == "time limit"


async def test_synthetic_traffic_keeps_its_concurrency_and_forces_its_length() -> None:
    script, lines, clock = Script(lambda s, n: "ok"), Lines(), RunClock()
    meter = Meter(clock.now)
    shape = SyntheticShape(16, 4, 5, 23, 3, 1, "m", 1300, 2000, 60.0)
    async with serving(script) as url:
        endpoint = Endpoint(url, "k", clock.now)
        sender = Sender(endpoint, lines, meter, clock.now, "run", len)
        resets = []

        async def reset() -> None:
            resets.append(len(lines.requests))

        result = await Synthetic(sender, lines, meter, clock.now, shape, asyncio.Event()).run(reset)
        await endpoint.close()
    assert (sender.answered, sender.failed) == (23, 0), "warm-ups say nothing about a run"
    assert resets == [3], "caches are dropped between warm-up and measurement"
    counted = [r for r in lines.requests if r.purpose != "warmup"]
    assert len(counted) == 23 and len({r.session for r in counted}) == 23
    edges = sorted([(r.t_call_s, 1) for r in counted] + [(r.t_end_s, -1) for r in counted])
    in_flight = most = 0
    for _, step in edges:
        in_flight += step
        most = max(most, in_flight)
    assert most == 5
    assert result.window == lines.windows["synthetic"]
    bodies = script.seen["m"]
    assert len(set(bodies)) == 26 and all(b'"max_tokens":4' in b and b'"ignore_eos":true' in b for b in bodies)
    assert all(b'"stream_options":{"include_usage":true}}' in b for b in bodies), "no more than others ask for"


def test_equal_seeds_make_equal_synthetic_bodies() -> None:
    def bodies(seed: int) -> list[bytes]:
        shape = SyntheticShape(16, 4, 5, 4, 0, seed, "m", 1300, 2000, 60.0)
        clock = RunClock()
        traffic = Synthetic(None, None, Meter(clock.now), clock.now, shape, asyncio.Event())  # type: ignore[arg-type]
        return [traffic.body(n) for n in range(4)]

    assert bodies(1) == bodies(1) != bodies(2)


async def test_a_cap_on_request_starts_spreads_a_burst() -> None:
    async with serving(Script(lambda s, n: "ok", tokens=1)) as url:
        lines, clock = Lines(), RunClock()
        meter = Meter(clock.now)
        endpoint = Endpoint(url, "k", clock.now)
        sender = Sender(endpoint, lines, meter, clock.now, "run", len, starts_per_s=20.0)
        shape = SyntheticShape(4, 1, 12, 12, 0, 1, "m", 1300, 2000, 60.0)
        await Synthetic(sender, lines, meter, clock.now, shape, asyncio.Event()).run()
        await endpoint.close()
    calls = sorted(r.t_call_s for r in lines.requests)
    assert calls[-1] - calls[0] >= 11 * 0.04, "twelve starts at twenty a second take more than half a second"
