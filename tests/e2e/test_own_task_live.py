"""Live agents on tasks of one's own: the oracle plays a solution's files, and where it has none the run says so."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from sim import Sim, lines
from test_oracle_run import hurried

from simulator.cli.tasks_new import made
from simulator.drive.sandbox import why_not

SCENARIO = """\
name: own
seed: 3
sessions: 4
refill: false
ramp_s: 0.2
profiles: {classic-xml: 1, sdk: 1}
tasks: {coding: 1}
sizes: {small: 1}
tasks_dir: mine
templates: [bare, dates]
mode: live
warmup: {requests: 1}
time_limit_s: 60
"""


@pytest.fixture
def scenario(sim: Sim) -> Path:
    for name in ("dates", "bare"):
        assert made(sim.folder / "mine" / name, False, None) == 0
    path = sim.folder / "mine" / "bare" / "task.yaml"
    path.write_text(path.read_text().replace("solution: solution", "").replace("a day short", "one day short"))
    return sim.scenario(SCENARIO)


def filler_of(unknown: int, of: int) -> str:
    who = "it gets" if unknown == 1 else "they get"
    return f"the oracle knows no solution for {unknown} of {of} sessions: {who} filler replies"


def test_each_session_is_solved_whose_solution_is_known(sim: Sim, scenario: Path, tmp_path: Path) -> None:
    more = ["--allow-unsandboxed"] if why_not() else []
    out = tmp_path / "out"
    code, said = sim.run("run", scenario, "--plain", "--engine-params", hurried(tmp_path), "--out", out, *more)
    assert code in (0, 1), said
    sessions = lines(out / "sessions.jsonl")
    unknown = sum(each["task_template"] == "bare" for each in sessions)
    assert 0 < unknown < len(sessions), "both are drawn"
    code, planned = sim.run("plan", scenario, "--solutions", tmp_path / "solutions.jsonl")
    assert code == 0 and filler_of(unknown, len(sessions)) in planned, planned
    for each in sessions:
        assert each["verified"] is (each["task_template"] == "dates"), each
        assert each["turns"] == each["end_turn"] and each["recorded_share"] is None
    filler = filler_of(unknown, len(sessions))
    assert said.index(filler) < said.index("SOLUTIONS FROM AN ORACLE")
    report = (out / "report.md").read_text()
    assert filler in report and "agrees: each session ended as its log says" in report
    assert orjson.loads((out / "manifest.json").read_bytes())["engine"]["oracle_unknown"]["sessions"] == unknown
