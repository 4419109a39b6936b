"""What a simulation must conserve, repeat and refuse."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
from plays import plan, scenario, scripts

from simulator.core.sessions import adds_up
from simulator.engine.embedded.config import load_params
from simulator.errors import UsageError
from simulator.virtual.agenda import Agenda
from simulator.virtual.pulses import pulses
from simulator.virtual.simulate import Simulated, simulate

PARAMS = load_params()
SYNTHETIC = {"input_tok": 200, "output_tok": 30, "concurrency": 8, "requests": 20}


def rows(result: Simulated) -> list[dict[str, Any]]:
    result.log.sort("run")
    return [asdict(record) | {"gaps": list(gaps), "tok": list(tok)} for record, gaps, tok in result.log.requests]


def test_the_agenda_plays_in_order_of_time_then_of_asking() -> None:
    agenda, seen = Agenda(), []
    for name, t_s in (("c", 2.0), ("a", 1.0), ("b", 1.0)):
        agenda.at(t_s, seen.append, name)
    agenda.at(1.0, lambda: agenda.at(0.5, seen.append, "past, so now"))
    agenda.run(1.5, lambda: True, lambda: False)
    assert seen == ["a", "b", "past, so now"] and agenda.now_s == 1.5
    agenda.run(float("inf"), lambda: True, lambda: False)
    assert seen[-1] == "c" and agenda.now_s == 2.0


def test_every_planned_turn_is_sent_once_and_tokens_add_up() -> None:
    plans = [plan(f"s{n:04d}", turns=3 + n) for n in range(5)]
    result = simulate(scenario(5, synthetic=SYNTHETIC), PARAMS, scripts(plans))
    sent = rows(result)
    agents = Counter((r["session"], r["turn"]) for r in sent if r["kind"] == "agent")
    assert agents == {(p.session, t.index): 1 for p in plans for t in p.turns}
    assert [r["request"] for r in sent] == list(range(len(sent)))
    assert {r["outcome"] for r in sent} == {"ok"}
    for r in sent:
        assert sum(r["tok"]) == r["output_tok"] == r["planned_output_tok"] and r["chunks"] == len(r["gaps"])
        assert r["t_due_s"] <= r["t_sent_s"] < r["t_first_s"] <= r["t_last_s"] <= r["t_end_s"]
        assert sum(r["gaps"]) == pytest.approx((r["t_last_s"] - r["t_sent_s"]) * 1e6, abs=1)
    assert sum(r["kind"] == "synthetic" for r in sent) == 20
    generated = result.log.samples[-1].values["vllm:generation_tokens_total"]
    assert generated == sum(r["output_tok"] for r in sent)
    assert len(result.log.tools) == sum(len(t.calls) for p in plans for t in p.turns)


def test_sessions_add_up_to_their_wall_and_nothing_is_claimed_to_be_verified() -> None:
    result = simulate(scenario(3), PARAMS, scripts([plan(f"s{n:04d}", think_s=1.5) for n in range(3)]))
    for s in result.log.sessions:
        assert adds_up(s) and s.verified is None and s.outcome == "completed"
        assert s.think_s == pytest.approx(3 * 1.5) and s.tool_pace_s == pytest.approx(4 * 0.75)
        assert s.tool_calls == 8 and s.edits == 4 and s.end_turn == 4
    paced = [t for t in result.log.tools if t.session == "s0000"]
    assert all(t.t_release_s - t.t_ready_s == pytest.approx(t.recorded_s) for t in paced)


def test_the_next_turn_hits_the_last_prompt_but_not_the_engine_s_own_reply() -> None:
    chosen = plan("s0000", turns=4, words=300)
    result = simulate(scenario(1), PARAMS, scripts([chosen]))
    sent = rows(result)
    assert sent[0]["cached_tok"] == 0
    for before, after in pairwise(sent):
        # the generation prompt's three tokens are not where the next message's are
        # whole pages, and one less with drafts
        assert 0 <= before["prompt_tok"] - after["cached_tok"] < 2 * PARAMS.block_size + 4


def test_a_sub_agent_s_time_is_its_parent_s_wait() -> None:
    result = simulate(scenario(1), PARAMS, scripts([plan("s0000", agents=2)]))
    branches = Counter(r["branch"] for r in rows(result))
    assert branches == {0: 4, 1: 2, 2: 3}
    (session,) = result.log.sessions
    assert session.subagent_s > 0 and adds_up(session)
    resumed = next(r for r in rows(result) if r["branch"] == 0 and r["turn"] == 2)
    assert resumed["t_due_s"] >= max(r["t_end_s"] for r in rows(result) if r["branch"])


def test_a_stream_that_the_client_closes_ends_there_and_frees_the_engine() -> None:
    result = simulate(scenario(1), PARAMS, scripts([plan("s0000", output_tok=200, stop_after_tok=30)]))
    first = rows(result)[0]
    assert first["stopped"] and first["outcome"] == "ok" and 30 <= first["output_tok"] <= 32
    assert first["cached_tok"] is None and not any(r["stopped"] for r in rows(result)[1:])


@pytest.mark.parametrize("replicas", [1, 3])
def test_the_same_seed_gives_the_same_records_on_any_number_of_processes(replicas: int) -> None:
    plans = [plan(f"s{n:04d}", output_tok=60) for n in range(6)]
    chosen = scenario(6, synthetic=SYNTHETIC, refill=True, window_s=8.0)
    results = [
        simulate(chosen, PARAMS, scripts(plans), replicas=replicas, processes=processes)
        for processes in (1, 1, replicas)
    ]
    assert rows(results[0]) == rows(results[1]) == rows(results[2])
    assert results[0].log.samples == results[2].log.samples and results[0].windows == results[2].windows
    assert pulses(results[0]) == pulses(results[2])


def test_engines_beyond_the_synthetic_requests_at_once_stay_idle() -> None:
    plans = [plan(f"s{n:04d}") for n in range(5)]
    block = SYNTHETIC | {"concurrency": 3, "requests": 10}
    sent = rows(simulate(scenario(5, synthetic=block), PARAMS, scripts(plans), replicas=5))
    synthetic = [r for r in sent if r["kind"] == "synthetic"]
    assert len({r["session"] for r in synthetic}) == len(synthetic) == 10
    assert {r["slot"] for r in synthetic} == {0, 1, 2} and {r["outcome"] for r in synthetic} == {"ok"}


def test_another_seed_draws_other_lengths_of_drafts() -> None:
    plans = [plan(f"s{n:04d}", output_tok=60) for n in range(3)]
    one, two = (rows(simulate(scenario(3, seed=seed), PARAMS, scripts(plans))) for seed in (1, 2))
    assert [r["tok"] for r in one] != [r["tok"] for r in two]


def test_the_window_opens_at_the_last_first_output_and_requests_in_flight_at_its_end_finish() -> None:
    plans = [plan(f"s{n:04d}", turns=40, tool_s=2.0, output_tok=100) for n in range(4)]
    result = simulate(scenario(4, refill=True, window_s=20.0), PARAMS, scripts(plans))
    start_s, end_s = result.windows["agent"]
    firsts = [min(r["t_first_s"] for r in rows(result) if r["slot"] == slot) for slot in range(4)]
    assert start_s == pytest.approx(max(firsts)) and end_s - start_s == pytest.approx(20.0)
    assert max(r["t_sent_s"] for r in rows(result)) <= end_s < max(r["t_end_s"] for r in rows(result)) + 1.0
    assert {s.outcome for s in result.log.sessions} == {"stopped"} and all(adds_up(s) for s in result.log.sessions)


def test_a_session_past_the_plans_plays_one_of_them_with_blocks_of_its_own() -> None:
    plans = [plan(f"s{n:04d}", turns=3, words=200) for n in range(2)]
    # a hybrid has no state where two prompts part: a model without states shares what is alike
    shape = PARAMS.hardware.model.model_copy(update={"layers": PARAMS.hardware.model.layers.replace("M", "")})
    plain = PARAMS.hardware.model_copy(update={"model": shape})
    engine = PARAMS.model_copy(update={"hardware": plain, "block_size": 64})
    result = simulate(scenario(2, refill=True, window_s=30.0), engine, scripts(plans, engine))
    assert result.reused > 2
    names = {s.session for s in result.log.sessions}
    assert len(names) == len(result.log.sessions) and "s0002" in names
    system_tok = min(r["cached_tok"] for r in rows(result) if r["turn"] == 0 and r["session"] >= "s0002")
    for r in rows(result):
        if r["turn"] == 0 and r["session"] >= "s0002" and r["outcome"] == "ok":
            assert r["cached_tok"] == system_tok > 0, "the system prompt is shared and nothing else"


def test_an_interrupt_ends_with_records_that_hold_together() -> None:
    # tools so short that somebody is in flight at any moment
    plans = [plan(f"s{n:04d}", turns=40, output_tok=300, tool_s=0.01) for n in range(4)]
    result = simulate(scenario(4, refill=True, window_s=3000.0), PARAMS, scripts(plans), watch=lambda now_s: now_s > 50)
    assert result.stopped == "interrupted" and result.end_s < 3000
    assert {r["outcome"] for r in rows(result)} == {"ok", "cancelled"}
    assert len([r for r in rows(result) if r["outcome"] == "cancelled"]) <= 4


def test_a_thousand_agents_on_thirty_engines_take_seconds() -> None:
    plans = [plan(f"s{n:04d}", turns=12, tool_s=3.0, output_tok=80) for n in range(8)]
    chosen = scenario(1000, refill=True, window_s=5.0)
    result = simulate(chosen, PARAMS, scripts(plans), replicas=30)
    assert len({r[0].slot for r in result.log.requests}) == 1000
    assert max(len(p.slots) for p in pulses(result)) == 0, "pulses stay small"


@pytest.mark.parametrize(
    ("changes", "replicas", "said"),
    [
        ({}, 0, "at least one engine"),
        ({"sessions": 30_000}, 2_000, "at most 1,024 engines"),
        ({}, 4, "more engines than the scenario's 3 sessions"),
        ({"context_window_tok": 200_000}, 1, "--set context_window_tok=131072"),
        ({"synthetic": {"input_tok": 131_000, "output_tok": 600}}, 1, "max_model_len 131072"),
        ({"sessions": 0, "synthetic": {"requests": 2}}, 3, "synthetic requests at once"),
        (
            {"arrival": {"kind": "poisson", "sessions_per_s": 1.0}, "refill": False, "window_s": 5},
            1,
            "closed loops only",
        ),
    ],
)
def test_what_cannot_be_played_is_told_in_a_sentence(changes: dict[str, Any], replicas: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        simulate(scenario(**{"sessions": 3} | changes), PARAMS, [], replicas=replicas)
