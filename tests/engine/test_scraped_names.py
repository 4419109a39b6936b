"""/metrics as vLLM 0.25 to 0.33 write it: the names that the gauges are read from, for one engine and for several."""

from __future__ import annotations

import pytest
from fixtures_fold import run_of

from simulator.core import gauges
from simulator.core.record import EngineSample
from simulator.core.window import Window
from simulator.engine.scrape import NAMES, flatten

#: (name without what Prometheus appends, kind, value of each engine)
TOLD = (
    ("vllm:num_requests_running", "gauge", 12.0),
    ("vllm:num_requests_waiting", "gauge", 3.0),
    ("vllm:kv_cache_usage_perc", "gauge", 0.41),
    ("vllm:num_preemptions", "counter", 2.0),
    ("vllm:prefix_cache_queries", "counter", 1000.0),
    ("vllm:prefix_cache_hits", "counter", 900.0),
    ("vllm:generation_tokens", "counter", 500.0),
    ("vllm:spec_decode_num_drafts", "counter", 100.0),
    ("vllm:spec_decode_num_accepted_tokens", "counter", 80.0),
    ("vllm:lora_requests_info", "gauge", 7.0),  # of no interest here
)


def exposition(times: float, engines: int) -> str:
    """Counters are `times` as far; labels, _created lines and histograms as vLLM has them."""
    lines = []
    for name, kind, value in TOLD:
        lines += [f"# HELP {name} words, with a \\n and {{braces}}", f"# TYPE {name} {kind}"]
        for n in range(engines):
            labels = f'{{engine="{n}",model_name="org/model"}}'
            if kind == "gauge":
                lines.append(f"{name}{labels} {value}")
            else:
                lines += [f"{name}_total{labels} {value * times}", f"{name}_created{labels} 1.7e+09"]
    lines += [
        "# HELP vllm:time_to_first_token_seconds words", "# TYPE vllm:time_to_first_token_seconds histogram",
        'vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="org/model"} 3',
        'vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="org/model"} 4',
        'vllm:time_to_first_token_seconds_sum{engine="0",model_name="org/model"} 1.5',
        'vllm:time_to_first_token_seconds_count{engine="0",model_name="org/model"} 4',
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("engines", [1, 2])
def test_what_vllm_tells_is_what_the_gauges_say(engines: int) -> None:
    samples = [EngineSample(t_s, flatten(exposition(times, engines))) for t_s, times in ((11.0, 1), (13.0, 3))]
    requests = run_of().requests
    row = gauges.engine(samples, Window(10.5, 13.5, True), gauges.open_by_records(requests))
    assert row is not None
    assert (row["running_mean"], row["waiting_max"]) == (12.0 * engines, 3.0 * engines)
    assert row["kv_use_mean"] == 0.41, "a share is not added up"
    assert (row["preemptions"], row["output_tok_s"]) == (4.0 * engines, pytest.approx(1_000.0 * engines / 3))
    assert (row["prefix_hit_share"], row["acceptance_length"]) == (pytest.approx(0.9), pytest.approx(1.8))
    assert row["fallen"] == [] and not row["restarted"]
    back = gauges.engine(samples[::-1], Window(10.5, 13.5, True), gauges.open_by_records(requests))
    assert back == row, "scrapes are put in order of time"
    again = [samples[1], EngineSample(15.0, samples[0].values)]
    told = gauges.engine(again, Window(10.0, 20.0, True), gauges.open_by_records(requests))
    assert told is not None and told["restarted"] and "vllm:generation_tokens_total" in told["fallen"]


def test_every_name_that_a_gauge_reads_is_scraped() -> None:
    read = {value for name, value in vars(gauges).items() if name.isupper() and isinstance(value, str)}
    assert len(read) > 8 and read <= set(NAMES)
