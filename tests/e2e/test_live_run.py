"""`sim run` of a live scenario on the embedded engine and its oracle, as a user has it; and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest
from sim import Sim, lines

from simulator.drive.sandbox import why_not

LIVE = """\
name: small_live
seed: 3
sessions: 2
refill: false
ramp_s: 0.2
profiles: {classic-xml: 1, sdk: 1}
tasks: {coding: 1}
sizes: {small: 1}
mode: live
warmup: {requests: 1}
time_limit_s: 100
"""
NO_SANDBOX = why_not()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[int, str, Path]:
    """One run for all: (exit code, what it said, its folder)."""
    folder = tmp_path_factory.mktemp("live")
    sim = Sim(folder, cache)
    more = ["--allow-unsandboxed"] if NO_SANDBOX else []
    code, said = sim.run("run", sim.scenario(LIVE), "--plain", "--out", "out", "--engine-params", "top", *more)
    return code, said, folder / "out"


def test_both_tasks_are_solved_by_what_the_model_says(run: tuple[int, str, Path]) -> None:
    code, said, folder = run
    assert code == 0, said
    assert (
        "solved     2 of 2 tasks (100 %, 95 % 34.2..100); " in said
        and " solved an hour; " in said
        and "recorded solution" not in said
    )
    manifest, summary = (orjson.loads((folder / name).read_bytes()) for name in ("manifest.json", "summary.json"))
    assert (manifest["mode"], summary["mode"]) == ("live", "live")
    assert manifest["sandboxed"] is not bool(NO_SANDBOX)
    assert summary["agent"]["live"]["on_path"] == 2 and summary["agent"]["live"]["share"] == 1.0
    sessions = lines(folder / "sessions.jsonl")
    assert {s["profile"] for s in sessions} == {"classic-xml", "sdk"}
    for session in sessions:
        assert (session["verified"], session["failure_class"], session["recorded_share"]) == (True, "", 1.0)
        turns = [r["turn"] for r in lines(folder / "records.jsonl") if r["session"] == session["session"]]
        assert turns == list(range(int(str(session["end_turn"])))), "every reply is a record"
    assert "## Tasks solved" in (folder / "report.md").read_text()


def test_a_live_run_and_a_replay_are_never_in_one_table(run: tuple[int, str, Path], sim: Sim) -> None:
    folder = run[2]
    other = sim.folder / "replay"
    other.mkdir()
    for name in ("records.jsonl", "sessions.jsonl", "tools.jsonl", "pulse.jsonl", "chunks.bin", "engine.jsonl"):
        (other / name).write_bytes((folder / name).read_bytes())
    records = (other / "records.jsonl").read_bytes()
    (other / "records.jsonl").write_bytes(records.replace(b'"t_due_s":', b'"t_due_s": ', 1))  # no copy by its bytes
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    (other / "manifest.json").write_bytes(orjson.dumps({**manifest, "mode": "replay", "t0_unix_s": 1.0}))
    for verb in ("report", "diff", "why"):
        code, said = sim.told(verb, folder, other)
        assert code == 4 and "live" in said and "replay" in said, (verb, said)
        assert "Traceback" not in said
    code, said = sim.told("diff", folder, other, "--allow", "mode")
    assert code == 2 and "--allow mode" in said


def test_without_a_sandbox_commands_of_a_model_are_refused(sim: Sim) -> None:
    (sim.folder / "bin").mkdir()
    (sim.folder / "bin" / "git").symlink_to(str(shutil.which("git")))
    code, said = sim.told("run", sim.scenario(LIVE), "--plain", PATH=str(sim.folder / "bin"))
    assert code == 2 and "--allow-unsandboxed" in said and "bwrap" in said
    assert not (sim.folder / "reports").exists(), "nothing was begun"


@pytest.mark.parametrize("asked", [("run", "--virtual"), ("whatif", "--engines", "baseline")])
def test_where_no_model_answers_live_is_refused(asked: tuple[str, ...], sim: Sim) -> None:
    code, said = sim.told(asked[0], sim.scenario(LIVE), *asked[1:])
    assert code == 2 and "`mode: live`" in said and "--set mode=replay" in said, said
