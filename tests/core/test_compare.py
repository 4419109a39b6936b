"""A whole comparison in memory: reasons, pairs, order, verdicts, notes, configuration."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from fixtures_compare import one, part, side, work
from fixtures_fold import failure, reply, run_of
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.compare.comparison import Comparison, Question, compare
from simulator.core.compare.delivered import delivered, match
from simulator.core.compare.pairing import INTERLEAVED, NOT_INTERLEAVED, ONE_FIRST, UNKNOWN, Begun, order, paired
from simulator.core.compare.rows import find, value_of
from simulator.core.compare.settings import differences, flags
from simulator.core.compare.verdict import Verdict
from simulator.core.compare.within import batch, redrawn, within
from simulator.core.metric import OUTPUT
from simulator.core.window import traffic
from simulator.view.diff.figures import cells
from simulator.view.diff.words import headline

A6, B6 = [100, 103, 98, 101, 99, 102], [107, 109, 106, 108, 105, 110]


def compared(a: Any, b: Any, **question: Any) -> Comparison:
    return compare(a, b, Question(**question))


def six(**changes: Any) -> Comparison:
    """Six pairs, B 7 % ahead; changes: of B's runs."""
    allowed = changes.pop("allowed", ())
    question: dict[str, Any] = {"allowed": frozenset(allowed)}
    return compared(side(A6, name="a"), side(B6, name="b", first=1, **changes), **question)


def test_six_pairs_decide() -> None:
    found = six()
    row = found.primary
    assert found.word is Verdict.BETTER and row is not None and row.found is not None
    assert row.found.n == 6 and row.found.p == pytest.approx(2 / 64) and row.p_adjusted is None
    assert row.b is not None and row.a is not None and row.b / row.a == pytest.approx(row.found.ratio)
    assert found.order.letters == "ABBAABBAABBA" and found.order.how == INTERLEAVED
    assert not found.reasons and not [each for each in found.notes if "pairs" in each or "leav" in each]
    tpot = next(row for row in found.parts[0].rows if row.metric.path == ("tpot_s", "p50"))
    assert tpot.word is Verdict.BETTER and tpot.p_adjusted is not None  # lower is better


def test_a_table_has_one_kind_of_p_and_the_first_line_says_how_coarse_its_own_is() -> None:
    """Three pairs: what was asked is better; a larger difference beside it, whose runs differ more from one another, is
    not, and says so with a larger p."""
    ahead = (
        [dict(part(1), output_tok_s=tok) for tok in (1000, 1010, 1005)],
        [dict(part(1), output_tok_s=tok) for tok in (1200, 1500, 1420)],
    )
    a = [one(tok, name="a", seed=n, synthetic=ahead[0][n]) for n, tok in enumerate(A6[:3])]
    b = [one(tok, name="b", seed=n, synthetic=ahead[1][n]) for n, tok in enumerate([115, 119, 113])]
    found = compared(a, b)
    agents, synthetic = (next(row for row in each.rows if row.metric == OUTPUT) for each in found.parts)
    assert (agents.word, synthetic.word) == (Verdict.BETTER, Verdict.INCONCLUSIVE)
    p = [float(cells(row)[4].removeprefix("<")) for row in (agents, synthetic)]
    assert p[0] < 0.05 < p[1]
    assert "3 pairs, p 0.250, the least that so few can have): better" in headline(found)
    assert "the least" not in headline(six())
    assert compared(a, b, kind="synthetic").word is Verdict.BETTER, "asked by itself"


def test_the_other_way_round_it_is_worse() -> None:
    assert compared(side(B6, name="b"), side(A6, name="a", first=1)).word is Verdict.WORSE


def test_one_run_a_side_suggests_at_most() -> None:
    found = compared(side([100], name="a"), side([150], name="b", first=1))
    assert found.word is Verdict.SUGGESTIVE and found.one_pair
    assert found.primary is not None and found.primary.found is not None
    assert found.primary.found.ratio == pytest.approx(1.5)
    assert compared(side([100], name="a"), side([150, 151], name="b", first=1)).word is Verdict.SUGGESTIVE


