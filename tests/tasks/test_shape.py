"""The generated traffic of the main scenario looks like measured coding agents, not like a test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator import tokenizer
from simulator.cli.planning import plan
from simulator.core.plan import SessionPlan
from simulator.core.scenario import Scenario
from simulator.core.scenario_file import parse
from simulator.core.shape import Shape, Spread, shape, shared_blocks
from simulator.store.plans import PlanFolder
from simulator.tasks.mix import draw

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "32_agents.yaml"


def scenario(*overrides: str) -> Scenario:
    return parse(SCENARIO.read_text(), SCENARIO.name, overrides)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlanFolder]:
    """The first session of each of the 32 slots, whole."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    try:
        yield plan(scenario("refill=false"), "m", lambda done, expected: None)
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(scope="module")
def plans(planned: PlanFolder) -> list[SessionPlan]:
    return [planned.load(row.session) for row in planned.sessions]


@pytest.fixture(scope="module")
def found(plans: list[SessionPlan]) -> Shape:
    return shape(plans)


def between(low: float, value: float, high: float) -> bool:
    return low <= value <= high


def turns_of_all_sessions(plans: list[SessionPlan], q: float) -> float:
    """Quantile of the turns of sessions as they begin. A look into a running service finds a session in proportion to
    its length, so each counts for one over that."""
    turns = sorted(len(p.turns) for p in plans)
    total = sum(1 / n for n in turns)
    passed = 0.0
    for n in turns:
        passed += 1 / n
        if passed >= q * total:
            return n
    raise AssertionError("no sessions")


@pytest.mark.timeout(420)
def test_turns_prompts_growth_and_outputs_are_those_of_measured_sessions(
    found: Shape, plans: list[SessionPlan]
) -> None:
    spreads: dict[str, Spread] = {}
    for name in ("turns", "prompt_tok", "growth_tok", "output_tok"):
        spread = getattr(found, name)
        assert spread is not None
        spreads[name] = spread
    median, high = turns_of_all_sessions(plans, 0.5), turns_of_all_sessions(plans, 0.9)
    assert between(25, median, 60) and between(60, high, 160), spreads["turns"]
    assert between(30_000, spreads["prompt_tok"].p50, 110_000), spreads["prompt_tok"]
    growth = spreads["growth_tok"]
    assert between(400, growth.p50, 1_000) and between(2_000, growth.p90, 5_000), growth
    assert between(1_200, growth.mean, 2_200), growth
    assert between(180, spreads["output_tok"].p50, 450) and between(700, spreads["output_tok"].p90, 1_000), spreads


def test_some_sessions_cut_their_history_and_few_calls_repeat(found: Shape) -> None:
    assert found.cut_sessions >= 2
    assert found.repeat_share <= 0.10


def test_sessions_do_not_repeat_one_another(plans: list[SessionPlan]) -> None:
    assert shared_blocks(plans, tokenizer.encode) < 0.05


def test_no_prompt_is_larger_than_the_window(plans: list[SessionPlan]) -> None:
    window = scenario().context_window_tok
    assert all(t.prompt_tok + t.output_tok <= window for p in plans for t in p.turns)


def test_a_request_extends_the_one_before_byte_for_byte_except_where_the_protocol_cuts(
    plans: list[SessionPlan],
) -> None:
    for one in plans:
        previous = None
        for turn in one.turns:
            if turn.purpose != "agent":
                continue
            if previous is not None and not turn.cut:
                before, after = one.body(previous, forced=False), one.body(turn, forced=False)
                grown = before[: len(before) - len(one.tail) - 1]
                assert after.startswith(grown), f"{one.session} turn {turn.index}"
            previous = turn


def test_stationary_starts_lie_anywhere_in_sessions_and_favour_long_ones(plans: list[SessionPlan]) -> None:
    ages = [p.start_turn / len(p.turns) for p in plans]
    assert between(0.3, sum(ages) / len(ages), 0.7) and min(ages) < 0.25 and max(ages) > 0.75
    sizes = [draw(scenario(), slot, nth).size for nth in (0, 1, 2, 3) for slot in range(32)]
    assert sizes[:32].count("long") / 32 > sizes[32:].count("long") / 96


def test_drawing_depends_on_the_seed_and_on_nothing_else() -> None:
    assert draw(scenario(), 3, 2) == draw(scenario("window_s=9"), 3, 2)
    assert draw(scenario(), 3, 2) != draw(scenario("seed=8"), 3, 2)
    assert len({draw(scenario(), slot, nth).session for slot in range(32) for nth in range(5)}) == 160


def test_planning_again_gives_the_same_bytes(
    planned: PlanFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    again = plan(scenario("refill=false", "sessions=2"), "m", lambda done, expected: None)
    first = {row.session: row.digest for row in planned.sessions}
    # the number of slots decides the names of later sessions, not what the first ones hold
    assert [first[row.session] for row in again.sessions] == [row.digest for row in again.sessions]


def system_prompt(one: SessionPlan) -> bytes:
    return one.pool[one.turns[0].view[0]]


def common(a: bytes, b: bytes) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def test_the_working_directory_decides_whether_prompts_share_their_prefix(
    plans: list[SessionPlan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classic = [p for p in plans if p.profile == "classic-xml"][:2]
    assert common(*map(system_prompt, classic)) < 2_500, "each agent's own folder stands early in its prompt"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    overrides = ("refill=false", "sessions=2", "workdir=shared", "profiles={classic-xml: 1}", "sizes={medium: 1}")
    folder = plan(scenario(*overrides), "m", lambda done, expected: None)
    shared = [system_prompt(folder.load(row.session)) for row in folder.sessions]
    assert shared[0] == shared[1]
