"""`sim run --procs 2`: the same work on one clock into one folder, and no process left however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import orjson
import pytest
from sim import ENDLESS, Sim, descendants, interrupt, lines, none_left, wait_for

from simulator.core.summary import summarise
from simulator.store.folder import RunFolder
from simulator.view.feed import Feed
from simulator.view.state import LiveState


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Path, Path]:
    """The folders of one scenario's runs in one and in two processes."""
    sim = Sim(tmp_path_factory.mktemp("both"), cache)
    for name, procs in (("one", "1"), ("two", "2")):
        code, said = sim.run("run", sim.scenario(), "--procs", procs, "--out", name, "--plain")
        assert code == 0, said
        assert "Traceback" not in said and said.startswith(f"{procs} client process")
        assert not (sim.folder / name / "parts").exists()
    return sim.folder / "one", sim.folder / "two"


def test_two_processes_do_the_work_of_one(both: tuple[Path, Path]) -> None:
    def work(folder: Path, name: str, *keys: str) -> list[list[object]]:
        return sorted([row[key] for key in keys] for row in lines(folder / name))

    one, two = (orjson.loads((folder / "manifest.json").read_bytes()) for folder in both)
    assert one["plan_hash"] == two["plan_hash"] != "" and one["scenario_hash"] == two["scenario_hash"]
    assert (one["client"]["processes"], two["client"]["processes"]) == (1, 2)
    for name, keys in (
        ("records.jsonl", ("kind", "session", "turn", "purpose", "slot", "prompt_tok", "output_tok", "outcome")),
        ("tools.jsonl", ("session", "slot", "turn", "call", "tool", "result_chars", "matched", "difference")),
        ("sessions.jsonl", ("session", "slot", "start_turn", "end_turn", "outcome", "tool_calls", "diff_stat")),
    ):
        # Synthetic requests go to whichever place of their process is free; agents' slots are theirs.
        chosen = keys if name != "records.jsonl" else tuple(key for key in keys if key != "slot")
        assert work(both[0], name, *chosen) == work(both[1], name, *chosen), name
    assert {p.name for p in (both[0] / "diffs").iterdir()} == {p.name for p in (both[1] / "diffs").iterdir()}


def test_requests_are_numbered_in_the_order_of_their_calls(both: tuple[Path, Path]) -> None:
    for folder in both:
        called = sorted(lines(folder / "records.jsonl"), key=lambda row: row["t_call_s"])  # type: ignore[arg-type,return-value]
        assert [row["request"] for row in called] == list(range(len(called)))


def test_every_request_finds_its_chunks_in_the_merged_file(both: tuple[Path, Path]) -> None:
    run = RunFolder.open(both[1])
    data = run.data()
    assert not data.damage
    raw = (both[1] / "chunks.bin").read_bytes()
    ends = []
    for row in lines(both[1] / "records.jsonl"):
        at, n = int(row["chunks_at"]), int(row["chunks"])  # type: ignore[call-overload]
        deltas = np.frombuffer(raw, "<u4", n, at)
        tokens = np.frombuffer(raw, "<u2", n, at + 4 * n)
        ends.append((at, at + 6 * n))
        assert tokens.sum() == row["output_tok"]
        assert deltas.sum() / 1e6 == pytest.approx(row["t_last_s"] - row["t_sent_s"], abs=1e-5)  # type: ignore[operator]
    ends.sort()
    assert [end for _, end in ends] == [at for at, _ in ends[1:]] + [len(raw)], "no gap and no overlap"


def test_synthetic_traffic_is_shared_exactly(both: tuple[Path, Path]) -> None:
    rows = [r for r in lines(both[1] / "records.jsonl") if r["kind"] == "synthetic" and r["purpose"] == "synthetic"]
    assert sorted(str(r["session"]) for r in rows) == sorted(f"syn{n}" for n in range(24))
    by_place = {int(r["slot"]) % 2: [s for s in rows if int(s["slot"]) % 2 == int(r["slot"]) % 2] for r in rows}  # type: ignore[call-overload]
    assert {k: len(v) for k, v in by_place.items()} == {0: 12, 1: 12}
    edges = sorted([(r["t_call_s"], 1) for r in rows] + [(r["t_end_s"], -1) for r in rows])  # type: ignore[type-var]
    open_ = np.cumsum([step for _, step in edges])
    assert open_.max() == 8
    window = orjson.loads((both[1] / "windows.json").read_bytes())["synthetic"]
    assert window["start_s"] <= min(r["t_call_s"] for r in rows)  # type: ignore[type-var]
    assert window["end_s"] >= max(r["t_end_s"] for r in rows)  # type: ignore[type-var]


