"""The language of objectives, and what a summary says to them."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures_fold import failure, reply, run_of

from simulator.core.objective import LATENCIES, from_block, parse_slo
from simulator.core.summary import summarise
from simulator.errors import UsageError


@pytest.mark.parametrize(
    ("text", "name", "limit", "above"),
    [
        ("ttft_p95<2s", "ttft_p95", 2.0, False),
        (" TPOT_p95 < 50 ms ", "tpot_p95", 0.05, False),
        ("itl_mean<700us", "itl_mean", 0.0007, False),
        ("turn_latency_p90<1.5e1s", "turn_latency_p90", 15.0, False),
        ("ttft_from_due_p50<1s", "ttft_from_due_p50", 1.0, False),
        ("goodput>0.95", "goodput", 0.95, True),
        ("goodput>95%", "goodput", 0.95, True),
        ("error_share<1%", "error_share", 0.01, False),
    ],
)
def test_an_objective_is_read(text: str, name: str, limit: float, above: bool) -> None:
    (found,) = parse_slo(text)
    assert (found.name, found.above) == (name, above) and found.limit == pytest.approx(limit)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("ttft", "METRIC_pNN<LIMIT"),
        ("ttft_s=2", "objectives read ttft_p95<2s here"),
        ("ttft_p95<2", "give the limit a unit, s, ms or us, like ttft_p95<2s"),
        ("ttft_p95<2h", "give the limit a unit"),
        ("ttft_p95>2s", "kept below a limit"),
        ("ttft_p95<=2s", "write < or >, not <="),
        ("ttft_p95=2s", "write < or >, not ="),
        ("ttft_p95<-2s", "must be above 0"),
        ("ttft_p95<1-2s", "`1-2` is no number"),
        ("tftt_p95<2s", "did you mean ttft_p95?"),
        ("speed<2s", "there is no metric speed; known: ttft"),
        ("ttft<2s", "say which statistic of ttft: ttft_p50"),
        ("ttft_p75<2s", "say which statistic of ttft: ttft_p50"),
        ("goodput<0.9", "kept above a limit"),
        ("error_share>1%", "kept below a limit"),
        ("goodput>95", "between 0 and 1"),
        ("goodput>1s", "has no unit s"),
        ("ttft_p95<2s,ttft_p95<3s", "given twice"),
    ],
)
def test_a_mistake_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_slo(text)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_scenarios_own_objectives_stand_for_95_percent() -> None:
    found = from_block({"ttft_s": 2.0, "tpot_s": 0.05, "turn_s": 30.0})
    assert [(o.name, o.limit) for o in found] == [("ttft_p95", 2.0), ("tpot_p95", 0.05), ("turn_latency_p95", 30.0)]
    assert from_block({}) == ()


def part(*replies: Any, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = summarise(run_of(*replies, windows={"agent": (0.0, 20.0)}, **fields))["agent"]
    return found


def test_every_latency_has_its_place_in_a_summary() -> None:
    whole = part(*[reply(1.0 + i, [(200, 1), (20, 1), (20, 1)], turn=i) for i in range(5)])
    for name in LATENCIES:
        (objective,) = parse_slo(f"{name}_p50<10s")
        value = objective.value(whole)
        assert value is not None and objective.met(value), name


def test_values_and_limits() -> None:
    whole = part(reply(1.0, [(200, 1), (20, 1)]), failure(2.0), slo={"ttft_s": 0.1})
    ttft, errors, goodput = parse_slo("ttft_p95<200ms,error_share<50%,goodput>0")
    assert ttft.value(whole) == pytest.approx(0.2) and not ttft.met(0.2) and ttft.met(0.199)
    assert errors.value(whole) == 0.5 and not errors.met(0.5)
    assert goodput.value(whole) == 0.0 and not goodput.met(0.0) and goodput.met(0.1)


def test_where_nothing_succeeded_nothing_is_met() -> None:
    (ttft,) = parse_slo("ttft_p95<2s")
    value = ttft.value(part(failure(2.0)))
    assert value is None and not ttft.met(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ttft_p99<2s", "p99 needs 1,000 requests and the window had 1; ask for p95"),
        ("tpot_p95<2s", "lengthen --window"),
        ("goodput>0.5", "`slo` block"),
    ],
)
def test_what_a_run_cannot_say_is_told(text: str, said: str) -> None:
    (objective,) = parse_slo(text)
    with pytest.raises(UsageError, match=said):
        objective.value(part(reply(1.0, [(200, 1)])))