def test_equal_values_are_equivalent_and_a_wider_margin_is_the_users() -> None:
    level = side([100.5, 102.9, 98.2, 101, 99, 102], name="b", first=1)
    assert compared(side(A6, name="a"), level).word is Verdict.EQUIVALENT
    assert compared(side(A6, name="a"), side(B6, name="b"), margin=0.15).word is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("changes", "aspect", "said"),
    [
        ({"engine": {"model": "other"}}, "model", "model differs: m in a-1, other in b-1"),
        ({"engine": {"gpu": "H100"}}, "gpu", "GPU"),
        ({"engine": {"kind": "emulated"}}, "kind", "real in a-1, emulated in b-1"),
        ({"engine": {"random_weights": True}}, "kind", "random weights"),
        ({"engine": {"kind": "emulated", "virtual": True}}, "kind", "virtual time"),
        ({"versions": {"agent-sim": "0.2.0", "commit": "c"}}, "client", "0.1.0 (c) in a-1, 0.2.0 (c)"),
        ({"scenario_hash": "z", "scenario": {"sessions": 9}}, "scenario", "differ in sessions"),
    ],
)
def test_what_differs_is_named_unless_it_was_asked_for(changes: dict[str, Any], aspect: str, said: str) -> None:
    found = six(**changes)
    assert found.word is Verdict.INCOMPARABLE
    assert [each.aspect for each in found.refused] == [aspect] and said in found.refused[0].told
    assert six(**changes, allowed=[aspect]).word is Verdict.BETTER


def test_a_key_that_the_older_run_does_not_know_is_as_it_always_was() -> None:
    assert (
        six(scenario_hash="z", scenario={"sessions": 8, "start": "stationary", "drain_s": 5.0}).word is Verdict.BETTER
    )
    assert six(scenario_hash="z", scenario={"sessions": 8, "start": "beginning"}).word is Verdict.INCOMPARABLE
    assert six(scenario_hash="z", scenario={"sessions": 8, "usage": "every_chunk"}).word is Verdict.BETTER
    assert six(scenario_hash="z", scenario={"sessions": 8, "usage": "end"}).word is Verdict.INCOMPARABLE


@pytest.mark.parametrize(
    ("changes", "aspect", "said"),
    [
        ({"ended": False}, "cut", "b-1 was killed"),
        ({"stopped": "interrupted"}, "cut", "b-1 was cut short (interrupted)"),
        ({"stopped": "engine gone"}, "cut", "b-1 was cut short (engine gone)"),
        ({"engine_changed": ["pid 1 then, 2 now"]}, "cut", "b-1 met another engine at its end than at its start"),
        ({"agent": {"requests": {"sent": 4, "ok": 0, "failed": 4}}}, "unfinished", "no agents request of b-1"),
        ({"delivered": {"agent": work(tok=102)}}, "delivered", "+2.0 % output tokens"),
        ({"delivered": {"agent": work(0)}}, "", ""),
        ({"agent": None}, "traffic", "no kind of traffic"),
        ({"mode": "live"}, "mode", "mode differs: replay in a-1, live in b-1"),
    ],
)
def test_what_no_option_excuses(changes: dict[str, Any], aspect: str, said: str) -> None:
    found = six(**changes, allowed=["seed", "scenario", "model", "gpu", "kind", "client"])
    told = [each for each in found.refused if each.aspect == aspect]
    assert (found.word is Verdict.INCOMPARABLE) is bool(aspect)
    assert not aspect or said in told[0].told


def test_tokens_within_one_per_cent_are_the_same_work_and_live_runs_are_exempt() -> None:
    assert six(delivered={"agent": work(tok=100.9)}).word is Verdict.BETTER
    a = side(A6, name="a", mode="live")
    assert (
        compared(a, side(B6, name="b", first=1, mode="live", delivered={"agent": work(tok=150)})).word is Verdict.BETTER
    )


def test_no_seed_in_common() -> None:
    a, b = [one(100, name="a", seed=1)], [one(120, name="b", seed=2, at_s=9)]
    assert compared(a, b).word is Verdict.INCOMPARABLE
    assert compared(a, b, allowed=frozenset({"seed"})).word is Verdict.SUGGESTIVE


