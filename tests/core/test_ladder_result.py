"""What a ladder's repeats say together, and whether a folder may be gone on with."""

import math
from typing import Any

import pytest

from simulator.core.ladder.identity import MADE_BY, refusal
from simulator.core.ladder.result import doubts, figures, rows

SUMMARY: dict[str, Any] = {
    "agent": {
        "output_tok_s": 1192.0,
        "ttft_s": {"p50": 0.381},
        "tpot_s": {"p50": None},
        "turn_latency_s": {"p50": 4.1},
        "requests": {"sent": 400, "failed": 1},
    },
    "synthetic": None,
    "client": {"verdict": "ok", "reasons": []},
    "engine": {"agent": {"restarted": None}, "synthetic": None},
}


def repeat(pair: int, tok_s: float | None, **more: Any) -> dict[str, Any]:
    agents = None if tok_s is None else {"output_tok_s": tok_s, "turn_p50_s": 2.0}
    return {"pair": pair, "agents": agents, "synthetic": None, "certified": True, "error": None, **more}


def ladder(**repeats: list[dict[str, Any]]) -> dict[str, Any]:
    return {"pairs": 3, "rungs": [{"name": name, "repeats": each} for name, each in repeats.items()]}


def test_figures_are_those_of_the_summary_and_what_is_not_there_is_none() -> None:
    found = figures(SUMMARY)
    assert found["agents"] == {"output_tok_s": 1192.0, "ttft_p50_s": 0.381, "tpot_p50_s": None, "turn_p50_s": 4.1}
    assert found["synthetic"] is None
    assert figures({}) == {"agents": None, "synthetic": None}


@pytest.mark.parametrize(
    ("change", "manifest", "said"),
    [
        ({}, {"stopped": ""}, None),
        ({"client": {"verdict": "client-limited", "reasons": ["lag"]}}, {}, "client-limited (lag)"),
        ({"client": {}}, {}, "unknown client"),
        ({}, {"stopped": "time limit"}, "stopped by time limit"),
        ({}, {"unverified": 2}, "2 recorded solutions did not verify"),
        ({}, {"caches_reset": False}, "prefix cache"),
        ({"engine": {"agent": {"restarted": True}}}, {}, "restarted during agents"),
        ({"agent": {"requests": {"sent": 100, "failed": 2}}}, {}, "2 of 100 requests of agents failed"),
        ({"agent": {"requests": {"sent": 100, "failed": 1}}}, {}, None),
    ],
)
def test_what_keeps_a_run_from_being_certified(change: dict[str, Any], manifest: dict[str, Any], said: str) -> None:
    found = doubts({**SUMMARY, **change}, manifest)
    assert (found == []) if said is None else (len(found) == 1 and said in found[0])


def test_ratios_are_over_the_pairs_that_both_sides_have() -> None:
    told = ladder(
        first=[repeat(0, 100.0), repeat(1, 110.0), repeat(2, 90.0, error="it died")],
        second=[repeat(0, 120.0), repeat(1, 132.0), repeat(2, 300.0)],
    )
    first, second = rows(told)
    assert first.agents_ratio is None and first.repeats == 2 and first.errors == ("it died",)
    found = second.agents_ratio
    assert found is not None and found.n == 2 and found.ratio == pytest.approx(1.2)
    assert second.agents["output_tok_s"] == pytest.approx((120 * 132 * 300) ** (1 / 3))
    assert second.synthetic == {} and second.synthetic_ratio is None


def test_each_level_has_a_first_rung_of_its_own() -> None:
    told = ladder(a=[repeat(0, 10.0)], b=[repeat(0, 30.0)], c=[repeat(0, 20.0)], d=[repeat(0, 30.0)])
    for rung, level in zip(told["rungs"], (8, 32, 8, 32), strict=True):
        rung["concurrency"] = level
    found = [row.agents_ratio.ratio if row.agents_ratio else None for row in rows(told)]
    assert found[:2] == [None, None] and found[2:] == [pytest.approx(2.0), pytest.approx(1.0)]


@pytest.mark.parametrize(
    "bad", [[], [repeat(0, None)], [repeat(0, 0.0)], [repeat(7, 5.0)], [repeat(0, 5.0, error="x")]]
)
def test_without_a_pair_there_is_no_ratio(bad: list[dict[str, Any]]) -> None:
    row = rows(ladder(a=[repeat(0, 10.0)], b=bad))[1]
    assert row.agents_ratio is None and not any(math.isnan(value) for value in row.agents.values())


THEN = {
    "schema": 1, "made_by": MADE_BY, "scenario": "s", "seed": 1, "scenario_hash": "h",
    "rungs": [{"rung": "a", "digest": "1", "argv": ["vllm", "--x", "1"], "env": {"OMP": "1"}}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({}, ""),
        ({"rungs": []}, ""),
        ({"rungs": [{"rung": "b", "digest": "2"}]}, ""),
        ({"scenario_hash": "other"}, "another scenario"),
        (
            {"rungs": [{"rung": "a", "digest": "2", "argv": ["vllm", "--x", "2"], "env": {"OMP": "1"}}]},
            "`1` then, `2` now",
        ),
        ({"rungs": [{"rung": "a", "digest": "2", "argv": ["vllm", "--x", "1"], "env": {}}]}, "OMP=1"),
    ],
)
def test_another_scenario_or_another_engine_of_that_name_is_refused(now: dict[str, Any], said: str) -> None:
    found = refusal(THEN, {**THEN, **now})
    assert said in found and bool(said) == bool(found)


def test_a_folder_of_something_else_is_no_ladder() -> None:
    assert "not written by" in refusal({"schema": 1}, THEN)
    assert "schema 2" in refusal({**THEN, "schema": 2}, THEN)
