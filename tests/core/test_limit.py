"""Where the limit is: one rule, tried on every place."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from fixtures_fold import pulse, reply, run_of, scrape
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.limit import CLIENT, ENGINE, FRONT_END, NONE, UNKNOWN, Signs, limit
from simulator.core.record import EngineSample
from simulator.core.summary import summarise

#: 32 agents of whom 12 are in the engine, which has room
WELL = Signs(client=(), in_flight=12.2, backlog=0.2, running=11.8, waiting=0.2, kv_use=0.4, preemptions=0.0)
LAGGING = ("event-loop lag p99 80 ms, limit 20 ms",)


@pytest.mark.parametrize(
    ("change", "where", "past", "told"),
    [
        ({}, NONE, [], "nothing queues"),
        ({"client": LAGGING}, CLIENT, [CLIENT], "80 ms"),
        ({"waiting": 9.0}, ENGINE, [ENGINE], "9.0 requests wait for the batch"),
        ({"waiting": 9.0, "kv_use": 0.97}, ENGINE, [ENGINE], "the KV cache is 97 % in use"),
        ({"kv_use": 0.97}, ENGINE, [ENGINE], "97 %"),
        ({"preemptions": 3.0}, ENGINE, [ENGINE], "3 requests were preempted"),
        ({"waiting": 0.9}, NONE, [], "0.9 wait"),  # a prompt that just came is no queue
        ({"backlog": 11.0, "running": 1.0}, FRONT_END, [FRONT_END], "11 of 12 open requests"),
        ({"backlog": 1.9}, NONE, [], "nothing queues"),
        ({"in_flight": 256.0, "backlog": 20.0, "running": 236.0}, NONE, [], "236 run"),
        # what waits for the scheduler has passed the front end
        ({"backlog": 11.0, "waiting": 30.0, "in_flight": 60.0}, ENGINE, [ENGINE], "30 requests wait"),
        ({"backlog": 31.0, "waiting": 30.0, "in_flight": 70.0}, FRONT_END, [FRONT_END, ENGINE], "31 of 70"),
        ({"outside_s": 0.4, "ttft_s": 0.6}, FRONT_END, [FRONT_END], "400 of 600 ms to the first token"),
        ({"outside_s": 0.4, "ttft_s": 0.6, "turn_s": 2.0}, FRONT_END, [FRONT_END], "400 of 600 ms"),
        # half of the first token, and one part in ten of the turn: told, and no limit
        ({"outside_s": 0.4, "ttft_s": 0.6, "turn_s": 5.0}, NONE, [], "400 of 600 ms"),
        ({"outside_s": 0.4, "ttft_s": 9.0}, NONE, [], "nothing queues"),
        ({"outside_s": 0.004, "ttft_s": 0.005}, NONE, [], "nothing queues"),
        # what is nearer to the client hides what is behind it
        ({"client": LAGGING, "waiting": 9.0}, CLIENT, [CLIENT, ENGINE], "80 ms"),
        ({"client": LAGGING, "running": None, "waiting": None}, CLIENT, [CLIENT], "80 ms"),
        ({"client": None}, UNKNOWN, [], "health was not recorded"),
        ({"client": None, "waiting": 9.0}, UNKNOWN, [ENGINE], "health was not recorded"),
        ({"running": None, "waiting": None}, UNKNOWN, [], "/metrics"),
        ({"backlog": -0.8}, NONE, [], "nothing queues"),
    ],
)
def test_where(change: dict[str, object], where: str, past: list[str], told: str) -> None:
    found = limit(replace(WELL, **change))  # type: ignore[arg-type]
    assert (found["where"], found["past"]) == (where, past)
    assert told in " ".join(found["reasons"])
    assert list(found["by_place"]) == past and all(all(reasons) and reasons for reasons in found["by_place"].values())


def test_the_reasons_start_with_the_place() -> None:
    found = limit(replace(WELL, client=LAGGING, waiting=9.0, backlog=12.0))
    assert found["past"] == [CLIENT, FRONT_END, ENGINE] and found["reasons"][0] == LAGGING[0]


amount = st.none() | st.floats(-5, 500)
signs = st.builds(
    Signs,
    client=st.none() | st.just(()) | st.just(LAGGING),
    **{field.name: amount for field in fields(Signs) if field.name != "client"},
)


@given(signs)
def test_there_is_always_a_place_and_a_reason(some: Signs) -> None:
    found = limit(some)
    assert found["where"] in (CLIENT, FRONT_END, ENGINE, NONE, UNKNOWN)
    assert found["reasons"] and all(found["reasons"])
    assert found["where"] in (NONE, UNKNOWN) or found["where"] == found["past"][0]
    assert (found["where"] == CLIENT) == bool(some.client)


@given(signs, st.floats(0, 500))
def test_more_waiting_never_clears_the_engine(some: Signs, more: float) -> None:
    if some.waiting is not None and ENGINE in limit(some)["past"]:
        assert ENGINE in limit(replace(some, waiting=some.waiting + more))["past"]


WINDOW = {"agent": (10.0, 20.0)}
PULSES = [pulse(10 + t / 2) for t in range(20)]
#: four requests, open from 10 to 20 s
OPEN = [reply(10.0, [(100, 1), (9_900, 1)], session=f"s{i}") for i in range(4)]


@pytest.mark.parametrize(
    ("running", "waiting", "where"), [(4, 0, NONE), (1, 3, ENGINE), (0, 0, FRONT_END), (None, None, UNKNOWN)]
)
def test_a_run_says_where(running: int | None, waiting: int | None, where: str) -> None:
    told = (
        {} if running is None or waiting is None else dict(num_requests_running=running, num_requests_waiting=waiting)
    )
    samples = tuple(scrape(11.0 + t, **told) for t in range(8))
    found = summarise(run_of(*OPEN, windows=WINDOW, pulses=PULSES, engine=samples))
    assert found["limit"]["agent"]["where"] == where and found["limit"]["synthetic"] is None
    assert found["client"]["verdict"] == "ok"
    assert ("front_end_backlog" in {w["code"] for w in found["warnings"]}) == (where == FRONT_END)


@pytest.mark.parametrize(("lag_s", "where"), [(0.001, FRONT_END), (0.3, NONE)])
def test_an_emulation_that_is_late_itself_does_not_accuse_its_front_end(lag_s: float, where: str) -> None:
    slow = [reply(10.0, [(1_800, 1), (7_000, 1)], session=f"s{i}", server_ttft_s=0.1) for i in range(4)]
    told = {"vllm:num_requests_running": 4.0, "vllm:num_requests_waiting": 0.0, "embedded:schedule_lag_seconds": lag_s}
    samples = tuple(EngineSample(11.0 + t, told) for t in range(8))
    found = summarise(run_of(*slow, windows=WINDOW, pulses=PULSES, engine=samples))
    assert found["limit"]["agent"]["where"] == where
    assert ("emulation_late" in {w["code"] for w in found["warnings"]}) == (lag_s > 0.02)


def test_a_client_past_its_limits_is_where_the_limit_is() -> None:
    found = summarise(run_of(*OPEN, windows=WINDOW, pulses=[pulse(12.0, loop_lag_s=0.2)]))
    assert (found["client"]["verdict"], found["limit"]["agent"]["where"]) == ("client-limited", CLIENT)
    assert "no verdict may be drawn" in found["warnings"][0]["why"]
