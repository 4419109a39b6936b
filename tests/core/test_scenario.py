"""A scenario's mistakes are named with file, line, key and the nearest right spelling."""

import hashlib
from pathlib import Path

import pytest

from simulator.core.scenario import Scenario, scenario_hash
from simulator.core.scenario_file import parse
from simulator.errors import UsageError

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
AGENTS = "name: a\nsessions: 2\nwindow_s: 10\n"


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda p: p.stem)
def test_shipped_scenarios_are_valid_and_named_like_their_file(path: Path) -> None:
    assert parse(path.read_text(), path.name).name == path.stem


@pytest.mark.parametrize(
    ("text", "overrides", "said"),
    [
        ("name: a\nsesions: 3\n", [], ["f.yaml:2", "`sesions`", "did you mean `sessions`"]),
        (AGENTS.replace("2\n", "x\n", 1), [], ["f.yaml:2", "`sessions` is `x`", "integer"]),
        ("name: a\nsessions: 3\n", [], ["`window_s`", "`refill: false`"]),
        ("name: a\nsynthetic:\n  input_tok: -4\n", [], ["f.yaml:3", "`synthetic.input_tok` is `-4`", "greater than 0"]),
        ("name: a\nsynthetic:\n  outputtok: 3\n", [], ["f.yaml:3", "did you mean `output_tok`"]),
        (AGENTS + "think: sometimes\n", [], ["f.yaml:4", "none, recorded, lognormal"]),
        (AGENTS + "think: {median_s: 3, p90_s: 1}\n", [], ["f.yaml:4", "p90_s (1) is below median_s (3)"]),
        (AGENTS + "think: {median_s: 3}\n", [], ["f.yaml:4", "both `median_s` and `p90_s`"]),
        (AGENTS + "profiles: {clasic-xml: 1}\n", [], ["f.yaml:4", "did you mean `classic-xml`"]),
        (AGENTS + "profiles: {}\n", [], ["f.yaml:4", "`profiles`"]),
        (AGENTS + "mode: alive\n", [], ["f.yaml:4", "did you mean `live`"]),
        (AGENTS + "live: {max_turns: 9}\n", [], ["goes with `mode: live`"]),
        (AGENTS + "mode: live\nlive: {max_turn: 9}\n", [], ["f.yaml:5", "did you mean `max_turns`"]),
        (AGENTS + "mode: live\noutput: {forced: true}\n", [], ["`output.forced: false`"]),
        (AGENTS + "mode: live\nstart: stationary\n", [], ["`start: beginning`"]),
        (AGENTS + "mode: live\ntools: paced\n", [], ["`tools: real`"]),
        (AGENTS + "mode: live\nmax_turns: 3\n", [], ["`live.max_turns`"]),
        ("name: a\nsynthetic: {}\nmode: live\n", [], ["`sessions` above 0"]),
        (AGENTS + "arrival: {kind: rate}\n", [], ["f.yaml:4", "closed, poisson, constant, trace"]),
        (AGENTS + "arrival: {kind: poisson}\n", [], ["f.yaml:4", "needs its rate, `sessions_per_s`"]),
        (AGENTS + "arrival: {sessions_per_s: 1}\n", [], ["f.yaml:4", "goes with `kind: poisson`"]),
        (AGENTS + "arrival: {kind: poisson, sessions_per_sec: 1}\n", [], ["f.yaml:4", "did you mean `sessions_per_s`"]),
        (AGENTS + "arrival: {kind: trace}\n", [], ["f.yaml:4", "`times_s`", "`file`"]),
        (AGENTS + "arrival: {kind: trace, times_s: [3, 1]}\n", [], ["f.yaml:4", "arrival 2", "1 s, is before"]),
        (AGENTS + "arrival: {kind: constant, sessions_per_s: 1, scale: 2}\n", [], ["f.yaml:4", "`scale` goes with"]),
        (AGENTS + "arrival: {kind: constant, sessions_per_s: 1, file: x}\n", [], ["f.yaml:4", "`file` goes with"]),
        (AGENTS + "arrival: {total: 4}\n", [], ["f.yaml:4", "`total` goes with an open loop"]),
        (
            AGENTS + "arrival: {kind: poisson, sessions_per_s: 1, session_starts_per_s: 2}\n",
            [],
            ["f.yaml:4", "would bend"],
        ),
        ("name: a\nsessions: 3\narrival: {kind: poisson, sessions_per_s: 1}\n", [], ["`window_s`", "`arrival.total`"]),
        ("name: a\nsynthetic: {}\narrival: {kind: poisson, sessions_per_s: 1}\n", [], ["`sessions`", "places"]),
        (
            "name: a\nsynthetic:\n  arrival: {kind: constant, request_per_s: 1}\n",
            [],
            ["f.yaml:3", "did you mean `requests_per_s`"],
        ),
        (AGENTS + "tasks: {coding: 0}\n", [], ["f.yaml:4", "`tasks.coding` is `0`"]),
        (AGENTS + "name: b\n", [], ["f.yaml:4", "given twice"]),
        ("- a\n", [], ["f.yaml", "mapping"]),
        ("a: [\n", [], ["f.yaml:2", "not valid YAML"]),
        ("name: a\n", [], ["nothing to do"]),
        ("name: a\nx: &x 1\ny: *x\n", [], ["f.yaml:3", "alias"]),
        ("a: &a [*a]\n", [], ["f.yaml:1", "alias"]),
        ("[" * 3000, [], ["f.yaml"]),
        ("name: 2020-13-45\n", [], ["f.yaml", "cannot read"]),
        ("name: !!int abc\n", [], ["f.yaml", "cannot read"]),
        ("x" * 200_000, [], ["f.yaml", "200,000 characters"]),
        (AGENTS.replace("10", ".inf"), [], ["f.yaml:3", "`window_s`"]),
        ("name: a\nsynthetic: {requests: 100000000000}\n", [], ["f.yaml:2", "200000"]),
        ("name: a\nsynthetic: {}\n", ["seed=!!int abc"], ["--set seed", "not a valid YAML value"]),
        ("name: a b\nsynthetic: {}\n", [], ["f.yaml:1", "`name` is `a b`"]),
        ("name: a\nsynthetic: {}\n", ["synthetic.requests=0"], ["--set synthetic.requests", "greater than 0"]),
        ("name: a\nsynthetic: {}\n", ["synthetic.request=4"], ["--set synthetic.request", "`requests`"]),
        ("name: a\nsynthetic: {}\n", ["seed"], ["--set seed", "key=value"]),
        ("name: a\nsynthetic: {}\n", ["name.x=1"], ["--set name.x=1", "single value"]),
        ("name: a\nsynthetic: {}\n", ["seed=["], ["--set seed=[", "not a valid YAML value"]),
    ],
)
def test_mistakes_are_named(text: str, overrides: list[str], said: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, "f.yaml", overrides)
    for part in said:
        assert part in str(caught.value)
    assert "function-" not in str(caught.value) and "pydantic" not in str(caught.value)


