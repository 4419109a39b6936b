"""A real small model on a real vLLM: replies are text that means something, and agents get along with it."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
import served
from sim import Sim

from simulator.store.folder import RunFolder

#: the model was trained for 8,192 tokens; agents believe in 16,000 at least, and stay below with this task
TRAINED_TOK = 8_192
SCENARIO = """\
name: real_weights
seed: 3
sessions: 2
refill: false
max_turns: 2
start: beginning
ramp_s: 0
profiles: {compact: 1}
tasks: {finance: 1}
templates: [finance_yearend]
sizes: {medium: 1}
context_window_tok: 16000
tools: real
warmup: {requests: 1}
request_timeout_s: 300
"""
#: and what the answer has in it
QUESTIONS = (
    ("What is the capital of France? Answer in one sentence.", r"\bparis\b"),
    ("What do bees make? Answer in one sentence.", r"\bhoney\b"),
    ("How many days does a week have? Answer in one sentence.", r"\b(7|seven)\b"),
    ("Name the largest ocean on Earth.", r"\bpacific\b"),
)


@pytest.fixture(scope="module")
def server(venv: Path, smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[served.Server]:
    path = tmp_path_factory.mktemp("config") / "smollm2.yaml"
    env = {"OMP_NUM_THREADS": 2, "VLLM_ALLOW_LONG_MAX_MODEL_LEN": 1}
    config = served.config_file(path, venv, smollm2, {"max-model-len": 16_384, "max-num-seqs": 4}, env)
    with served.serving(config, smollm2.name) as server:
        yield server


def ask(server: served.Server, question: str) -> str:
    messages = [{"role": "user", "content": question}]
    body = {"model": server.model, "messages": messages, "temperature": 0, "max_tokens": 24}
    request = urllib.request.Request(
        f"{server.url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=200) as answer:
        said: str = json.load(answer)["choices"][0]["message"]["content"]
    return said


def test_it_knows_what_a_small_model_knows(server: served.Server) -> None:
    replies = [(ask(server, question), wanted) for question, wanted in QUESTIONS]
    right = [said for said, wanted in replies if re.search(wanted, said.lower())]
    assert len(right) >= 3, replies
    assert "RANDOM WEIGHTS" not in server.said


def test_agents_work_with_it(server: served.Server, tmp_path: Path) -> None:
    sim = Sim(tmp_path, tmp_path / "cache")
    asked = ("run", sim.scenario(SCENARIO), "--endpoint", server.url, "--out", "out", "--plain")
    code, said = sim.run(*asked, limit_s=440)
    assert code == 0 and "RANDOM WEIGHTS" not in said and "EMULATED" not in said, said
    assert RunFolder.open(sim.folder / "out").manifest["engine"]["kind"] == "real"
    lines = (sim.folder / "out" / "records.jsonl").read_bytes().splitlines()
    records = [r for r in map(orjson.loads, lines) if r["purpose"] == "agent"]
    assert [r["turn"] for r in records].count(0) == [r["turn"] for r in records].count(1) == 2
    for r in records:
        assert (r["outcome"], r["output_tok"]) == ("ok", r["planned_output_tok"]), r
        assert r["prompt_tok"] + r["output_tok"] < TRAINED_TOK
        assert (r["cached_tok"] > r["prompt_tok"] / 2) == (r["turn"] == 1)