def test_two_models_on_one_side_are_no_side() -> None:
    a = side(A6, name="a")
    a[3] = one(101, name="a", seed=4, at_s=700, engine={"model": "other"})
    assert "model" in [each.aspect for each in compared(a, side(B6, name="b", first=1)).refused]


def test_sessions_that_one_machine_could_not_plan_are_named() -> None:
    lacks = {"coding_x": "node 22.6 or newer, and there is none: install Node.js"}
    a, b = (
        side([100], name="a", plan_hash="11"),
        side([150], name="b", first=1, plan_hash="22", templates_left_out=lacks),
    )
    found = compared(a, b)
    assert found.word is Verdict.INCOMPARABLE
    why = "coding_x was left out of b-1, for it needs node 22.6 or newer, and there is none: install Node.js"
    assert [each.told for each in found.reasons if each.aspect == "plan"] == [f"the sessions differ: {why}"]
    assert compared(b, a).word is Verdict.INCOMPARABLE
    assert compared(a, b, allowed=frozenset({"plan"})).word is Verdict.SUGGESTIVE


@pytest.mark.parametrize(
    ("other", "differ"),
    [
        ({"plan_hash": "22"}, True),
        ({"plan_hash": "11"}, False),
        ({"plan_hash": ""}, False),
        ({"plan_hash": "22", "versions": {"agent-sim": "0.2.0"}}, False),
        ({"plan_hash": "22", "engine": {"model": "other"}}, False),
        ({"plan_hash": "22", "seed": 2}, False),
        ({"plan_hash": "22", "scenario_hash": "other", "scenario": {"sessions": 9}}, False),
    ],
)
def test_plans_differ_for_no_reason_only_where_nothing_else_does(other: dict[str, Any], differ: bool) -> None:
    """What is another reason already, a version, a model, a seed or a scenario, says why the plans differ."""
    found = compared([one(100, name="a", plan_hash="11")], [one(150, name="b", **other)])
    assert ("plan" in [each.aspect for each in found.reasons]) == differ


def test_a_client_at_its_limit_forbids_a_verdict_after_incomparable() -> None:
    assert six(client="client-limited").word is Verdict.CLIENT_LIMITED
    assert six(client="client-limited", engine={"model": "x"}).word is Verdict.INCOMPARABLE


def test_only_the_traffic_concerned_is_refused() -> None:
    both = {"synthetic": part(5_000)}
    bad = {"synthetic": part(5_000, requests={"sent": 3, "ok": 0, "failed": 3})}
    found = compared(side(A6, name="a", **both), side(B6, name="b", first=1, **bad))
    assert found.word is Verdict.BETTER
    assert {row.word for row in found.parts[1].rows if row.found} == {Verdict.INCOMPARABLE}
    chosen = compared(side(A6, name="a", **both), side(B6, name="b", first=1, **bad), kind="synthetic")
    assert chosen.word is Verdict.INCOMPARABLE


def test_notes_say_cause_and_cure() -> None:
    late = [one(v, name="b", seed=n + 1, at_s=10_000 + n) for n, v in enumerate([107, 109, 106])]
    drifting = {"drift": 0.3, "drift_margin": 0.1, "requests": {"sent": 100, "ok": 90, "failed": 10}}
    a = [one(v, name="a", seed=n + 1, at_s=n, agent=drifting) for n, v in enumerate([100, 103, 98, 99])]
    told = " | ".join(compared(a, late).notes)
    assert "not interleaved (AAABBB)" in told and "A B B A" in told
    assert "p cannot fall below 0.25" in told
    assert "drifted inside the window: a-1 +30 %" in told
    assert "a-1 10 of 100" in told
    assert "want of a partner with the same seed, A: a-4" in told


def test_undefined_values_are_left_out_and_zero_is_no_ratio() -> None:
    found = compared(side([None, None], name="a"), side([None, None], name="b", first=1))
    assert found.word is Verdict.INCOMPARABLE and found.primary is not None and found.primary.a is None
    some = compared(side([100, None, 100], name="a"), side([110, 120, 111], name="b", first=1))
    assert some.primary is not None and some.primary.found is not None and some.primary.found.n == 2
    zero = compared(side([0, 0], name="a"), side([110, 120], name="b", first=1))
    assert zero.primary is not None and zero.primary.found is None and zero.primary.b == 115


# --- pairs and their order ---

