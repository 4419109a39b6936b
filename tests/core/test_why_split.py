"""Splitting a throughput ratio: products are exact, and nothing is said that was not measured."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from fixtures_fold import reply, run_of, scrape
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.growth import BEGUN, OPEN, TOKENS, grown_in, placing
from simulator.core.why.measured import Measured, measured
from simulator.core.why.split import GAPS, RECORDS, STEPS, split
from simulator.core.window import Window, traffic
from simulator.store.folder import RunFolder

PUBLISHED = Path(__file__).resolve().parents[2] / "reports" / "h200_random_weights"
#: 20 requests in a step, 1 token each, 50 steps a second, for ten seconds
PLAIN = Measured(
    10.0, 1000.0, 22.0, 20.0, 100, 0, generated=10_000, steps=500, gaps=9_900, gaps_s=9_900 * 0.02, firsts=100,
    step_tok=100_000,
)  # fmt: skip
#: 16 requests, 1.8 tokens, 40 steps
DRAFTED = replace(
    PLAIN, output_tok_s=1152.0, in_flight=18.0, streaming=16.0, generated=11_520, steps=400, gaps=6_300,
    gaps_s=6_300 * 0.025, drafts=6_300, accepted=5_040, step_tok=115_200,
)  # fmt: skip


def ratios(found: object) -> dict[str, float]:
    return {each.key: round(each.ratio, 4) for each in found}  # type: ignore[attr-defined]


def test_the_factors_are_those_that_the_engine_counted() -> None:
    found = split("agent", PLAIN, DRAFTED)
    assert found is not None and found.basis == STEPS and found.holds and not found.notes
    assert ratios(found.factors) == {"in_step": 0.8, "tok_a_step": 1.8, "steps_s": 0.8}
    assert ratios(found.work) == {"through_tok_s": 1.152, "output_share": 1.0}
    assert math.prod(each.ratio or 0 for each in found.batch) == pytest.approx(found.factors[0].ratio)
    assert sum(each.ln or 0 for each in found.factors) == pytest.approx(math.log(found.ratio))


def test_steps_that_several_api_processes_counted_are_taken_from_the_gaps() -> None:
    found = split("agent", PLAIN, replace(DRAFTED, steps=1_600))
    assert found is not None and found.basis == GAPS and found.holds
    assert "B counted each step 4.0 times" in found.notes[0]
    assert ratios(found.factors) == {"in_step": 0.8, "tok_a_step": 1.8, "steps_s": 0.8}


def test_a_run_without_scrapes_is_split_by_its_records() -> None:
    bare = Measured(10.0, 1152.0, 18.0, 16.0, 100, 0)
    found = split("agent", PLAIN, bare)
    assert found is not None and found.basis == RECORDS and found.holds and not found.work and not found.batch
    assert "B has no scrapes" in found.notes[0]
    assert math.prod(each.ratio or 0 for each in found.factors) == pytest.approx(found.ratio)


def test_what_the_client_did_not_get_makes_the_split_fail() -> None:
    found = split("agent", PLAIN, replace(DRAFTED, output_tok_s=1100.0))
    assert found is not None and not found.holds and found.off == pytest.approx(1152 / 1100 - 1)


@pytest.mark.parametrize("nothing", [replace(PLAIN, output_tok_s=None), replace(PLAIN, output_tok_s=0.0)])
def test_without_output_there_is_no_ratio(nothing: Measured) -> None:
    assert split("agent", nothing, PLAIN) is None and split("agent", PLAIN, nothing) is None


positive = st.floats(1e-3, 1e6)
measures = st.builds(
    lambda length, generated, steps, gaps, gap_s, firsts, prompt, open_: Measured(
        length, generated / length, open_, open_ / 2, 10, 0, generated=generated, steps=steps, gaps=gaps,
        gaps_s=gaps * gap_s, firsts=firsts, step_tok=generated + prompt,
    ),
    *[positive] * 8,
)  # fmt: skip


@given(measures, measures)
def test_every_product_is_exact(a: Measured, b: Measured) -> None:
    found = split("agent", a, b)
    assert found is not None
    assert found.product == pytest.approx(found.ratio, rel=1e-9)
    for parts, whole in ((found.work, found.ratio), (found.batch, found.factors[0].ratio)):
        assert math.prod(each.ratio or 0 for each in parts) == pytest.approx(whole, rel=1e-9)
    back = split("agent", b, a)
    assert back is not None and back.basis == found.basis
    for one, other in zip(found.factors, back.factors, strict=True):
        assert one.ln == pytest.approx(-(other.ln or 0), abs=1e-9)


@pytest.mark.parametrize(
    ("scrapes", "grown"),
    [
        ([(0, 0), (10, 100)], 60.0),  # linear between two scrapes
        ([(1, 5), (3, 45), (4, 45), (9, 105)], 68.0),
        ([(0, 50), (4, 90), (5, 10), (10, 60)], 60.0),  # began again: what it shows then came since
        ([(0, 0)], None),
        ([(0, 0), (5, 50)], None),  # silent before the window's end
        ([(5, 0), (10, 50)], None),
        ([], None),
    ],
)
def test_growth_inside_a_window(scrapes: list[tuple[float, float]], grown: float | None) -> None:
    samples = [scrape(t_s, generation_tokens_total=value) for t_s, value in scrapes]
    found = grown_in(samples, "vllm:generation_tokens_total", Window(2.0, 8.0, True))
    assert found == (None if grown is None else pytest.approx(grown))


def test_growth_is_placed_where_the_records_saw_it() -> None:
    """The window opens between two scrapes, in a second that has the end of a warm-up in it."""
    warm = reply(0.0, [(1_600, 1), (100, 9)], purpose="warmup")
    run = run_of(warm, reply(2.0, [(200, 2), (5_000, 8)]), reply(2.0, [(3_000, 5)]))
    window = Window(2.0, 8.0, True)

    def grown(name: str, values: list[tuple[float, float]]) -> float | None:
        return grown_in([scrape(t_s, c=v) for t_s, v in values], "vllm:c", window, placing(run)[name])

    scrapes = [(1.5, 0), (2.5, 12), (7.5, 25), (8.5, 25)]
    assert grown(TOKENS, scrapes) == pytest.approx(15)  # 10 of the 12 were the warm-up's
    assert grown(BEGUN, [(1.5, 0), (2.5, 2), (8.5, 3)]) == pytest.approx(2)
    assert grown(OPEN, [(1.5, 0), (2.5, 12), (8.5, 12)]) == pytest.approx(12 / 1.2)
    assert grown_in([], "vllm:c", window) is None


def test_growth_of_an_idle_moment_is_none_of_the_windows() -> None:
    run = run_of(reply(2.0, [(6_000, 1)]))
    share = placing(run)[TOKENS]
    assert share(1.5, 2.0, 2.5) == 0  # no tokens yet, but the request was open after the edge alone
    assert share(9.0, 9.5, 10.0) == pytest.approx(0.5)  # nothing known: by the clock


def test_each_counter_is_placed_by_what_it_grows_with() -> None:
    """A warm-up's last ten tokens and a window's first prompts share a second between two scrapes."""
    warm = reply(0.0, [(1_600, 1), (100, 9)], purpose="warmup")
    counts = dict(generation_tokens_total=0, iteration_tokens_total_sum=0, time_to_first_token_seconds_count=0)
    early = dict(generation_tokens_total=12, iteration_tokens_total_sum=212, time_to_first_token_seconds_count=2)
    late = dict(generation_tokens_total=20, iteration_tokens_total_sum=220, time_to_first_token_seconds_count=2)
    run = run_of(
        warm, reply(2.0, [(200, 2), (5_000, 8)]), windows={"agent": (2.0, 8.0)},
        engine=(scrape(1.5, **counts), scrape(2.5, **early), scrape(8.5, **late)),
    )  # fmt: skip
    sample = traffic(run, "agent")
    assert sample is not None
    found = measured(sample)
    assert (found.generated, found.firsts, found.step_tok) == (pytest.approx(10), pytest.approx(1), pytest.approx(110))
    assert found.computed_prompt_tok == pytest.approx(100)


def test_records_give_open_and_streaming_requests() -> None:
    run = run_of(
        reply(0.0, [(1_000, 1), (1_000, 1), (1_000, 2)]),
        reply(1.0, [(1_000, 1), (2_000, 3)]),
        windows={"agent": (0.0, 4.0)},
    )
    sample = traffic(run, "agent")
    assert sample is not None
    found = measured(sample)
    assert (found.in_flight, found.streaming) == (pytest.approx(6 / 4), pytest.approx(4 / 4))
    assert found.output_tok_s == pytest.approx(2.0 - 3 / 4)  # the last three tokens come at the window's very end
    assert found.generated is None and found.step_s is None


@pytest.mark.parametrize(("b", "basis"), [("top", STEPS), ("top_4_api_all", GAPS)])
def test_real_runs_split_within_one_per_cent(b: str, basis: str) -> None:
    """vLLM on an H200: its counters and the client's records agree, with one API process and with four."""
    runs = [RunFolder.open(PUBLISHED / name).data() for name in ("baseline", b)]
    for kind in ("agent", "synthetic"):
        one, other = (measured(sample) for run in runs if (sample := traffic(run, kind)) is not None)
        found = split(kind, one, other)
        assert found is not None and found.basis == basis and found.holds
        factors = ratios(found.factors)
        assert 1.75 < factors["tok_a_step"] < 1.8 and factors["steps_s"] < 1
        assert one.computed_prompt_tok and one.computed_prompt_tok > 0