def test_pulses_are_those_of_one_client(both: tuple[Path, Path]) -> None:
    one, two = (lines(folder / "pulse.jsonl") for folder in both)
    for pulses in (one, two):
        times = [p["t_s"] for p in pulses]
        assert times == sorted(times) and pulses[-1]["stage"] == "done"  # type: ignore[type-var]
        assert pulses[-1]["requests_done"] == 24 and pulses[-1]["kind"] == "synthetic"
        assert max(len(p["slots"]) for p in pulses) == 3  # type: ignore[arg-type]
        stages = [p["stage"] for n, p in enumerate(pulses) if n == 0 or p["stage"] != pulses[n - 1]["stage"]]
        assert [s for s in stages if s in ("window", "synthetic", "done")] == ["window", "synthetic", "done"]
    assert all(p["cpu_shares"] == [] for p in one)
    together = [p for p in two if len(p["cpu_shares"]) == 2]  # type: ignore[arg-type]
    assert together and all(p["cpu_share"] == max(p["cpu_shares"]) for p in together)  # type: ignore[call-overload]


def started(sim: Sim, procs: int = 2) -> tuple[subprocess.Popen[str], Path]:
    arguments = ("run", sim.scenario(ENDLESS), "--procs", str(procs), "--out", "out", "--plain")
    process = sim.start(*arguments, MARK=str(sim.folder))
    wait_for(sim.folder / "out" / "records.jsonl", 8)
    return process, sim.folder / "out"


def running(mark: str, module: str) -> list[int]:
    """Our own processes that run a module; one may end while they are looked at."""
    found = []
    for pid in descendants(mark):
        with suppress(OSError):
            if module.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def workers(mark: str) -> list[int]:
    return running(mark, "simulator.cli.worker")


def test_a_view_of_the_growing_folder_sees_all_slots(sim: Sim) -> None:
    process, out = started(sim)
    state, feed = LiveState(), Feed(out)
    try:
        assert feed.poll(state) and feed.ignored == 0
        assert [slot.slot for slot in state.slots] == [0, 1, 2]
        done = state.pulse["requests_done"]
        wait_for(out / "pulse.jsonl", len(lines(out / "pulse.jsonl")) + 3)
        assert feed.poll(state) and state.pulse["requests_done"] >= done
        assert len(workers(str(sim.folder))) == 2
    finally:
        interrupt(process)
        said, _ = process.communicate(timeout=200)
    assert process.returncode == 130, said
    assert "Traceback" not in said and "tok/s" in said
    assert (out / "report.md").exists() and not (out / "parts").exists()
    assert {s["outcome"] for s in lines(out / "sessions.jsonl")} <= {"stopped", "completed"}
    assert none_left(str(sim.folder)), descendants(str(sim.folder))


def _kill_a_worker(sim: Sim, parent: int) -> None:
    os.kill(workers(str(sim.folder))[0], signal.SIGKILL)


def _kill_the_tools(sim: Sim, parent: int) -> None:
    """Its environment is its own: it is known by the process that started it."""
    owners = [parent, *workers(str(sim.folder))]
    for entry in Path("/proc").iterdir():
        with suppress(OSError, IndexError):
            owner = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if owner in owners and b"simulator.drive.toolserver" in (entry / "cmdline").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
                return
    raise AssertionError("no tool process")


def _kill_the_parent(sim: Sim, parent: int) -> None:
    os.kill(parent, signal.SIGKILL)


def _twice(sim: Sim, parent: int) -> None:
    os.kill(parent, signal.SIGINT)
    os.kill(parent, signal.SIGTERM)


@pytest.mark.parametrize(
    ("procs", "fault", "code", "stopped"),
    [
        (2, _kill_a_worker, 3, "client lost"),
        (1, _kill_the_tools, 3, "client lost"),
        (2, _kill_the_tools, 3, "client lost"),
        (2, _kill_the_parent, -signal.SIGKILL, None),
        (2, _twice, 130, None),
    ],
)
def test_a_sudden_end_leaves_a_folder_and_no_process(
    sim: Sim, procs: int, fault: Callable[[Sim, int], None], code: int, stopped: str | None
) -> None:
    process, out = started(sim, procs)
    fault(sim, process.pid)
    said, _ = process.communicate(timeout=200)
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert none_left(str(sim.folder)), descendants(str(sim.folder))
    assert not (out / "parts").exists()
    run = RunFolder.open(out)
    assert run.manifest.get("stopped") == stopped
    assert summarise(run.data())["agent"] is not None and not run.damage
    # Of the whole run: on a busy machine the window may have opened a moment ago.
    assert sum(r["kind"] == "agent" and r["outcome"] == "ok" for r in lines(out / "records.jsonl")) >= 3
    if stopped:
        last = said.strip().splitlines()[-1]
        lost = "client process" if fault is _kill_a_worker else "the tool process"
        assert last.startswith(f"sim: {lost}") and "killed by signal 9" in last and "out holds" in last
        assert (out / "report.md").exists()
