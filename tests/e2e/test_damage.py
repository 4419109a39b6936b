"""Folders that were damaged, published or cut short: one sentence or a report that says so, never a traceback."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from fixtures_run import Shape, write_run
from sim import Sim

WRONG = {
    "pulse.jsonl": b'{"t_s": 1, "tools_running": [], "kind": "agent"}',
    "records.jsonl": b'{"session": [], "t_sent_s": {}}',
    "sessions.jsonl": b'{"session": "s0", "tool_calls": {}, "t_end_s": "x"}',
    "engine.jsonl": b'{"t_s": 1.0, "values": {"vllm:num_requests_running": {}}}',
    "tools.jsonl": b"null",
}


@pytest.fixture
def sim(tmp_path: Path) -> Sim:
    write_run(tmp_path / "run", Shape(slots=2, window_s=4, synthetic=4))
    return Sim(tmp_path, tmp_path / "cache")


@pytest.mark.parametrize("name", sorted(WRONG))
def test_values_of_the_wrong_kind(sim: Sim, name: str) -> None:
    with open(sim.folder / "run" / name, "ab") as file:
        file.write(WRONG[name] + b"\n")
    for verb in (["report", "run"], ["watch", "run", "--plain"]):
        code, said = sim.told(*verb)
        assert "Traceback" not in said and "fault of ours" not in said, said
        assert code in (0, 2)


@pytest.mark.parametrize("stopped", ["interrupted", "engine gone"])
def test_a_run_that_was_cut_short_says_so(sim: Sim, stopped: str) -> None:
    manifest = sim.folder / "run" / "manifest.json"
    manifest.write_bytes(orjson.dumps({**orjson.loads(manifest.read_bytes()), "stopped": stopped}))
    code, said = sim.told("report", "run")
    assert code == 0 and "before its end" in said.replace("run's end", "before its end")
    assert "cut_short" in (sim.folder / "run" / "summary.json").read_text()


def test_a_killed_run_says_so(tmp_path: Path) -> None:
    write_run(tmp_path / "run", Shape(slots=2, window_s=4, synthetic=0, killed=True))
    code, said = Sim(tmp_path, tmp_path / "cache").told("report", "run")
    assert code == 0 and "the run was killed" in said


def test_a_published_run_is_shown_and_left_alone(sim: Sim) -> None:
    folder = sim.folder / "run"
    assert sim.told("report", "run")[0] == 0
    for name in ("records.jsonl", "sessions.jsonl", "tools.jsonl"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    (folder / "chunks.bin").unlink()
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    code, said = sim.told("report", "run")
    assert code == 0 and "tok/s" in said
    assert before == {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def _as_file(folder: Path) -> None:
    (folder / "taken").write_text("x")


@pytest.mark.parametrize(("out", "prepare"), [("taken", _as_file), ("taken/below", _as_file), ("x" * 300, None)])
def test_an_impossible_run_folder_is_one_sentence(sim: Sim, out: str, prepare: Callable[[Path], None] | None) -> None:
    if prepare is not None:
        prepare(sim.folder)
    code, said = sim.run("run", sim.scenario(), "--out", out, "--plain")
    assert code == 2 and len(said.strip().splitlines()) == 1, said
    assert "Traceback" not in said and "fault" not in said


def test_escape_sequences_in_a_scenario_do_not_reach_the_terminal(sim: Sim) -> None:
    code, said = sim.told("run", sim.scenario('"se\\e[31mss": 1\nname: "a\\e[31m"\n'))
    assert code == 2 and "\x1b" not in said


def test_a_password_in_an_address_is_refused_and_not_repeated(sim: Sim) -> None:
    code, said = sim.told("run", sim.scenario(), "--endpoint", "http://bob:HUNTER2@127.0.0.1:9")
    assert code == 2 and "HUNTER2" not in said
    shutil.rmtree(sim.folder / "run")
    assert not any(b"HUNTER2" in p.read_bytes() for p in sim.folder.rglob("*") if p.is_file())
