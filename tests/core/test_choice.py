"""Which rung each traffic chooses, how sure that is, and what choosing by the other one costs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.choice.choice import Repeat, Rung, choose
from simulator.core.choice.ladder_file import parse
from simulator.core.choice.rank import agreement, exact_p, inversions, kendall
from simulator.core.compare.verdict import Verdict
from simulator.errors import UsageError

#: run-to-run noise of six pairs, about 1 %
NOISE = (1.0, 0.99, 1.01, 1.004, 0.992, 1.008)


def rung(name: str, agents: float | None, synthetic: float | None, noise: tuple[float, ...] = NOISE) -> Rung:
    def figures(value: float | None, factor: float, other: float) -> dict[str, float | None] | None:
        return None if value is None else {"output_tok_s": value * factor, "turn_p50_s": 4_000 / (value * other)}

    back = noise[::-1]
    repeats = [Repeat(n, figures(agents, f, f), figures(synthetic, back[n], 1.0)) for n, f in enumerate(noise)]
    return Rung(name, tuple(repeats))


def test_a_wrong_choice_and_its_price() -> None:
    shifted = NOISE[1:] + NOISE[:1]
    found = choose([rung("base", 1200, 9000), rung("fast", 1450, 14400, shifted), rung("all", 1530, 13400)])
    assert found.agents is not None and found.synthetic is not None
    assert (found.agents.rung, found.synthetic.rung) == ("all", "fast")
    assert found.verdict == Verdict.WORSE and found.agents.decided and found.synthetic.decided
    assert found.regret == pytest.approx(1 - 1450 / 1530, rel=0.05)
    assert found.low is not None and found.high is not None and found.low < found.regret < found.high


@pytest.mark.parametrize(
    ("fast", "noise", "said"),
    [
        (1525, tuple(1 + 0.1 * (f - 1) for f in NOISE), Verdict.EQUIVALENT),
        (1480, (1.0, 0.9, 1.1, 1.05, 0.93, 1.08), Verdict.INCONCLUSIVE),
        (1450, (1.0,), Verdict.SUGGESTIVE),
    ],
)
def test_what_repeats_do_not_decide_is_not_said(fast: float, noise: tuple[float, ...], said: Verdict) -> None:
    found = choose([rung("fast", fast, 14400, noise), rung("all", 1530, 13400, noise[::-1])])
    assert found.verdict == said and found.agents is not None and not found.agents.decided
    assert ("fast" in found.agents.equal) == (said in (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE))


def test_both_may_choose_the_same_and_agents_may_judge_by_latency() -> None:
    rungs = [rung("base", 1200, 9000), rung("top", 1500, 14000)]
    found = choose(rungs)
    assert found.regret == 0 and found.verdict is None
    by_turn = choose([*rungs, rung("slow", 900, 20_000)], "turn_p50_s")
    assert by_turn.agents is not None and by_turn.agents.rung == "top"
    assert by_turn.regret is not None and by_turn.regret == pytest.approx(1500 / 900 - 1, rel=0.05)


def test_a_client_at_its_limit_decides_nothing() -> None:
    other = rung("fast", 1300, 14400)
    limited = Rung("fast", tuple(Repeat(r.pair, r.agents, r.synthetic, limited=True) for r in other.repeats))
    assert choose([limited, rung("all", 1530, 13400)]).verdict == Verdict.CLIENT_LIMITED


def test_where_nothing_can_be_chosen_it_is_said_why() -> None:
    base, top = rung("base", 1200, 9000), rung("top", 1500, 14000)
    assert choose([base, top]).undrawn == ""
    limited = Rung(
        "top", (Repeat(0, {"output_tok_s": 1500.0}, {"output_tok_s": 14000.0}, limited=True), *top.repeats[1:])
    )
    said = choose([base, limited])
    assert said.agents is not None and said.agents.rung == "top", "both choose it, and may not"
    assert said.undrawn.startswith("the client was the limit in runs of top,")
    for alone in ([base], [base, rung("agents", 1500, None), rung("synthetic", None, 14000)]):
        assert choose(alone).undrawn.startswith("only base has figures of both kinds")
    apart = choose([rung("agents", 1500, None), rung("synthetic", None, 14000)])
    assert apart.undrawn.startswith("no rung has figures of both kinds")


def test_a_ratio_is_that_of_the_two_figures_beside_it() -> None:
    """The best has one pair of three, and the machine was slower in the others."""
    found = choose([rung("base", 1200, 9000, (1.0, 0.8, 0.7)), rung("top", 1500, 14000, (1.0,))]).agents
    assert found is not None
    (other,) = found.others
    assert (other.value, other.best) == (pytest.approx(1200), pytest.approx(1500))
    assert other.ratio.ratio == pytest.approx(other.value / other.best)


def test_what_is_missing_is_named_and_never_a_zero() -> None:
    lone = Rung("lone", (Repeat(77, {"output_tok_s": 1000.0}, None),))
    found = choose([lone, rung("none", None, None), rung("all", 1530, 13400), rung("base", 1200, 9000)])
    assert found.agents is not None and found.synthetic is not None
    assert set(found.agents.missing) == {"lone", "none"} == set(found.synthetic.missing)
    assert choose([rung("none", None, None)]).agents is None and choose([]).runs == 0
    zero = Rung("zero", (Repeat(0, {"output_tok_s": 0.0}, {"output_tok_s": math.nan}),))
    assert choose([zero]).agents is None and choose([zero]).synthetic is None


def test_an_unfinished_ladder_is_judged_by_the_pairs_that_all_have() -> None:
    """The machine was slower in the second pair, which one rung has not run yet."""
    fast, slow = rung("fast", 1500, 14000, (1.0, 0.5)), rung("slow", 1400, 13000, (1.0,))
    found = choose([slow, fast])
    assert found.agents is not None and found.agents.rung == "fast"
    assert found.agents.others[0].ratio.ratio == pytest.approx(1400 / 1500)


def test_kendall_against_all_orders() -> None:
    for n in range(2, 7):
        straight = np.arange(n, dtype=float)
        taus = [kendall(straight, np.array(order, dtype=float)) for order in itertools.permutations(range(n))]
        assert sum(inversions(n)) == math.factorial(n) == len(taus)
        for tau in set(taus):
            assert tau is not None
            share = sum(abs(each or 0) >= abs(tau) - 1e-9 for each in taus) / len(taus)
            assert exact_p(tau, n) == pytest.approx(share)


@given(st.lists(st.tuples(st.floats(1, 1e4), st.floats(1, 1e4)), min_size=2, max_size=7))
def test_kendall_is_bounded_and_symmetric(points: list[tuple[float, float]]) -> None:
    x, y = (np.array(each) for each in zip(*points, strict=True))
    tau, back = kendall(x, y), kendall(y, x)
    assert tau == back and (tau is None or -1 <= tau <= 1)


def test_few_rungs_mean_nothing_and_repeats_give_an_interval() -> None:
    four, repeats = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array(NOISE)
    alone = agreement(four, four)
    assert alone.tau == 1 and alone.p == pytest.approx(2 / 24) and not alone.can_tell and alone.low is None
    five = np.array([[1.0], [2.0], [3.0], [4.0], [4.01]]) * repeats
    found = agreement(five, np.vstack([five[:4], five[4:] * repeats[::-1] / repeats]))
    assert found.can_tell and found.low is not None and found.high is not None
    assert found.low < 1 and found.low <= (found.tau or 0) <= found.high
    assert agreement(np.full((3, 1), np.nan), four[:3]).tau is None
    assert agreement(four[:1], four[:1]).tau is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "is not JSON"),
        (b"[]", "no schema version"),
        (b'{"schema": 9, "rungs": []}', "schema 9"),
        (b'{"schema": 1, "rungs": [{"name": 3}]}', "rungs.0.name"),
        (b'{"schema": 1, "rungs": [{"name": "a", "repeats": [{"agents": {"output_tok_s": "x"}}]}]}', "output_tok_s"),
    ],
)
def test_a_broken_ladder_file_is_one_sentence(text: bytes, told: str) -> None:
    with pytest.raises(UsageError, match=r"ladder\.json") as caught:
        parse(text, "ladder.json")
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_repeats_that_failed_are_counted_and_left_out() -> None:
    text = b"""{"schema": 1, "engine_kind": "emulated", "rungs": [{"name": "a", "repeats": [
        {"pair": 0, "run": "runs/a-0", "agents": {"output_tok_s": 10.0}, "synthetic": null, "life": 2},
        {"pair": 1, "run": null, "agents": null, "synthetic": null, "error": "did not start"}]}]}"""
    found = parse(text, "ladder.json")
    assert found.emulated and found.runs == {"a": ("runs/a-0",)}
    assert len(found.rungs[0].repeats) == 1 and found.rungs[0].failed == 1
