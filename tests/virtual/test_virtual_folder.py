"""`sim run --virtual` as a user starts it, and the folder that it leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from plays import plan, scenario, scripts

from simulator.cli.report import write_report
from simulator.cli.run import Options, Virtual
from simulator.cli.run import main as run
from simulator.engine.embedded.config import load_params
from simulator.errors import UsageError
from simulator.store.folder import RunFolder
from simulator.virtual.folder import write
from simulator.virtual.simulate import simulate

ROOT = Path(__file__).resolve().parents[2]
SYNTHETIC = """\
name: fixed
seed: 5
time_limit_s: 100000
synthetic: {input_tok: 128, output_tok: 64, concurrency: 16, requests: 64}
"""
ENGINE = {"kind": "emulated", "virtual": True, "model": "m"}


def start(folder: Path, *arguments: str, text: str = SYNTHETIC) -> subprocess.Popen[str]:
    (folder / "fixed.yaml").write_text(text)
    return subprocess.Popen(
        [sys.executable, "-m", "simulator.cli.main", "run", "fixed.yaml", "--virtual", "--plain", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def agents(folder: Path, seed: int = 1) -> dict[str, Any]:
    """A small run's folder, written and folded; its summary."""
    plans = [plan(f"s{n:04d}", turns=5, think_s=0.2) for n in range(3)]
    chosen = scenario(3, seed=seed, refill=True, window_s=10.0, slo={"ttft_s": 5.0})
    writer = RunFolder.create(folder, {"engine": ENGINE, "scenario_name": "played", "slo": {"ttft_s": 5.0}})
    write(simulate(chosen, load_params(), scripts(plans)), writer)
    writer.finish({"stopped": ""})
    write_report(folder, show=False)
    found: dict[str, Any] = orjson.loads((folder / "summary.json").read_bytes())
    return found


def test_a_folder_of_agents_folds_is_marked_and_says_nothing_of_a_client(tmp_path: Path) -> None:
    summary = agents(tmp_path / "run")
    agent = summary["agent"]
    assert agent["window"]["steady"] and agent["window"]["length_s"] == pytest.approx(10.0)
    assert agent["requests"]["ok"] == agent["requests"]["sent"] > 20 and agent["goodput"]["share"] == 1.0
    assert agent["wall"]["not_adding_up"] == 0 and summary["engine"]["agent"]["acceptance_length"] > 1
    assert agent["token_counts"]["continuous"] == agent["requests"]["ok"]
    assert agent["sessions"]["verified"] == agent["sessions"]["refuted"] == 0
    assert summary["client"]["verdict"] == "virtual: no client"
    assert not [w for w in summary["warnings"] if w["code"].startswith("client")]
    report = (tmp_path / "run" / "report.md").read_text()
    assert "EMULATED ENGINE, VIRTUAL TIME" in report.splitlines()[0] and "virtual: no client" in report
    for name in ("records", "tools", "sessions", "pulse", "engine"):
        assert all(each["engine"] == "EMULATED" for each in lines(tmp_path / "run" / f"{name}.jsonl")), name
    assert all(each["slots"] for each in lines(tmp_path / "run" / "pulse.jsonl")[5:])


def test_the_same_seed_leaves_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        agents(tmp_path / name / "run")
    agents(tmp_path / "c" / "run", seed=2)
    names = sorted(p.name for p in (tmp_path / "a" / "run").iterdir() if p.name not in ("manifest.json", "report.md"))
    assert len(names) >= 8
    same = {n: [(tmp_path / k / "run" / n).read_bytes() == (tmp_path / "a" / "run" / n).read_bytes() for k in "bc"]
            for n in names}  # fmt: skip
    assert all(b for b, _c in same.values()), same
    assert not same["records.jsonl"][1]


