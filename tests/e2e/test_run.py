"""`sim run` end to end: real processes, sockets, git and tools on the embedded engine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from sim import ENDLESS, SCENARIO, Sim, descendants, interrupt, lines, none_left, wait_for

from simulator.engine.embedded.config import load_params

FILES = ("manifest.json", "records.jsonl", "chunks.bin", "tools.jsonl", "sessions.jsonl", "engine.jsonl", "pulse.jsonl",
         "windows.json", "summary.json", "report.md")  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Path, str]:
    """One run to its end, looked at by several tests: (its folder, what it printed)."""
    sim = Sim(tmp_path_factory.mktemp("finished"), cache)
    secret = "sk-test-0123456789abcdef"
    code, said = sim.run("run", sim.scenario(), "--out", "out", "--label", "first", "--plain", OPENAI_API_KEY=secret)
    assert code == 0, said
    assert secret not in said
    for path in (sim.folder / "out").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path.name
    return sim.folder / "out", said


def test_a_run_leaves_its_folder_and_says_what_came_of_it(finished: tuple[Path, str]) -> None:
    folder, said = finished
    assert {name for name in FILES if not (folder / name).exists()} == set()
    for word in ("EMULATED", "TTFT", "TPOT", "turn latency", "cached share", "tok/s", "sessions", "tools"):
        assert word in said, word
    for name in ("manifest.json", "summary.json", "report.md"):
        assert "emulated" in (folder / name).read_text().lower(), name
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    assert manifest["label"] == "first" and manifest["seed"] == 5 and manifest["ended"]
    assert manifest["scenario_text"] == SCENARIO


def test_every_request_succeeded_and_every_tool_did_as_recorded(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    records = lines(folder / "records.jsonl")
    agents = [r for r in records if r["kind"] == "agent" and r["purpose"] != "warmup"]
    assert {r["outcome"] for r in records} == {"ok"}
    assert len(agents) == 6 and sum(r["kind"] == "synthetic" and r["purpose"] != "warmup" for r in records) == 24
    for r in records:
        assert r["output_tok"] == r["planned_output_tok"], "forced lengths are what the plan says"
    for r in agents:
        off = abs(r["prompt_tok"] - r["planned_prompt_tok"]) / r["planned_prompt_tok"]  # type: ignore[operator]
        assert off < 0.02, "planned prompt tokens are the engine's"
    tools = lines(folder / "tools.jsonl")
    assert tools and all(t["matched"] for t in tools), [t for t in tools if not t["matched"]]
    assert {s["outcome"] for s in lines(folder / "sessions.jsonl")} == {"completed"}


def test_a_second_turn_finds_the_first_in_the_cache(finished: tuple[Path, str]) -> None:
    agents = [r for r in lines(finished[0] / "records.jsonl") if r["kind"] == "agent" and r["purpose"] == "agent"]
    first: dict[object, dict[str, object]] = {}
    for r in agents:
        if r["session"] in first:
            before = first[r["session"]]
            # whole pages, and one less with drafts
            assert r["cached_tok"] >= before["prompt_tok"] - 2 * load_params().block_size  # type: ignore[operator]
            assert r["cached_tok"] > 0
        first.setdefault(r["session"], r)
    assert len(first) == 3


def test_report_folds_again_to_the_same_figures(finished: tuple[Path, str], sim: Sim) -> None:
    before = orjson.loads((finished[0] / "summary.json").read_bytes())
    (finished[0] / "summary.json").unlink()
    code, said = sim.told("report", finished[0])
    assert code == 0 and "tok/s" in said
    assert orjson.loads((finished[0] / "summary.json").read_bytes()) == before


def test_watch_shows_a_finished_run(finished: tuple[Path, str], sim: Sim) -> None:
    code, said = sim.run("watch", finished[0], "--plain")
    assert code == 0 and "EMULATED" in said


def test_ctrl_c_stops_and_still_reports(sim: Sim) -> None:
    process = sim.start("run", sim.scenario(ENDLESS), "--out", "out", "--plain", MARK=str(sim.folder))
    wait_for(sim.folder / "out" / "records.jsonl", 6)
    interrupt(process)
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 130, said
    assert "Traceback" not in said and "tok/s" in said
    assert (sim.folder / "out" / "report.md").exists()
    assert {s["outcome"] for s in lines(sim.folder / "out" / "sessions.jsonl")} <= {"stopped", "completed"}
    assert none_left(str(sim.folder)), "processes were left behind"


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_planning_ends_at_once_and_leaves_nothing(sim: Sim, tmp_path: Path, times: int) -> None:
    text = SCENARIO.replace("sessions: 3", "sessions: 12").replace("seed: 5", "seed: 6")
    own = Sim(tmp_path, tmp_path / "cache")
    process = own.start("run", own.scenario(text), "--out", "out", "--plain", MARK=str(tmp_path))
    assert process.stdout is not None
    while "planning" not in process.stdout.readline():
        assert process.poll() is None
    for _ in range(times):
        interrupt(process)
    said, _ = process.communicate(timeout=200)
    assert process.returncode in ((130,) if times == 1 else (130, -signal.SIGINT)), said
    assert "Traceback" not in said
    assert none_left(str(tmp_path)), descendants(str(tmp_path))
    if times == 1:
        assert "nothing was sent" in said
        assert not (tmp_path / "out").exists() and not list((tmp_path / "cache").glob("agent-sim/plans/*"))


def test_a_killed_run_leaves_a_folder_that_reports_and_no_processes(sim: Sim) -> None:
    process = sim.start("run", sim.scenario(ENDLESS), "--out", "out", "--plain", MARK=str(sim.folder))
    wait_for(sim.folder / "out" / "records.jsonl", 6)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert none_left(str(sim.folder)), descendants(str(sim.folder))
    code, said = sim.told("report", "out")
    assert code == 0, said
    assert "tok/s" in said and "Traceback" not in said
    summary = orjson.loads((sim.folder / "out" / "summary.json").read_bytes())
    assert summary["agent"] is not None
    # Of the whole run: on a busy machine the window may have opened a moment ago.
    records = lines(sim.folder / "out" / "records.jsonl")
    assert sum(r["kind"] == "agent" and r["outcome"] == "ok" for r in records) >= 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "nowhere.yaml"], 2, r"nowhere.yaml: no such scenario file"),
        (["run", "typo.yaml"], 2, r"typo.yaml:2: unknown key `sesions`; did you mean `sessions`"),
        (["run", "small.yaml", "--set", "sessions=-1"], 2, r"--set sessions: `sessions` is `-1`"),
        (["run", "small.yaml", "--endpoint", "http://127.0.0.1:9", "--plain"], 3, r":9/v1/models: no answer"),
        (["run", "small.yaml", "--endpoint", "::", "--plain"], 2, r"not an HTTP address"),
        (["run", "small.yaml", "--endpoint", "http://x", "--engine", "embedded"], 2, r"exclude each other"),
        (["run", "small.yaml", "--engine", "vllm"], 2, r"no such engine configuration; "),
        (["run", "small.yaml", "--seed", "-3"], 2, r"--seed -3"),
        (["run", "small.yaml", "--out", "full"], 2, r"full is not empty"),
        (["report", "nowhere"], 2, r"nowhere does not exist"),
        (["report", "full"], 2, r"holds no manifest.json"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_sentence(sim: Sim, arguments: list[str], code: int, said: str) -> None:
    sim.scenario()
    sim.scenario("name: a\nsesions: 3\nsynthetic: {}\n", "typo.yaml")
    (sim.folder / "full").mkdir()
    (sim.folder / "full" / "x").write_text("x")
    got, output = sim.told(*arguments)
    assert got == code, output
    assert re.search(said, output), output
    assert "Traceback" not in output and len(output.strip().splitlines()) == 1, output


def test_an_engine_that_dies_in_mid_run_is_told_in_one_sentence(sim: Sim) -> None:
    ready, told = os.pipe()
    engine = subprocess.Popen(
        [sys.executable, "-m", "simulator.engine.embedded", "--port", "0", "--ready-fd", str(told)],
        pass_fds=(told,),
        env=sim.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        os.close(told)
        port = orjson.loads(os.read(ready, 4096))["port"]
        process = sim.start("run", sim.scenario(ENDLESS), "--endpoint", f"127.0.0.1:{port}", "--out", "out", "--plain")
        wait_for(sim.folder / "out" / "records.jsonl", 6)
    finally:
        engine.kill()
        engine.wait()
        os.close(ready)
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 3, said
    assert "stopped taking connections" in said.strip().splitlines()[-1]
    assert "Traceback" not in said and "EMULATED" in said
    assert (sim.folder / "out" / "report.md").exists()
    records = lines(sim.folder / "out" / "records.jsonl")
    outcomes = {str(r["outcome"]) for r in records if r["kind"] == "agent" and r["purpose"] == "agent"}
    assert {"ok", "failed"} <= outcomes
    assert not any(r["kind"] == "synthetic" for r in records)