SEEDS = st.lists(st.integers(0, 4), max_size=8)


@given(SEEDS, SEEDS, st.booleans())
def test_pairs_by_seed(a: list[int], b: list[int], across: bool) -> None:
    left, right = ([Begun(n, seed, float(n)) for n, seed in enumerate(seeds)] for seeds in (a, b))
    found = paired(left, right, across_seeds=across)
    used = [pair[0] for pair in found.pairs], [pair[1] for pair in found.pairs]
    assert sorted([*used[0], *found.alone_a]) == list(range(len(a)))
    assert sorted([*used[1], *found.alone_b]) == list(range(len(b)))
    if across:
        assert len(found.pairs) == min(len(a), len(b))
    else:
        assert all(a[one] == b[other] for one, other in found.pairs)
        assert not set(a[n] for n in found.alone_a) & set(b[n] for n in found.alone_b)


def test_within_a_seed_the_order_of_time_pairs() -> None:
    a, b = [Begun(0, 1, 50.0), Begun(1, 1, 10.0)], [Begun(0, 1, 60.0), Begun(1, 1, 20.0)]
    assert paired(a, b).pairs == ((1, 1), (0, 0))


@pytest.mark.parametrize(
    ("times", "letters", "how"),
    [
        ([(0, 1), (3, 2)], "ABBA", INTERLEAVED),
        ([(0, 1), (2, 3)], "ABAB", ONE_FIRST),
        ([(0, 2), (1, 3)], "AABB", NOT_INTERLEAVED),
        ([(0, 1)], "AB", UNKNOWN),
        ([(0, 1), (None, 3)], "ABB", UNKNOWN),
    ],
)
def test_the_order_of_runs(times: list[tuple[float | None, float | None]], letters: str, how: str) -> None:
    pairs = [(Begun(0, 1, None if a is None else a + 1), Begun(0, 1, None if b is None else b + 1)) for a, b in times]
    found = order(pairs)
    assert (found.letters, found.how) == (letters, how)


# --- the same work ---


def test_matched_requests_are_those_of_one_conversation_turn_and_purpose() -> None:
    a = run_of(
        reply(0.0, [(10, 7)], session="s1", turn=0),
        failure(1.0, session="s1", turn=1),
        reply(2.0, [(10, 9)], session="s1", turn=1, retry=1),
        reply(3.0, [(10, 5)], session="s1", turn=1, branch=1),
        reply(4.0, [(10, 99)], session="s1", turn=2, purpose="warmup"),
        reply(5.0, [(10, 50)], session="s2", turn=0, stopped=True),
        reply(6.0, [(10, 4)], session="only here", turn=0),
    )
    b = run_of(
        reply(0.0, [(10, 9)], session="s1", turn=1),
        reply(1.0, [(10, 7)], session="s1", turn=0),
        reply(2.0, [(10, 6)], session="s1", turn=1, branch=1),
        reply(3.0, [(10, 8)], session="s1", turn=0, kind="synthetic"),
    )
    found = match(delivered(a.requests, "agent"), delivered(b.requests, "agent"))
    assert (found.requests, found.of) == (3, 3) and found.difference == pytest.approx(22 / 21 - 1)
    nothing = match(delivered(a.requests, "synthetic"), delivered(b.requests, "synthetic"))
    assert (nothing.requests, nothing.difference) == (0, None)


# --- within one run ---


def test_bootstrap_covers_the_truth_and_draws_sessions_not_requests() -> None:
    """20 sessions of 20 requests; each session has its own level, so 400 requests know little more than 20 values."""
    rng = np.random.default_rng(3)
    session = np.repeat(np.arange(20), 20)
    covered, narrow = 0, 0
    for _ in range(40):
        values = np.exp(rng.normal(0, 0.5, 20)[session] + rng.normal(0, 0.1, 400))
        drawn = redrawn(values, session, rng)["p50"]
        alone = redrawn(values, np.arange(400), rng)["p50"]
        covered += int(np.quantile(drawn, 0.025) <= 0.0 <= np.quantile(drawn, 0.975))
        narrow += int(np.quantile(alone, 0.025) <= 0.0 <= np.quantile(alone, 0.975))
    assert covered / 40 > 0.85 and narrow / 40 < 0.6


