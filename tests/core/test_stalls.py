"""Stretches in which nothing arrives though requests are open."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures_fold import Reply, failure, reply, run_of
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.stalls import stalls
from simulator.core.summary import summarise
from simulator.core.window import traffic

WINDOW = {"agent": (10.0, 160.0), "synthetic": (10.0, 160.0)}


def found(*replies: Reply, **parts: Any) -> dict[str, Any] | None:
    sample = traffic(run_of(*replies, **{"windows": WINDOW, **parts}), "agent")
    assert sample is not None
    return stalls(sample)


def stream(length_s: float, every_ms: int = 100) -> list[tuple[float, int]]:
    return [(every_ms, 1)] * round(1e3 * length_s / every_ms)


def stalled(at_s: float, for_s: float, until_s: float) -> Reply:
    """A stream from 5 s on, silent for some time."""
    return reply(5.0, [*stream(at_s - 5.0), (1e3 * for_s, 1), *stream(until_s - at_s - for_s)])


def test_a_silence_of_all_streams_is_told_with_its_time() -> None:
    told = found(*[stalled(60.0, 13.0, 150.0) for _ in range(8)])
    assert told is not None and told["count"] == 1
    assert told["longest"] == [
        {"start_s": pytest.approx(60, abs=0.02), "end_s": pytest.approx(73, abs=0.02), "open": 8, "moments": 0}
    ]
    assert (told["total_s"], told["share"]) == (pytest.approx(13, abs=0.03), pytest.approx(13 / 150, rel=0.01))


@pytest.mark.parametrize(
    "others",
    [
        [reply(5.0, stream(140.0))],  # another stream goes on
        [reply(5.0 + 2 * n, stream(1.9)) for n in range(70)],
    ],
)
def test_a_silence_of_some_streams_is_none_of_the_traffic(others: list[Reply]) -> None:
    told = found(stalled(60.0, 13.0, 150.0), *others)
    assert told is not None and told["count"] == 0 and told["longest"] == []


def test_a_few_chunks_let_through_do_not_part_a_stall() -> None:
    trickle = [*stream(55.0), (2_600, 1), (6_000, 30), (340, 30), (3_100, 1), *stream(40.0)]
    told = found(*[reply(5.0, trickle) for _ in range(3)])
    assert told is not None and told["count"] == 1
    assert (told["total_s"], told["longest"][0]["moments"]) == (pytest.approx(12.04, abs=0.05), 3)
    what = [w["what"] for w in summarise(run_of(reply(5.0, trickle), windows=WINDOW))["warnings"]]
    told_as = "agent: hardly anything arrived for 12 s, 8 % of the window, from 60 s to 72 s of the run, while 1"
    assert f"{told_as} request was open" in what


def test_two_stalls_are_two() -> None:
    twice = [*stream(25.0), (5_000, 1), *stream(40.0), (9_000, 1), *stream(40.0)]
    told = found(reply(5.0, twice), reply(5.0, twice))
    assert told is not None and told["count"] == 2
    lengths = [each["end_s"] - each["start_s"] for each in told["longest"]]
    assert lengths == [pytest.approx(9, abs=0.03), pytest.approx(5, abs=0.03)]
    assert told["total_s"] == pytest.approx(sum(lengths))


def test_without_an_open_request_silence_is_rest() -> None:
    told = found(reply(5.0, stream(45.0)), reply(80.0, stream(60.0)))
    assert told is not None and told["count"] == 0


def test_what_waits_for_long_prompts_is_no_stall() -> None:
    """One agent after the other, whose prompts take 8 s each: half of the time nothing arrives, as every time."""
    told = found(*[reply(10.0 + 15.0 * n, [(8_000, 1), *stream(6.0, 20)]) for n in range(10)])
    assert told is not None and told["count"] == 0
    hung = found(*[reply(10.0 + 8.0 * n, [(500, 1), *stream(6.0, 20)]) for n in range(10)], reply(100.0, [(20_000, 1)]))
    assert hung is not None and hung["count"] == 1, "none was under way, and its wait is like no other"


def test_the_prefill_of_a_start_is_no_stall() -> None:
    """Without a window all is measured: thirty prompts at once, of which the first begins to answer and then waits."""
    some = [reply(0.0, [(1e3 * (2 + 5 * n), 1), *stream(60.0)]) for n in range(4)]
    sample = traffic(run_of(*[reply(0.0, [(2_000, 1), (15_000, 1), *stream(45.0)]), *some]), "agent")
    assert sample is not None and not sample.window.steady
    told = stalls(sample)
    assert told is not None and told["count"] == 0


def test_a_hang_until_the_end_counts() -> None:
    cut = reply(5.0, stream(100.0), outcome="cancelled", t_end_s=165.0)
    told = found(cut)
    assert told is not None and told["longest"][0]["end_s"] == 160.0


def test_what_cannot_be_known_is_not_told() -> None:
    silent = [stalled(60.0, 13.0, 150.0)]
    assert found(*silent, ended=False) is None, "what was open when it was killed left no record"
    assert found(failure(12.0)) is None, "nothing ever arrived"
    lost = reply(5.0, [], t_first_s=6.0, t_last_s=150.0, t_end_s=150.0, output_tok=900, chunks=900)
    told = found(*silent, lost)
    assert told is not None and told["count"] == 0, "its chunks are lost, and may have come then"
    assert found(lost, windows={"agent": (10.0, 1e12)}) is not None


@given(st.lists(st.tuples(st.floats(0, 100), st.lists(st.integers(1, 20_000), max_size=6)), min_size=1, max_size=8))
def test_stalls_lie_in_the_window_apart_and_in_silence(some: list[tuple[float, list[int]]]) -> None:
    told = found(*[reply(sent_s, [(ms, 1) for ms in stream]) for sent_s, stream in some])
    if told is None:
        return
    assert 0 <= told["total_s"] <= 150.0 + 1e-6 and told["count"] >= len(told["longest"])
    arrived = [sent_s + sum(stream[: n + 1]) / 1e3 for sent_s, stream in some for n in range(len(stream))]
    for each in told["longest"]:
        assert 10.0 <= each["start_s"] < each["end_s"] <= 160.0 and each["open"] > 0
        assert each["end_s"] - each["start_s"] > told["limit_s"]
        inside = [t_s for t_s in arrived if each["start_s"] + 0.02 < t_s < each["end_s"] - 0.02]
        assert len({round(t_s, 2) for t_s in inside}) <= 3 * each["moments"]
