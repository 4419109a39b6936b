"""Native profiles, plan mode, sub-agents and closed streams, planned and then run on the embedded engine."""

from __future__ import annotations

from pathlib import Path

from sim import Sim, lines

SCENARIO = """\
name: clients
seed: 6
sessions: 3
refill: false
max_turns: 10
start: beginning
ramp_s: 0.1
profiles: {classic-native: 1, compact: 1, sdk: 1}
tasks: {finance: 1}
sizes: {medium: 1}
plan_mode: 1
subagents: 1
parallel_tool_calls: false
tools: real
warmup: {requests: 1}
time_limit_s: 90
"""


def test_what_the_plan_shows_is_what_the_run_sends(tmp_path: Path, sim: Sim) -> None:
    code, shown = sim.run("plan", sim.scenario(SCENARIO), "--seed", "7")
    assert code == 0, shown
    assert "clients, seed 7" in shown and "1 classic-native, 1 compact, 1 sdk" in shown
    for part in ("3 sessions begin in plan mode", "sub-agents make", "streams are closed by the client"):
        assert part in shown
    plan_hash = shown.rsplit("plan hash ", 1)[1].strip()

    code, said = sim.run("run", sim.scenario(SCENARIO), "--seed", "7", "--plain", "--out", tmp_path / "run")
    assert code == 0, said
    assert plan_hash in (tmp_path / "run" / "manifest.json").read_text(), "the same plan, from the cache"
    requests = [r for r in lines(tmp_path / "run" / "records.jsonl") if r["purpose"] in ("agent", "subagent")]
    assert {r["outcome"] for r in requests} == {"ok"}
    counted = [r for r in requests if r["prompt_tok"] is not None]
    assert all(r["prompt_tok"] == r["planned_prompt_tok"] for r in counted), "the engine counts what was planned"
    assert {r["branch"] > 0 for r in requests if r["purpose"] == "subagent"} == {True}
    stopped = [r for r in requests if r["stopped"]]
    assert stopped and all(r["output_tok"] < r["planned_output_tok"] for r in stopped)
    assert all(call["matched"] for call in lines(tmp_path / "run" / "tools.jsonl"))
    sessions = lines(tmp_path / "run" / "sessions.jsonl")
    assert {s["profile"] for s in sessions} == {"classic-native", "compact", "sdk"}
    assert all(s["outcome"] == "completed" and s["subagent_s"] > 0 for s in sessions)
