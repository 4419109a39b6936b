"""Lanes of bars: what each place did at each moment."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures_fold import Reply, failure, reply, run_of, tool

from simulator.core.lanes import WHAT, Lanes, lanes
from simulator.core.window import traffic


def drawn(*replies: Reply, **parts: Any) -> Lanes:
    sample = traffic(run_of(*replies, **parts), "agent")
    assert sample is not None
    return lanes(sample)


def bars(found: Lanes) -> list[tuple[int, str, float, float]]:
    return [(lane, WHAT[what], round(a, 4), round(b, 4)) for lane, what, a, b, _ in found.bars]


def test_a_turn_its_tool_and_the_pause_before_the_next() -> None:
    found = drawn(
        reply(1.0, [(200, 1), (300, 5)], t_due_s=0.9),
        reply(3.0, [(100, 1), (100, 1)], t_due_s=3.0, turn=1),
        tools=[tool(1.5, 1.6, 1.8, 2.0)],
    )
    assert bars(found) == [
        (0, "client queue", 0.9, 1.0), (0, "queue and prefill", 1.0, 1.2), (0, "decode", 1.2, 1.5),
        (0, "tool", 1.5, 2.0), (0, "think", 2.0, 3.0), (0, "queue and prefill", 3.0, 3.1), (0, "decode", 3.1, 3.2),
    ]  # fmt: skip
    assert found.lanes == ((0, 0),) and found.shown == found.slots == 1 and found.until_s is None


def test_where_the_engine_tells_its_own_ttft_the_rest_is_its_front_end() -> None:
    found = drawn(reply(1.0, [(500, 1), (100, 1)], t_due_s=1.0, server_ttft_s=0.2))
    assert bars(found)[:2] == [(0, "front end", 1.0, 1.3), (0, "queue and prefill", 1.3, 1.5)]
    more = drawn(reply(1.0, [(500, 1), (100, 1)], t_due_s=1.0, server_ttft_s=9.0))
    assert bars(more)[0] == (0, "queue and prefill", 1.0, 1.5)


def test_a_failed_attempt_and_its_back_off() -> None:
    lost = failure(1.0, t_due_s=1.0, t_end_s=1.5)
    again = reply(3.5, [(100, 1)], t_due_s=3.5, retry=1)
    assert bars(drawn(lost, again))[:2] == [(0, "failed", 1.0, 1.5), (0, "back-off", 1.5, 3.5)]
    unsent = failure(1.0, "refused", t_sent_s=None, t_call_s=1.0, t_due_s=1.0, t_end_s=1.2)
    assert bars(drawn(unsent)) == [(0, "failed", 1.0, 1.2)]


def test_a_request_cut_by_the_runs_end() -> None:
    cut = reply(1.0, [(100, 1)], t_due_s=1.0, t_last_s=1.4, t_end_s=2.0, outcome="cancelled", error="cancelled")
    assert [bar[1] for bar in bars(drawn(cut))] == ["queue and prefill", "decode", "cancelled"]
    silent = reply(1.0, t_due_s=1.0, t_end_s=2.0, outcome="cancelled", error="cancelled")
    assert bars(drawn(silent)) == [(0, "cancelled", 1.0, 2.0)]


def test_sub_agents_have_lanes_below_their_session_and_it_waits_for_them() -> None:
    stream = [(100, 1), (900, 1)]
    found = drawn(
        reply(1.0, stream, t_due_s=1.0),
        reply(2.1, stream, t_due_s=2.1, branch=1), reply(2.2, stream, t_due_s=2.2, branch=2),
        reply(3.5, stream, t_due_s=3.5, branch=3),
        reply(5.0, stream, t_due_s=5.0, turn=1),
        reply(1.0, stream, t_due_s=1.0, session="s1", slot=1),
    )  # fmt: skip
    assert found.lanes == ((0, 0), (0, 1), (0, 2), (1, 0))
    assert (0, "waits for sub-agents", 2.0, 5.0) in bars(found)
    assert sorted({(lane, a) for lane, what, a, _ in bars(found) if what == "queue and prefill"}) == [
        (0, 1.0), (0, 5.0), (1, 2.1), (1, 3.5), (2, 2.2), (3, 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize(("most_lanes", "most"), [(10, 10_000), (100, 60), (3, 7)])
def test_of_too_much_whole_lanes_are_kept_then_their_first_part(most_lanes: int, most: int) -> None:
    made = [
        reply(n + slot / 100, [(10, 1)], slot=slot, session=f"s{slot}", turn=n) for slot in range(50) for n in range(9)
    ]
    sample = traffic(run_of(*made, tools=[tool(n / 50, n / 50, n / 50 + 0.01, slot=n) for n in range(50)]), "agent")
    assert sample is not None
    found = lanes(sample, most_lanes, most)
    assert found.slots == 50 and found.shown <= most_lanes and found.requests.n + found.tools.n <= most
    assert found.lanes[0] == (0, 0) and (found.shown == 1 or found.lanes[-1] == (49, 0))
    whole = found.requests.n == 9 * found.shown
    assert whole == (found.until_s is None)
    assert set(found.tools["slot"]) <= {slot for slot, _ in found.lanes}


def test_one_lane_with_too_much_says_until_when() -> None:
    sample = traffic(run_of(*(reply(float(n), [(10, 1)], turn=n) for n in range(40))), "agent")
    assert sample is not None
    found = lanes(sample, 5, 10)
    assert found.requests.n == 10 and found.until_s == pytest.approx(9.999)
    assert max(bar[2] for bar in found.bars) < found.until_s
