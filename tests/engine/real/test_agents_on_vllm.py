"""Agents on a real vLLM: its CPU build serving a tiny hybrid. Nothing here is about speed."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from served import Server, gone, kill
from sim import Sim, wait_for
from small_task import recorded, spec

from simulator.core.event import Reading
from simulator.core.plan import SessionPlan, Turn
from simulator.core.stream import read_stream
from simulator.drive.endpoint import Endpoint
from simulator.engine.scrape import NAMES
from simulator.store.folder import RunFolder

SCENARIO = """\
name: real_engine
seed: 23
sessions: 6
refill: false
max_turns: 3
start: beginning
ramp_s: 1
profiles: {classic-xml: 1, classic-native: 1, sdk: 1}
sizes: {medium: 1}
context_window_tok: 32000
tools: real
warmup: {requests: 2}
time_limit_s: 300
request_timeout_s: 300
synthetic: {input_tok: 128, output_tok: 32, concurrency: 8, requests: 16, warmup_requests: 2}
"""
#: names that NAMES has and this engine has not: drafts, which need a speculating one, and our own emulation's
NOT_HERE = ("vllm:spec_decode_", "embedded:")


@pytest.fixture(scope="module")
def finished(hybrid_config: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One run to its end, its engine started and stopped by it: (its folder, what it printed)."""
    sim = Sim(tmp_path_factory.mktemp("finished"), cache)
    asked = ("run", sim.scenario(SCENARIO), "--engine", hybrid_config, "--out", "out", "--plain")
    code, said = sim.run(*asked, limit_s=400)
    assert code == 0, said
    return sim.folder / "out", said


def agents(folder: Path) -> list[dict[str, Any]]:
    lines = map(orjson.loads, (folder / "records.jsonl").read_bytes().splitlines())
    return [r for r in lines if r["kind"] == "agent" and r["purpose"] == "agent"]