def test_every_mistake_is_listed_once() -> None:
    with pytest.raises(UsageError) as caught:
        parse("name: a\nsesions: 3\nsynthetic:\n  input_tok: 0\n", "f.yaml")
    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == ["f.yaml:4", "f.yaml:2"]


def test_overrides_reach_into_blocks_and_make_them() -> None:
    scenario = parse(AGENTS, "f", ["synthetic.requests=5", "synthetic.output_tok=7", "think=recorded", "slo.ttft_s=2"])
    assert scenario.synthetic is not None
    assert (scenario.synthetic.requests, scenario.synthetic.output_tok) == (5, 7)
    assert scenario.think.kind == "recorded" and scenario.slo.ttft_s == 2


def test_an_empty_block_stands_for_its_defaults() -> None:
    assert (
        parse("name: a\nsynthetic: {}\n", "f").synthetic == parse("name: a\nsynthetic: {requests: 768}", "f").synthetic
    )


def test_the_hash_follows_the_work_and_not_the_name() -> None:
    one = scenario_hash(parse(AGENTS, "f"))
    assert one == scenario_hash(parse(AGENTS.replace("name: a", "name: b") + "endpoint: {url: 'http://x/v1'}", "f"))
    assert one != scenario_hash(parse(AGENTS, "f", ["seed=2"]))


def test_synthetic_concurrency_is_256_in_a_closed_loop_and_only_a_cap_in_an_open_one() -> None:
    opened = "name: a\nsynthetic: {arrival: {kind: poisson, requests_per_s: 20}}\n"
    for text, concurrency in (
        ("name: a\nsynthetic: {}\n", 256),
        ("name: a\nsynthetic: {arrival: {kind: closed}}\n", 256),
        (opened, None),
        (opened.replace("}}", "}, concurrency: 9}"), 9),
    ):
        block = parse(text, "f").synthetic
        assert block is not None and block.concurrency == concurrency
        assert type(block).model_validate(block.model_dump()) == block


def test_a_live_scenario_needs_only_its_mode() -> None:
    live = parse(AGENTS + "mode: live\n", "f.yaml")
    assert (live.output.forced, live.start, live.tools) == (False, "beginning", "real")
    assert live.live is not None and live.live.max_turns == 100
    assert parse(AGENTS, "f.yaml", ["mode=live", "live.max_turns=7"]).live.max_turns == 7  # type: ignore[union-attr]
    again = Scenario.model_validate(live.model_dump())
    assert again == live, "what a run's manifest holds can be read back"


def test_the_hash_of_a_replay_knows_nothing_of_live_sessions() -> None:
    old = parse(AGENTS, "f.yaml")
    text = old.model_dump_json(exclude={"name", "endpoint", "drain_s", "live", "tasks_dir", "templates", "trace"})
    assert scenario_hash(old) == hashlib.sha256(text.encode()).hexdigest()
    live, other = (parse(AGENTS + f"mode: live\nlive: {{max_turns: {n}}}\n", "f.yaml") for n in (7, 8))
    assert len({scenario_hash(old), scenario_hash(live), scenario_hash(other)}) == 3
