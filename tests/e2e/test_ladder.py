"""`sim ladder` as a user starts it: real processes, sockets, git and tools; emulated engines for rungs."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from sim import Sim, interrupt, none_left

from simulator.cli.ladder import main
from simulator.cli.ladder_asked import Asked
from simulator.errors import UsageError

SCENARIO = """\
name: few
seed: 5
sessions: 1
refill: false
max_turns: 2
ramp_s: 0
start: beginning
profiles: {classic-xml: 1}
sizes: {medium: 1}
tools: paced
warmup: {requests: 1}
time_limit_s: 60
synthetic: {input_tok: 64, output_tok: 16, concurrency: 4, requests: 12, warmup_requests: 1}
"""
RUNGS = """\
rungs:
  - {name: baseline, engine: embedded, params: baseline, why: as it comes}
  - {name: broken, engine: embedded, params: baseline, env: {PYTHONHOME: /nowhere}}
  - {name: top, engine: embedded, params: top}
"""
BOTH = ("--only", "baseline,top")
SYNTHETIC = ("--synthetic-only",)
LONGER = "synthetic.requests=40"


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Sim:
    made = Sim(tmp_path_factory.mktemp("ladder"), tmp_path_factory.mktemp("cache"))
    made.scenario(SCENARIO, "few.yaml")
    made.scenario(RUNGS, "rungs.yaml")
    return made


def asked(out: str, *more: str) -> tuple[str, ...]:
    return ("ladder", "rungs.yaml", "--scenario", "few.yaml", "--out", out, *more)


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((folder / "ladder.json").read_bytes())
    return found


def repeats(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {rung["name"]: rung["repeats"] for rung in told(folder)["rungs"]}


def good(folder: Path) -> list[str]:
    return [each["run"] for rung in repeats(folder).values() for each in rung if not each["error"]]


def until(process: subprocess.Popen[str], true: Callable[[], bool], limit_s: float = 200.0) -> None:
    deadline = time.monotonic() + limit_s
    while not true():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, "it did not come so far"
        time.sleep(0.05)


def killed_in_the_second_run(sim: Sim, folder: Path, ask: tuple[str, ...]) -> dict[str, float]:
    """When the runs that were over then had been written."""
    process = sim.start(*ask, MARK=str(sim.folder))

    def second() -> bool:
        return (folder / "ladder.json").exists() and len(good(folder)) == 1 and _pulses(folder) > 1

    until(process, second)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    return {run: (folder / run / "summary.json").stat().st_mtime for run in good(folder)}


def _pulses(folder: Path) -> int:
    return sum((run / "pulse.jsonl").exists() for run in (folder / "runs").iterdir())


@pytest.mark.timeout(500)
def test_a_ladder_that_was_killed_goes_on_where_it_was(sim: Sim) -> None:
    folder, ask = sim.folder / "killed", asked("killed", *BOTH, "--pairs", "2")
    before = killed_in_the_second_run(sim, folder, ask)
    code, said = sim.run(*ask, MARK=str(sim.folder))
    assert code == 0, said
    assert "4 runs of 2 rungs, 1 of them done before" in said and "top-0 had not come to its end" in said, said
    assert "[EMULATED ENGINE]" in said and "sim compare-traffic killed" in said
    found = told(folder)
    assert found["complete"] and found["engine_kind"] == "emulated" and found["left_out"] == []
    assert {run: (folder / run / "summary.json").stat().st_mtime for run in before} == before, "done is done"
    assert list((folder / "aside").iterdir()), "what was cut short is kept"
    assert none_left(str(sim.folder)), "processes were left behind"


def test_pairs_share_their_work_and_turn_their_order_round(sim: Sim) -> None:
    """Of the ladder before."""
    folder = sim.folder / "killed"
    found = repeats(folder)
    assert list(found) == ["baseline", "top"]
    begun = {name: [each["started_unix_s"] for each in rung] for name, rung in found.items()}
    assert begun["baseline"][0] < begun["top"][0] < begun["top"][1] < begun["baseline"][1]
    for ours, theirs in zip(found["baseline"], found["top"], strict=True):
        manifests = [orjson.loads((folder / each["run"] / "manifest.json").read_bytes()) for each in (ours, theirs)]
        assert ours["seed"] == theirs["seed"] == manifests[0]["seed"] == 5 + ours["pair"]
        assert manifests[0]["plan_hash"] == manifests[1]["plan_hash"]
        assert manifests[0]["engine"]["config_sha256"] != manifests[1]["engine"]["config_sha256"]
        assert manifests[0]["engine"]["pid"] != manifests[1]["engine"]["pid"], "a server of its own"
        for each in (ours, theirs):
            assert each["agents"] is not None and each["synthetic"]["output_tok_s"] > 0
            assert each["certified"] == (each["client_verdict"] == "ok"), each
    code, said = sim.told("ladder", "--show", "killed")
    assert code == 0 and "EMULATED ENGINE" in said and "baseline, top | top, baseline" in said, said


def test_another_scenario_or_engine_does_not_go_on_there(sim: Sim) -> None:
    """In the folder of the ladder before."""
    given = Asked(sim.folder / "rungs.yaml", sim.folder / "few.yaml", sim.folder / "killed", only="baseline,top")
    with pytest.raises(UsageError, match=r"another scenario, seed or --set .* give another --out"):
        main(replace(given, seed=6))
    other = sim.scenario(RUNGS.replace("params: top", "params: mtp1"), "other.yaml")
    with pytest.raises(UsageError, match="its rung top is another configuration"):
        main(replace(given, file=other))


def test_a_rung_that_cannot_start_is_told_and_the_others_are_measured(sim: Sim) -> None:
    folder = sim.folder / "broken"
    code, said = sim.run(*asked("broken", *SYNTHETIC, "--only", "broken,top"), MARK=str(sim.folder))
    assert code == 3 and "Traceback" not in said, said
    found = repeats(folder)
    (failed,) = found["broken"]
    assert failed["error"].startswith("broken did not start") and failed["agents"] is None and not failed["certified"]
    assert [each["error"] for each in found["top"]] == [None] and found["top"][0]["agents"] is None
    assert told(folder)["left_out"] == ["broken-0"] and not told(folder)["complete"]


def test_ctrl_c_keeps_what_one_life_has_measured_so_far(sim: Sim) -> None:
    folder = sim.folder / "stopped"
    ask = asked("stopped", *SYNTHETIC, "--only", "top", "--pairs", "2", "--repeats-per-life", "2", "--set", LONGER)
    process = sim.start(*ask, MARK=str(sim.folder))
    until(process, lambda: (folder / "ladder.json").exists() and len(good(folder)) == 1)
    interrupt(process)
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 130 and "Traceback" not in said, said
    assert none_left(str(sim.folder)), "processes were left behind"
    so_far = len(good(folder))
    code, said = sim.run(*ask)
    assert code == 0 and f"2 runs of 1 rung, {so_far} of them done before" in said, said
    found = repeats(folder)["top"]
    assert [each["life"] for each in found] == [0] * so_far + [1] * (2 - so_far)
    assert [each["seed"] for each in found] == [5, 6]


def test_two_lanes_work_side_by_side_and_share_no_core(sim: Sim) -> None:
    folder = sim.folder / "lanes"
    ask = asked("lanes", *SYNTHETIC, *BOTH, "--lanes", "2", "--concurrency", "2,4")
    code, said = sim.run(*ask, MARK=str(sim.folder))
    assert code == 0, said
    found = repeats(folder)
    assert list(found) == ["baseline@2", "top@2", "baseline@4", "top@4"]
    assert [rung[0]["lane"] for rung in found.values()] == [0, 1, 0, 1]
    assert [rung[0]["life"] for rung in found.values()] == [0, 1, 0, 1], "all levels in one life"
    lanes = told(folder)["lanes"]
    for name, (each,) in found.items():
        manifest = orjson.loads((folder / each["run"] / "manifest.json").read_bytes())
        assert manifest["scenario"]["synthetic"]["concurrency"] == int(name[-1]) and manifest["caches_reset"]
        assert manifest["scenario"]["sessions"] == 0 and each["agents"] is None, "a level adds no traffic"
        cores = lanes[each["lane"]]["cores"]
        assert manifest["ladder"]["cores"] == cores
        assert cores is None or manifest["engine"]["cores"] == len(cores), "the engine is held to its share"
    assert "512/512" not in said and "by how many at once" in said and (folder / "report.md").exists()
    shares = [set(lane["cores"] or ()) for lane in told(folder)["lanes"]]
    assert not shares[0] & shares[1]
    assert none_left(str(sim.folder)), "processes were left behind"


def test_a_budget_ends_the_ladder_before_it_is_over(sim: Sim) -> None:
    begun = time.monotonic()
    ask = asked("budget", *SYNTHETIC, *BOTH, "--budget", "9", "--set", "synthetic.requests=100000")
    code, said = sim.run(*ask, MARK=str(sim.folder))
    assert code == 0 and time.monotonic() - begun < 150, said
    found = told(sim.folder / "budget")
    assert found["order"] == "ends-first" and found["left_out"] == ["baseline-0", "top-0"]
    assert "left out: baseline-0, top-0" in said
    assert none_left(str(sim.folder)), "processes were left behind"
