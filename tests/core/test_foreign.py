"""Other tools' files. foreign_files/ holds what `vllm bench serve` (0.32) and guidellm (0.8.1) wrote about the embedded
engine, texts and what is not read taken out. What we fold from their requests must be what they say of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fixtures_fold import failure, reply, run_of

from simulator.core.compare.verdict import Verdict
from simulator.core.foreign import bench_serve, guidellm
from simulator.core.foreign.calls import Call, records
from simulator.core.foreign.common import METRICS, Measured, counts, figures
from simulator.core.foreign.compare import beside
from simulator.errors import UsageError

FILES = Path(__file__).parent / "foreign_files"
OUTPUT = METRICS[0]


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FILES / name).read_text())
    return found


def bare(told: Mapping[str, Any]) -> dict[str, Any]:
    """Without what it says in sum, so that everything must come from its requests."""
    return {key: value for key, value in told.items() if not key.endswith("_ms")}


def test_bench_serves_own_figures_are_what_we_fold_from_its_requests() -> None:
    told = read("bench_serve_detailed.json")
    found = bench_serve.parse(bare(told), "x.json").figures
    for key, word in (("ttft_s", "ttft"), ("e2el_s", "e2el"), ("tpot_s", "tpot"), ("icl_s", "itl")):
        for level in ("mean", "p50", "p90", "p95"):
            near = 2e-5 if key == "icl_s" else 3e-6  # gaps are counted in buckets of a microsecond, not interpolated
            assert found[f"{key}.{level}"] == pytest.approx(told[f"{level}_{word}_ms"] / 1e3, abs=near), (key, level)
    assert found["prompt_tok"] == told["total_input_tokens"] / 32 and found["output_tok"] == 64
    assert found["output_tok_s"] == told["output_throughput"]


def test_what_bench_serve_says_in_sum_is_taken_as_it_is() -> None:
    told = read("bench_serve_plain.json")
    found = bench_serve.parse(told, "x.json")
    assert found.figures["ttft_s.p50"] == pytest.approx(told["median_ttft_ms"] / 1e3)
    assert found.figures["ttft_s.p95"] is None
    assert found.figures["e2el_s.mean"] == pytest.approx(sum(told["latencies"]) / 32)  # newer versions keep these
    assert bench_serve.parse({**told, "latencies": None}, "x.json").figures["e2el_s.mean"] is None
    assert found.figures["ttft_s.p99"] is None  # of 32 requests
    assert (found.requests, found.failed, found.at_once, found.model) == (32, 0, 8, "embedded-30b-a3b")
    many = bench_serve.parse({**told, "completed": 2_000}, "x.json")
    assert many.figures["ttft_s.p99"] == pytest.approx(told["p99_ttft_ms"] / 1e3)


def test_failed_requests_of_bench_serve_are_in_no_figure() -> None:
    told = bare(read("bench_serve_detailed.json"))
    whole = bench_serve.parse(told, "x").figures
    more = {"input_lens": 512, "output_lens": 0, "ttfts": 0.0, "itls": [], "start_times": 9e9, "errors": "refused"}
    broken = {**told, **{name: [*told[name], value] for name, value in more.items()}, "failed": 1}
    found = bench_serve.parse(broken, "x")
    assert found.failed == 1 and found.figures == whole


def test_a_failed_call_finished_nothing() -> None:
    calls = [Call(0.0, 0.1, 0.2, 0.2, 512, 64), Call(0.0, 0.1, 0.2, 0.4, 512, 64, error="cut")]
    found = figures(*records(calls))
    assert found["requests_s"] == pytest.approx(1 / 0.4) and counts(records(calls)[0]) == (1, 1)


def test_guidellms_requests_are_what_it_says_of_them() -> None:
    told = read("guidellm.json")
    found = guidellm.parse(told, "g.json")
    said = {name: each["successful"] for name, each in told["benchmarks"][0]["metrics"].items() if "successful" in each}
    values = found.figures
    assert values["ttft_s.mean"] == pytest.approx(said["time_to_first_token_ms"]["mean"] / 1e3, rel=1e-4)
    assert values["tpot_s.mean"] == pytest.approx(said["inter_token_latency_ms"]["mean"] / 1e3, rel=1e-4)
    assert values["output_tok_s"] == pytest.approx(said["output_tokens_per_second"]["mean"], rel=1e-3)
    assert values["requests_s"] == pytest.approx(said["requests_per_second"]["mean"], rel=1e-3)
    assert values["prompt_tok"] == said["prompt_token_count"]["mean"]
    latency = [each["request_latency"] for each in told["benchmarks"][0]["requests"]["successful"]]
    assert 0 <= sum(latency) / len(latency) - values["e2el_s.mean"] < 0.05  # to the last token, not the stream's end
    assert values["icl_s.mean"] is None  # it keeps no gaps
    assert (found.requests, found.failed, found.at_once, found.model) == (32, 0, 8, "embedded-30b-a3b")


def test_ours_is_folded_to_the_same_meaning() -> None:
    """Called half a millisecond before it was sent; three tokens in the first chunk count as one in n - 1."""
    run = run_of(
        reply(1.0, [(100, 3), (50, 3), (150, 3)], kind="synthetic"), reply(0.0, [(1, 1)], purpose="warmup"),
        failure(2.0, t_end_s=3.0),
    )  # fmt: skip
    found = figures(run.requests, run.chunks)
    assert found["ttft_s.mean"] == pytest.approx(0.1005) and found["e2el_s.mean"] == pytest.approx(0.3005)
    assert found["tpot_s.mean"] == pytest.approx(0.2 / 8)
    assert found["icl_s.mean"] == pytest.approx(0.1) and found["icl_s.p95"] == pytest.approx(0.15)
    assert found["output_tok_s"] == pytest.approx(9 / (3.0 - 0.9995))


def test_nothing_finished_is_unknown() -> None:
    run = run_of(failure(1.0), failure(2.0))
    assert set(figures(run.requests, run.chunks).values()) == {None}


@pytest.mark.parametrize(
    ("parse", "told", "complaint"),
    [
        (bench_serve.parse, {"completed": None}, "no number `completed`"),
        (bench_serve.parse, read("bench_serve_detailed.json") | {"ttfts": [1.0]}, "differ in length"),
        (guidellm.parse, {"benchmarks": []}, "holds 0 benchmarks"),
        (guidellm.parse, {"benchmarks": [{}, {}]}, "say which, as x#1"),
        (guidellm.parse, {"benchmarks": [{}]}, "no `requests.successful`"),
        (guidellm.parse, {"benchmarks": [{"requests": {"successful": [{}]}}]}, "without `info.timings`"),
    ],
)
def test_what_is_none_of_theirs(parse: Any, told: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(told, "x")
    assert complaint in str(caught.value)


def one(speed: float, **fields: Any) -> Measured:
    known = {"output_tok_s": speed, "prompt_tok": 512.0, "output_tok": 64.0, "ttft_s.p50": 10 / speed}
    return replace(Measured("a", "sim", "m", known, 32, 0, 8), **fields)


def test_words_of_a_comparison() -> None:
    assert beside([(one(100), one(120))], OUTPUT).word is Verdict.SUGGESTIVE
    alike = [(one(100 + n / 10), one(100 - n / 10)) for n in (-2, -1, 0, 1, 2)]
    assert beside(alike, OUTPUT).word is Verdict.EQUIVALENT
    faster = beside([(one(100 + n), one(120 + n)) for n in range(5)], OUTPUT)
    assert faster.word is Verdict.BETTER and {row.metric.key for row in faster.rows} == set(one(1).figures)
    latency = next(row for row in faster.rows if row.metric.key == "ttft_s.p50")
    assert latency.word is Verdict.BETTER and latency.found is not None and latency.found.ratio < 1
    assert beside([(one(100 + n, limited=True), one(120 + n)) for n in range(5)], OUTPUT).word is Verdict.CLIENT_LIMITED


@pytest.mark.parametrize(
    ("other", "aspect", "why"),
    [
        (one(100, model="other"), "model", "the models differ"),
        (one(100, at_once=16), "scenario", "8 and 16 requests at once"),
        (one(100, figures={"output_tok_s": 100.0, "prompt_tok": 322.0, "output_tok": 64.0}), "scenario", "prompts of"),
    ],
)
def test_other_work_is_incomparable_unless_asked_for(other: Measured, aspect: str, why: str) -> None:
    refused = beside([(one(100), other)], OUTPUT)
    assert refused.word is Verdict.INCOMPARABLE and why in refused.reasons[0]
    assert beside([(one(100), other)], OUTPUT, allowed=frozenset({aspect})).word is Verdict.SUGGESTIVE


def test_no_finished_request_is_never_compared() -> None:
    found = beside([(one(100), one(100, requests=0, figures={}))], OUTPUT, allowed=frozenset({"scenario"}))
    assert found.word is Verdict.INCOMPARABLE and "finished no request" in found.reasons[0] and found.rows == ()
