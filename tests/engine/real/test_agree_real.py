"""`sim agree` between two lives of a real small model on the CPU: an engine asked twice agrees with itself to
the last token, and another precision is held against it. So few tokens prove the plumbing and tell of no precision."""

from __future__ import annotations

import json
from pathlib import Path

import served
from sim import Sim

SCENARIO = """\
name: precision
seed: 3
sessions: 2
refill: false
max_turns: 2
start: beginning
ramp_s: 0
profiles: {compact: 1}
tasks: {finance: 1}
sizes: {small: 1}
context_window_tok: 16000
request_timeout_s: 300
"""
TURNS, MAX_TOK = 3, 24


def test_the_same_twice_agrees_and_two_precisions_are_compared(venv: Path, smollm2: Path, tmp_path: Path) -> None:
    env = {"OMP_NUM_THREADS": 2, "VLLM_ALLOW_LONG_MAX_MODEL_LEN": 1}
    args = {"max-model-len": 16_384, "max-num-seqs": 2}
    configs = [
        served.config_file(tmp_path / f"{dtype}.yaml", venv, smollm2, {**args, "dtype": dtype}, env)
        for dtype in ("float32", "bfloat16")
    ]
    sim = Sim(tmp_path, tmp_path / "cache")
    asked = ("--scenario", sim.scenario(SCENARIO), "--turns", str(TURNS), "--max-tokens", str(MAX_TOK), "--twice")
    code, said = sim.run("agree", *configs, *asked, "--out", "out", limit_s=440)
    assert code == 0 and "RANDOM WEIGHTS" not in said and "EMULATED" not in said, said
    found = json.loads((tmp_path / "out" / "agreement.json").read_text())
    assert found["tokens"] == "ids" and all(found["forgot"].values())
    again, apart = found["compared"]["aa"], found["compared"]["ab"]
    assert again["replies"]["good"] == again["replies"]["of"] == TURNS and again["divergence"]["diverged"] == 0
    assert apart["failed"] == 0 and apart["replies"]["of"] == TURNS
    assert apart["divergence"]["table"][0]["share"] > 0, "the first token is seldom a close choice"
    assert apart["divergence"]["tok"] <= again["divergence"]["tok"]