def test_bootstrap_of_many_sessions_and_of_too_few() -> None:
    rng = np.random.default_rng(5)
    values = rng.exponential(1.0, 200_000) + 1
    drawn = redrawn(values, np.arange(200_000), rng)
    spread = np.std(drawn["p50"])  # of the median: 0.5 / (density 0.5 * sqrt n) / median
    assert spread == pytest.approx(0.5 / (0.5 * np.sqrt(200_000)) / (1 + np.log(2)), rel=0.2)
    assert redrawn(np.array([1.0, 2.0]), np.array([0, 0]), rng) == {}
    assert redrawn(np.array([np.nan, 2.0]), np.array([0, 1]), rng) == {}
    assert redrawn(np.zeros(0), np.zeros(0, dtype=np.int64), rng) == {}


def steady(tokens: list[int]) -> Any:
    """A window of 60 s, a reply of 1 s each second."""
    found = traffic(
        run_of(
            *[reply(10.0 + n, [(1_000, tok)], session=f"s{n % 4}") for n, tok in enumerate(tokens)],
            windows={"agent": (10.0, 70.0)},
        ),
        "agent",
    )
    assert found is not None
    return found


def test_batch_means_of_throughput() -> None:
    even, odd = batch(steady([10] * 60)), batch(steady([10, 10, 10, 20, 20, 20] * 10))
    assert even is not None and odd is not None and even.n == odd.n == 19
    assert even.relative_error < odd.relative_error < 0.12
    assert batch(steady([10] * 8)) is None
    assert set(within(steady([10] * 60)).latency) >= {("ttft_s", "p50"), ("turn_latency_s", "p95")}


# --- names and configuration ---


@pytest.mark.parametrize(("name", "path"), [
    ("output", ("output_tok_s",)), ("output_tok_s", ("output_tok_s",)), ("TTFT p95", ("ttft_s", "p95")),
    ("ttft_s.p95", ("ttft_s", "p95")), ("turn latency p50", ("turn_latency_s", "p50")),
])  # fmt: skip
def test_a_metric_has_two_names(name: str, path: tuple[str, ...]) -> None:
    metric = find(name)
    assert metric is not None and metric.path == path
    assert find("nonsense") is None and value_of(None, metric) is None


def test_flags_are_read_as_the_engine_reads_them() -> None:
    drafts = json.dumps({"method": "mtp", "num_speculative_tokens": 1})
    argv = ["vllm", "serve", "m", "--max-num-seqs=256", "--no-async-scheduling", "--enable-prefix-caching"]
    argv += ["-tp", "2", "--speculative-config", drafts, "--port", "8001"]
    assert flags(argv) == {
        "--max-num-seqs": "256", "--async-scheduling": "off", "--enable-prefix-caching": "on",
        "--tensor-parallel-size": "2", "--speculative-config.method": "mtp",
        "--speculative-config.num_speculative_tokens": "1",
    }  # fmt: skip
    assert flags(["vllm", "--max_num_seqs", "256", "--port", "9"]) == {"--max-num-seqs": "256"}
    assert flags(None) == flags([]) == {} and flags(["--x", "{broken"]) == {"--x": "{broken"}


def test_only_what_differs_is_shown() -> None:
    a = {"argv": ["--a", "1", "--b"], "env": {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "0"},
         "settings": {"block": 16, "f": True},
         "cache_config": {"block_size": "16", "sliding_window": "None"}}  # fmt: skip
    b = {"argv": ["--a", "2", "--c"], "env": {"OMP_NUM_THREADS": "16", "CUDA_VISIBLE_DEVICES": "1"},
         "settings": {"block": 32, "f": True},
         "cache_config": {"block_size": "16", "sliding_window": "8"}}  # fmt: skip
    found = [(each.place, each.name, each.left, each.right) for each in differences(a, b)]
    assert found == [
        ("flag", "--a", "1", "2"), ("flag", "--b", "on", None), ("flag", "--c", None, "on"),
        ("environment", "OMP_NUM_THREADS", "1", "16"), ("setting", "block", "16", "32"),
        ("seen", "sliding_window", None, "8"),
    ]  # fmt: skip
    assert differences(a, a) == [] == differences({}, {})