@pytest.mark.parametrize("processes", [1, 3])
def test_records_that_wait_on_disk_leave_the_same_bytes_as_those_in_memory(tmp_path: Path, processes: int) -> None:
    plans = [plan(f"s{n:04d}", turns=5, think_s=0.2, agents=2) for n in range(6)]
    block = {"input_tok": 100, "output_tok": 20, "concurrency": 6, "requests": 12}
    chosen = scenario(6, refill=True, window_s=10.0, synthetic=block)
    (tmp_path / "spool").mkdir()
    for name, spool in (("held", None), ("spooled", tmp_path / "spool")):
        writer = RunFolder.create(tmp_path / name / "run", {"engine": ENGINE})
        result = simulate(chosen, load_params(), scripts(plans), replicas=3, processes=processes, spool=spool)
        assert bool(result.log.requests) == bool(result.log.tools) == (spool is None)
        write(result, writer)
        writer.finish({"stopped": ""})
    names = sorted(p.name for p in (tmp_path / "held" / "run").iterdir() if p.name != "manifest.json")
    assert {"chunks.bin", "pulse.jsonl", "records.jsonl", "sessions.jsonl", "tools.jsonl"} <= set(names)
    for name in names:
        assert (tmp_path / "held/run" / name).read_bytes() == (tmp_path / "spooled/run" / name).read_bytes(), name
    requests = [each["request"] for each in lines(tmp_path / "spooled/run/records.jsonl")]
    assert requests == list(range(len(requests))) and len(requests) > 50


def test_a_virtual_run_from_the_command_line(tmp_path: Path) -> None:
    process = start(tmp_path, "--out", "out", "--replicas", "2")
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 0, said
    assert "EMULATED ENGINE, VIRTUAL TIME" in said and "virtual: no client" in said and "Traceback" not in said
    manifest = orjson.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["engine"]["kind"] == "emulated" and manifest["engine"]["virtual"] is True
    assert manifest["engine"]["replicas"] == 2 and manifest["ended"] and manifest["stopped"] == ""
    records = lines(tmp_path / "out" / "records.jsonl")
    assert len(records) == 64 and {r["outcome"] for r in records} == {"ok"}
    assert len({r["session"] for r in records}) == 64 and len({r["slot"] for r in records}) == 16
    assert not [p.name for p in (tmp_path / "out").iterdir() if p.name.startswith(".")], "nothing is left of the spool"


def test_ctrl_c_ends_with_130_and_a_folder_that_reports(tmp_path: Path) -> None:
    process = start(tmp_path, "--out", "out", text=SYNTHETIC.replace("requests: 64", "requests: 200000"))
    deadline = time.monotonic() + 200
    while not (tmp_path / "out" / "manifest.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 130, said
    assert "Traceback" not in said and "tok/s" in said
    records = lines(tmp_path / "out" / "records.jsonl")
    assert records and {r["outcome"] for r in records} == {"ok", "cancelled"}
    assert orjson.loads((tmp_path / "out" / "manifest.json").read_bytes())["stopped"] == "interrupted"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_to_all_processes_while_planning_is_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text("name: a\nsessions: 40\nrefill: false\nwindow_s: null\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "simulator.cli.main", "run", "agents.yaml", "--virtual", "--plain", "--out", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 200
    while not list(tmp_path.glob("cache/agent-sim/plans/*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.7)  # workers start
    os.killpg(process.pid, getattr(signal, name))
    said, _ = process.communicate(timeout=200)
    before = ("planning sessions", "is left out, for it needs")  # the latter on machines that lack a program
    told = [line for line in said.splitlines() if line and not any(each in line for each in before)]
    assert (process.returncode, told) == (130, ["sim: interrupted while planning; nothing was written"]), said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"endpoint": "http://127.0.0.1:9"}, "--virtual and --endpoint exclude each other"),
        ({"keep": True}, "--virtual and --keep exclude each other"),
        ({"virtual": Virtual(Path("none.yaml"), 1)}, "none.yaml: cannot be read"),
        ({"virtual": Virtual(None, 0)}, "at least one engine"),
        ({"overrides": ("synthetic.arrival={kind: poisson, requests_per_s: 1}",)}, "closed loops only"),
        ({"scenario": ROOT / "scenarios" / "open_loop.yaml"}, "closed loops only"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_no_folder(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    (tmp_path / "fixed.yaml").write_text(SYNTHETIC)
    options = Options(tmp_path / "fixed.yaml", None, None, None, tmp_path / "out", None, "", True, False, ())
    with pytest.raises(UsageError, match=said):
        run(replace(options, **({"virtual": Virtual(None, 1)} | changes)))
    assert not (tmp_path / "out").exists()
