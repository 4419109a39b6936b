"""The whole fold: shape, unknowns, groups and warnings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from fixtures_fold import Reply, failure, pulse, reply, run_of, scrape, session, tool
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.advice import REASONS
from simulator.core.metric import TABLE, value
from simulator.core.record import ERRORS, EngineSample
from simulator.core.run import empty
from simulator.core.summary import summarise

WINDOW = {"agent": (10.0, 20.0)}
PULSES = [pulse(10 + t / 2, in_flight=1) for t in range(20)]


def leaves(found: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(found, dict):
        for key, inner in found.items():
            assert isinstance(key, str)
            yield from leaves(inner, f"{path}.{key}")
    elif isinstance(found, (list, tuple)):
        for i, inner in enumerate(found):
            yield from leaves(inner, f"{path}[{i}]")
    else:
        yield path, found


def assert_plain(summary: dict[str, Any]) -> None:
    for path, leaf in leaves(summary):
        assert leaf is None or type(leaf) in (int, float, str, bool), (path, type(leaf))
        assert not isinstance(leaf, float) or math.isfinite(leaf), path
    json.dumps(summary, allow_nan=False)


def test_a_run_without_requests() -> None:
    summary = summarise(empty())
    assert (summary["schema"], summary["agent"], summary["synthetic"]) == (1, None, None)
    assert_plain(summary)


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    """A request that stopped anywhere between its call and its end, with any outcome and any usage."""
    sent = draw(st.floats(0, 30))
    stream = draw(st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 4)), max_size=5))
    outcome = draw(st.sampled_from(["ok", "failed", "cancelled"]))
    tokens = st.none() | st.integers(0, 5_000)
    fields: dict[str, Any] = {
        "kind": draw(st.sampled_from(["agent", "synthetic"])),
        "session": draw(st.sampled_from(["s0000", "s0001"])),
        "turn": draw(st.integers(0, 3)),
        "retry": draw(st.integers(0, 2)),
        "outcome": outcome,
        "error": draw(st.sampled_from(ERRORS)) if outcome == "failed" else "",
        "prompt_tok": draw(tokens),
        "cached_tok": draw(tokens),
        "output_source": draw(st.sampled_from(["usage", "continuous", "counted", "none"])),
        "planned_prompt_tok": draw(st.integers(0, 100)),
    }
    if draw(st.booleans()):
        fields["output_tok"] = draw(tokens)
    if draw(st.booleans()) and not stream:
        fields["t_sent_s"] = None
    return reply(sent, stream, **fields)


@settings(max_examples=30)
@given(st.lists(replies(), max_size=8), st.booleans(), st.booleans(), st.booleans())
def test_whatever_happened_nothing_is_nan(some: list[Reply], windowed: bool, ended: bool, watched: bool) -> None:
    summary = summarise(
        run_of(
            *some,
            windows=WINDOW if windowed else {},
            ended=ended,
            pulses=PULSES if watched else [],
            engine=(scrape(9.0, generation_tokens_total=5), scrape(15.0)) if watched else (),
            sessions=(session("s0000", 12.0, 12.0),) if watched else (),
            tools=[tool(11.0, 11.0, 11.0)] if watched else [],
            slo={"ttft_s": 1.0, "turn_s": 3.0},
        )
    )
    assert_plain(summary)
    for kind in ("agent", "synthetic"):
        part = summary[kind]
        if part is not None:
            n = part["requests"]
            assert n["ok"] + n["failed"] + n["cancelled"] == n["sent"]
            assert sum(error["count"] for error in part["errors"].values()) == n["failed"]
            assert part["ttft_s"]["n"] <= n["ok"] + n["cancelled"] and part["e2el_s"]["n"] <= n["ok"]


@pytest.mark.parametrize("kind", ["agent", "synthetic"])
def test_one_request_makes_a_whole_summary(kind: str) -> None:
    summary = summarise(run_of(reply(11.0, [(250, 1), (20, 2)], kind=kind)))
    assert_plain(summary)
    part = summary[kind]
    assert (part["ttft_s"]["p50"], part["tpot_s"]["p50"]) == (pytest.approx(0.25), pytest.approx(0.01))
    assert part["output_tok_s"] == pytest.approx(3 / 0.02)


def test_kinds_do_not_mix() -> None:
    agent, other = reply(11.0, [(250, 1)]), reply(12.0, [(900, 1)], kind="synthetic")
    summary = summarise(run_of(agent, other, windows={"agent": (10.0, 20.0), "synthetic": (10.0, 20.0)}))
    assert [summary[k]["ttft_s"]["p50"] for k in ("agent", "synthetic")] == pytest.approx([0.25, 0.9])


def test_groups_part_the_requests() -> None:
    run = run_of(
        reply(11.0, [(100, 1)], session="a", prompt_tok=4_000), reply(12.0, [(200, 1)], session="a", prompt_tok=8_192),
        reply(12.0, [(400, 1)], session="b", prompt_tok=200_000), failure(13.0, session="c"),
        windows=WINDOW, sessions=(session("a", 0, 15), session("b", 0, 15, task_kind="finance", profile="classic-xml")),
    )  # fmt: skip
    part = summarise(run)["agent"]
    sizes = {key: {name: row["requests"] for name, row in part[key].items()} for key in ("by_kind", "by_context")}
    assert sizes["by_kind"] == {"coding": 2, "finance": 1, "unfinished": 1}
    assert sizes["by_context"] == {"<8k": 2, "<16k": 1, ">=128k": 1}
    assert part["by_profile"]["classic-xml"]["ttft_s"]["p50"] == pytest.approx(0.4)
    assert part["by_kind"]["coding"]["completed"] == 1
    for key in ("by_kind", "by_size", "by_profile", "by_context"):
        assert sum(row["requests"] for row in part[key].values()) == part["requests"]["sent"]


def test_the_cached_share_falls_back_on_the_engine() -> None:
    samples = (
        scrape(9.5, prefix_cache_queries_total=0, prefix_cache_hits_total=0),
        scrape(19.0, prefix_cache_queries_total=200, prefix_cache_hits_total=150),
    )
    silent = reply(11.0, [(250, 1)])
    told = reply(11.0, [(250, 1)], cached_tok=10)
    rows = [summarise(run_of(r, windows=WINDOW, engine=samples))["agent"] for r in (silent, told)]
    assert [(row["cached_share"]["all"], row["cached_share"]["source"]) for row in rows] == [
        (0.75, "engine"),
        (pytest.approx(0.1), "usage"),
    ]
    assert rows[0]["uncached_input_tok_s"] == pytest.approx(rows[0]["input_tok_s"] / 4)


def test_every_metric_has_its_place_in_a_summary() -> None:
    chunks = [(250, 1), (20, 2)]
    many = [reply(10 + i / 200, chunks, session=f"s{i % 2}", turn=i // 2, cached_tok=50) for i in range(1_200)]
    first = [reply(9.0, chunks, session=f"s{i}", turn=-1) for i in range(2)]
    run = run_of(
        *first, *many, reply(11.0, chunks, session="s3", cached_tok=1), windows=WINDOW,
        sessions=(session("s0", 0, 15), session("s1", 0, 15)), slo={"ttft_s": 1.0},
        engine=(
            scrape(9.5, spec_decode_num_drafts_total=0, spec_decode_num_accepted_tokens_total=0),
            scrape(19.0, spec_decode_num_drafts_total=10, spec_decode_num_accepted_tokens_total=10),
        ),
    )  # fmt: skip
    part = summarise(run)["agent"]
    assert [m.label for m in TABLE if value(part, m) is None] == []
    assert value(None, TABLE[0]) is None


DOZEN = {"agent": {"kind": "poisson", "due_s": [11.0 + i / 2 for i in range(12)]}}
QUIET = reply(11.0, [(250, 1)] + [(100, 1)] * 80)


@pytest.mark.parametrize(
    ("code", "some", "parts"),
    [
        ("unanswered", [failure(12.0, "timeout")], {}),
        ("client_unknown", [QUIET], {"pulses": []}),
        ("client_limited", [QUIET], {"pulses": [pulse(12.0, loop_lag_s=0.2)]}),
        ("no_steady_window", [QUIET], {"windows": {}, "ended": False}),
        ("cut_short", [QUIET], {"ended": False}),
        ("overloaded", [QUIET], {"arrivals": DOZEN}),
        ("filling", [QUIET], {
            "arrivals": DOZEN,
            "sessions": tuple(session(f"s{i:04d}", 11.0 + i / 2, 99.0) for i in range(12)),
        }),
        ("stalled", [reply(11.0, [(100, 1)] * 20 + [(5_000, 1)])], {}),
        ("damage", [QUIET], {"damage": {"records.jsonl": 1}}),
        ("other_model", [reply(11.0, [(250, 1)], other_model="b")], {}),
        ("failures", [QUIET, failure(12.0, "timeout")], {}),
        ("sessions_failed", [QUIET], {"sessions": (session("s0000", 8, 18, outcome="failed"),)}),
        ("censored", [QUIET, reply(19.0, [(900, 1)], outcome="cancelled")], {}),
        ("usage_missing", [reply(11.0, [(250, 1)], output_source="counted")], {}),
        ("cached_impossible", [reply(11.0, [(250, 1)], cached_tok=101)], {}),
        ("length_drift", [reply(11.0, [(250, 1)] + [(100, 1)] * 80, planned_output_tok=100)], {}),
        ("prompt_drift", [reply(11.0, [(250, 1)], prompt_tok=120)], {}),
        ("engine_disagrees", [QUIET], {
            "windows": {"agent": (0.0, 20.0)},
            "engine": (scrape(0.0, generation_tokens_total=0), scrape(20.0, generation_tokens_total=300)),
        }),
        ("engine_restarted", [QUIET], {
            "engine": (scrape(12.0, generation_tokens_total=500), scrape(14.0, generation_tokens_total=3)),
        }),
        ("metrics_unnamed", [QUIET], {"engine": (EngineSample(12.0, {"process_start_time_seconds": 1.7e9}),)}),
        ("scrapes_failed", [QUIET], {"engine": (EngineSample(12.0, {}, "TimeoutError"),)}),
        ("front_end_backlog", [reply(11.0, [(250, 1)] + [(100, 1)] * 80) for _ in range(8)], {
            "engine": (scrape(12.0, num_requests_running=0, num_requests_waiting=0),),
        }),
        ("other_users", [QUIET], {
            "engine": (scrape(12.0, num_requests_running=9, num_requests_waiting=0),),
        }),
        ("emulation_late", [QUIET], {
            "engine": (EngineSample(12.0, {"embedded:schedule_lag_seconds": 0.2}),),
        }),
        ("preemptions", [QUIET], {
            "engine": (scrape(12.0, num_preemptions_total=1), scrape(14.0, num_preemptions_total=3)),
        }),
        ("drift", [*[reply(10.0 + i / 2, [(200, 10)]) for i in range(10)],
                   *[reply(15.0 + i / 2, [(200, 20)]) for i in range(10)]], {}),
        ("wall_gap", [QUIET], {"sessions": (session("s0000", 8, 18, model_s=5.0),)}),
        ("tool_mismatch", [QUIET], {"tools": [tool(11.0, 11.0, 11.2, matched=False, difference="line 1: x")]}),
        ("not_verified", [QUIET], {"sessions": (session("s0000", 8, 18, verified=False, check="wrong"),)}),
    ],
)  # fmt: skip
def test_each_warning_has_its_occasion(code: str, some: list[Reply], parts: dict[str, Any]) -> None:
    quiet = {w["code"] for w in summarise(run_of(QUIET, windows=WINDOW, pulses=PULSES))["warnings"]}
    assert quiet == set()
    summary = summarise(run_of(*some, **{"windows": WINDOW, "pulses": PULSES, **parts}))
    found = {w["code"]: w for w in summary["warnings"]}
    assert code in found
    assert (
        found[code]["what"].rstrip(": ") == found[code]["what"]
        and (found[code]["why"], found[code]["cure"]) == REASONS[code]
    )
    assert_plain(summary)


def test_a_run_of_which_nothing_was_answered() -> None:
    warm = {"purpose": "warmup", "kind": "synthetic"}
    cut, lost = reply(12.0, outcome="cancelled", error="cancelled"), failure(11.0, **warm)
    good, spare = QUIET, reply(9.0, [(250, 1)], **warm)
    cases = [((), 0), ((cut,), 1), ((cut, failure(13.0)), 2), ((lost, lost), 2), ((lost, cut, spare), 1),
             ((spare,), 0), ((lost, spare), 0), ((lost, cut, good), 0)]  # fmt: skip
    for some, sent in cases:
        summary = summarise(run_of(*some))
        told = [w["what"] for w in summary["warnings"] if w["code"] == "unanswered"]
        assert (summary["unanswered"], len(told)) == (sent, bool(sent))
    assert "requests of warm-up that were sent, 2" in summarise(run_of(lost, lost))["warnings"][0]["what"]


def test_figures_that_are_not_vllms_are_warned_of_once() -> None:
    both = [QUIET, reply(11.0, [(250, 1)] + [(100, 1)] * 80, kind="synthetic")]
    windows = {**WINDOW, "synthetic": (10.0, 20.0)}
    for values, codes in (({}, ["metrics_unnamed"]), ({"vllm:kv_cache_usage_perc": 0.5}, [])):
        engine = (scrape(5.0, num_requests_running=1), *(EngineSample(11.0 + n, dict(values)) for n in range(3)))
        found = summarise(run_of(*both, windows=windows, engine=engine))["warnings"]
        assert [w["code"] for w in found if w["code"] == "metrics_unnamed"] == codes


def test_replies_of_other_models_are_warned_of_once() -> None:
    told = ("agent", "b"), ("agent", "c"), ("agent", "c"), ("synthetic", "b"), ("agent", "")
    some = [reply(11.0, [(250, 1)], other_model=name, kind=kind) for kind, name in told]
    summary = summarise(run_of(*some, windows={**WINDOW, "synthetic": (10.0, 20.0)}, pulses=PULSES))
    warned = [w["what"] for w in summary["warnings"] if w["code"] == "other_model"]
    assert summary["agent"]["other_models"] == {"c": 2, "b": 1} and len(warned) == 1
    assert "agent: 3 name `c` and 1 more; synthetic: 1 name `b`" in warned[0]


def test_what_a_scenario_asks_for_is_no_warning() -> None:
    """Sessions played once leave no window, few requests no p99, a short window no margin: notes, if anything."""
    some = [reply(10.0 + i, [(500, 2 + i)]) for i in range(8)]
    assert [w["code"] for w in summarise(run_of(*some, pulses=PULSES))["warnings"]] == []
    assert [w["code"] for w in summarise(run_of(*some, windows=WINDOW, pulses=PULSES))["warnings"]] == []


def test_every_warning_is_tried_above_and_the_gravest_stands_first() -> None:
    marks = test_each_warning_has_its_occasion.pytestmark  # type: ignore[attr-defined]
    assert {case[0] for case in marks[0].args[1]} == set(REASONS)
    run = run_of(QUIET, failure(12.0), windows=WINDOW, pulses=[pulse(12.0, loop_lag_s=0.2)])
    codes = [w["code"] for w in summarise(run)["warnings"]]
    assert codes == sorted(codes, key=list(REASONS).index) and codes[0] == "client_limited"