def test_every_request_is_answered_to_the_token(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    records = [orjson.loads(line) for line in (folder / "records.jsonl").read_bytes().splitlines()]
    assert {r["outcome"] for r in records} == {"ok"}, [r["detail"] for r in records if r["outcome"] != "ok"]
    assert len(agents(folder)) == 18 and sum(r["purpose"] == "synthetic" for r in records) == 16
    for r in records:
        assert (r["output_tok"], r["output_source"]) == (r["planned_output_tok"], "usage"), r
    tools = [orjson.loads(line) for line in (folder / "tools.jsonl").read_bytes().splitlines()]
    turns = {(tool["session"], tool["turn"]) for tool in tools}  # some of them call two tools
    assert len(turns) == 18 and all(tool["matched"] for tool in tools)


def test_the_run_says_what_the_engine_is(finished: tuple[Path, str], tiny: Path) -> None:
    folder, said = finished
    engine = RunFolder.open(folder).manifest["engine"]
    assert (engine["kind"], engine["config"], engine["model"]) == ("real", "tiny_hybrid", tiny.name)
    assert engine["version"] and engine["cache_config"]["enable_prefix_caching"] == "True"
    assert "--enable-prefix-caching" in engine["argv"] and engine["env"]["OMP_NUM_THREADS"] == "1"
    report = (folder / "report.md").read_text()
    assert engine["random_weights"] and "RANDOM WEIGHTS" in said and "random weights" in report.lower()
    assert "EMULATED" not in said + report
    first, last = engine["prompt_ids"]
    assert first < last < 8_192, "random prompts are made of what this vocabulary has"
    assert gone(engine["pid"]), "the run stops what it started"


def test_later_turns_find_earlier_ones_in_the_cache(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    later = [r for r in agents(folder) if r["turn"]]
    assert all(r["cached_tok"] is not None for r in agents(folder))
    assert sum(r["cached_tok"] > 0 for r in later) > len(later) / 2
    shares = (RunFolder.open(folder).summary or {})["agent"]["cached_share"]
    assert shares["later_turns"] > 0.5 > shares["first_turns"]


def test_the_scraper_finds_every_name(finished: tuple[Path, str]) -> None:
    samples = [orjson.loads(line) for line in (finished[0] / "engine.jsonl").read_bytes().splitlines()]
    assert samples and not any(sample["error"] for sample in samples)
    found = {name.removesuffix("_sum").removesuffix("_count") for name in samples[-1]["values"]}
    assert {name for name in NAMES if not name.startswith(NOT_HERE)} == found
    assert (RunFolder.open(finished[0]).summary or {})["engine"]["agent"]["running_mean"] > 0


def test_the_engine_counted_what_the_records_say(finished: tuple[Path, str]) -> None:
    """Over the agents' part, between the first and the last scrape."""
    folder, _ = finished
    samples = [orjson.loads(line) for line in (folder / "engine.jsonl").read_bytes().splitlines()]
    records = [orjson.loads(line) for line in (folder / "records.jsonl").read_bytes().splitlines()]
    counted = {key: samples[-1]["values"][key] - samples[0]["values"].get(key, 0.0) for key in samples[-1]["values"]}
    end_s, start_s = samples[-1]["t_s"], samples[0]["t_s"]
    inside = [r for r in records if start_s < r["t_call_s"] and r["t_end_s"] < end_s]
    crossing = [r for r in records if r not in inside]
    for name, key in (("vllm:generation_tokens_total", "output_tok"), ("vllm:prompt_tokens_total", "prompt_tok")):
        least = sum(r[key] for r in inside)
        assert least <= counted[name] <= least + sum(r[key] for r in crossing), name


def asked(plan: SessionPlan, turn: Turn, model: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """(a turn's request, which lets the engine say one thing alone: the recorded reply; that reply's message)."""
    body = orjson.loads(plan.body(turn, forced=False))
    following = plan.turns[turn.index + 1]
    reply = orjson.loads(plan.pool[following.view[len(turn.view)]])
    calls = [
        f'<tool_call>\n{{"name": "{c["function"]["name"]}", "arguments": {c["function"]["arguments"]}}}\n</tool_call>'
        for c in reply["tool_calls"]
    ]
    text = "\n".join((reply.get("content") or "", *calls))
    return {**body, "model": model, "temperature": 0, "structured_outputs": {"choice": [text]}}, reply


@pytest.mark.parametrize("profile", ["classic-native", "sdk"])
async def test_the_server_s_parser_gives_back_the_recorded_call(profile: str, hybrid: Server, tmp_path: Path) -> None:
    """Random weights held to the recorded text: the whole way of a tool call, from the server's parser, in pieces over
    the wire, to what a client reads."""
    plan = await asyncio.to_thread(recorded, tmp_path, spec(profile))
    endpoint = Endpoint(f"{hybrid.url}/v1", "none", time.monotonic)

    async def say(turn: Turn) -> tuple[Reading, dict[str, Any]]:
        body, reply = asked(plan, turn, hybrid.model)
        exchange = await endpoint.post("/chat/completions", orjson.dumps(body))
        assert exchange.status == 200, exchange.error_body
        return read_stream(exchange.bodies()), reply

    turns = [t for t in plan.turns[:-1] if t.purpose == "agent" and t.calls]
    heard = await asyncio.gather(*map(say, turns))
    await endpoint.close()
    assert len(heard) >= 8
    for reading, reply in heard:
        (call,) = reading.tool_calls
        (wanted,) = (c["function"] for c in reply["tool_calls"])
        assert (call["name"], call["arguments"]) == (wanted["name"], wanted["arguments"])
        assert reading.text.strip() == (reply.get("content") or "").strip()
        assert reading.finish == "tool_calls" and len(reading.times_s) > 5, "in pieces, as it is made"


def test_an_engine_that_is_killed_ends_the_run_in_one_sentence(hybrid_config: Path, sim: Sim) -> None:
    endless = SCENARIO.replace("refill: false\nmax_turns: 3", "refill: true\nwindow_s: 200")
    process = sim.start("run", sim.scenario(endless), "--engine", hybrid_config, "--out", "out", "--plain")
    out = sim.folder / "out"
    wait_for(out / "records.jsonl", 6, limit_s=300)
    kill(orjson.loads((out / "manifest.json").read_bytes())["engine"]["pid"])
    said, _ = process.communicate(timeout=100)
    assert process.returncode == 3, said
    last = said.strip().splitlines()[-1]
    assert last.startswith("sim: ") and "SIGKILL" in last and "out holds what came before" in last, said
    assert "Traceback" not in said
    assert {"ok", "failed"} <= {r["outcome"] for r in agents(out)}, "what was answered stays, what was open failed"
    code, again = sim.run("report", "out")
    assert code == 0 and "tok/s" in again, again
