"""Live agents on the embedded engine: its oracle solves their tasks; where it errs they are lost as its log says."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import yaml
from sim import Sim, lines

from simulator.engine.embedded.config import PARAMS_DIR
from simulator.store.manifest import ORACLE_LOG

SCENARIO = """\
name: oracle
seed: 3
sessions: 5
refill: false
ramp_s: 0.2
profiles: {classic-xml: 1, classic-glm: 1, classic-native: 1, compact: 1, sdk: 1}
sizes: {small: 1}
warmup: {requests: 1}
time_limit_s: 90
mode: live
"""


def hurried(folder: Path) -> Path:
    """An engine whose steps take next to no time, so that the way of the replies is all that there is."""
    hardware = yaml.safe_load((PARAMS_DIR / "h200_30b_a3b.yaml").read_text())
    hardware["gpu"] |= {"bandwidth_bytes_per_s": 1e16, "flops_per_s": 1e19}
    kept = {"experts_in_use": 1.0, "graph_tok": hardware["step"]["graph_tok"]}
    hardware["step"] = {**dict.fromkeys(hardware["step"], 0.0), **kept}
    hardware["host"] = {"base_s": 0.0002, "per_seq_s": 0.0, "per_draft_s": 0.0}
    (folder / "quick.yaml").write_text(yaml.safe_dump(hardware))
    path = folder / "engine.yaml"
    path.write_text(f"extends: {PARAMS_DIR / 'top.yaml'}\nhardware: quick.yaml\n")
    return path


@pytest.mark.slow
def test_all_clients_solve_their_tasks_and_mistakes_cost_what_the_log_says(sim: Sim, tmp_path: Path) -> None:
    scenario, engine = sim.scenario(SCENARIO), hurried(tmp_path)
    shared = ("run", scenario, "--plain", "--engine-params", engine)
    code, output = sim.run(*shared, "--out", tmp_path / "right")
    assert code == 0, output
    sessions = lines(tmp_path / "right" / "sessions.jsonl")
    assert len({each["profile"] for each in sessions}) == len(sessions) == 5
    assert all(each["verified"] and each["recorded_share"] == 1.0 for each in sessions), sessions
    assert "SOLUTIONS FROM AN ORACLE" in output

    rates = "malformed=0.15,unknown_tool=0.1,unfit_edit=0.2,no_tool=0.05,early_stop=0.3,wrong_edit=0.2"
    code, output = sim.run(*shared, "--oracle", rates, "--out", tmp_path / "wrong")
    assert code in (0, 1), output
    told = lines(tmp_path / "wrong" / ORACLE_LOG)
    lost = {each["session"] for each in told if each["fatal"]}
    sessions = lines(tmp_path / "wrong" / "sessions.jsonl")
    assert {each["session"] for each in sessions if not each["verified"]} == lost
    assert any(each["mistake"] for each in told), "somebody errs"
    manifest = orjson.loads((tmp_path / "wrong" / "manifest.json").read_bytes())
    assert manifest["engine"]["oracle"]["early_stop"] == 0.3 and "loop" not in manifest["engine"]["oracle"]
