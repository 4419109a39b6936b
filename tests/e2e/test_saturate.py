"""`sim saturate` and an open-loop run: real processes, sockets, git and tools on the embedded engine."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from sim import Sim, none_left

SCENARIO = """\
name: few
seed: 5
sessions: 2
window_s: 4
ramp_s: 0
start: beginning
profiles: {classic-xml: 1, sdk: 1}
sizes: {medium: 1}
tools: paced
warmup: {requests: 1}
time_limit_s: 60
"""
ARRIVALS = SCENARIO.replace("window_s: 4\nramp_s: 0\n", "max_turns: 2\narrival: {kind: trace, file: times.txt}\n")


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Sim:
    return Sim(tmp_path_factory.mktemp("saturate"), cache)


@pytest.fixture(scope="module")
def searched(sim: Sim) -> tuple[Path, str]:
    """A search over one and two agents, which both meet what is asked."""
    asked = ("--slo", "ttft_p95<60s,error_share<50%", "--high", "2", "--out", "out")
    code, said = sim.run("saturate", sim.scenario(SCENARIO, "few.yaml"), *asked, MARK=str(sim.folder))
    # on a crowded machine the client may be the limit, and must say so
    assert code in (0, 4), said
    return sim.folder / "out", said


def test_a_search_says_what_it_found_and_leaves_every_probe(searched: tuple[Path, str], sim: Sim) -> None:
    folder, said = searched
    found = orjson.loads((folder / "saturate.json").read_bytes())
    assert found["sentence"] in said.replace("\n", " ").replace("  ", " ") or found["sentence"] in said
    assert "EMULATED" in said and found["engine_kind"] == "emulated"
    assert "EMULATED" in (folder / "saturate.md").read_text()
    kind = found["verdict"]["kind"]
    assert kind in ("at least", "client") and (kind == "client" or found["verdict"]["best"] == 2)
    for probe in found["probes"]:
        manifest = orjson.loads((folder / "probes" / probe["folder"] / "manifest.json").read_bytes())
        assert manifest["scenario"]["sessions"] == probe["point"] == manifest["probe"]["point"]
        assert manifest["caches_reset"] and (folder / "probes" / probe["folder"] / "report.md").exists()
        assert (probe["outcome"] == "client-limited") == (probe["client"] == "client-limited")
    assert none_left(str(sim.folder)), "processes were left behind"


def test_a_larger_load_contains_the_smaller_one(searched: tuple[Path, str]) -> None:
    def sessions(folder: Path) -> set[str]:
        return {orjson.loads(line)["session"] for line in (folder / "sessions.jsonl").read_bytes().splitlines()}

    one, two = (sessions(searched[0] / "probes" / f"000{n}-1") for n in (1, 2))
    assert "s0000" in one & two and "s0001" in two


def test_a_search_that_is_there_is_read_and_not_measured_again(searched: tuple[Path, str], sim: Sim) -> None:
    folder, _ = searched
    before = sorted(p.name for p in (folder / "probes").iterdir())
    asked = ("--slo", "ttft_p95<1us", "--high", "2", "--out", "out")
    code, said = sim.run("saturate", sim.folder / "few.yaml", *asked)
    assert "(read)" in said and code in (1, 4), said
    after = sorted(p.name for p in (folder / "probes").iterdir())
    assert set(before) <= set(after) and len(after) <= len(before) + 1, "only the boundary may need its second try"


def test_the_same_search_in_virtual_time_has_no_client_to_blame(searched: tuple[Path, str], sim: Sim) -> None:
    asked = ("--slo", "ttft_p95<60s", "--high", "2", "--out", "virtual", "--virtual")
    code, said = sim.run("saturate", sim.folder / "few.yaml", *asked)
    assert code == 0 and "virtual time" in said and "At least 2 agents" in said, said
    found = orjson.loads((sim.folder / "virtual" / "saturate.json").read_bytes())
    tried = [(p["point"], p["outcome"]) for p in found["probes"]]
    assert tried == [(1, "met"), (2, "met")], "no second try, which would give the same"


def test_sessions_of_a_trace_arrive_when_it_says(sim: Sim) -> None:
    (sim.folder / "times.txt").write_text("0\n0.4\n\n0.4\n")
    code, said = sim.run("run", sim.scenario(ARRIVALS, "trace.yaml"), "--out", "trace", "--plain")
    assert code == 0, said
    manifest = orjson.loads((sim.folder / "trace" / "manifest.json").read_bytes())
    due = manifest["session_arrivals"]["due_s"]
    assert [round(t - due[0], 3) for t in due] == [0.0, 0.4, 0.4]
    lives = [orjson.loads(line) for line in (sim.folder / "trace" / "sessions.jsonl").read_bytes().splitlines()]
    assert {s["session"]: s["outcome"] for s in lives} == dict.fromkeys(("s0000", "s0001", "s0002"), "completed")
    for life in lives:
        assert life["t_due_s"] == pytest.approx(due[int(life["session"][1:])], abs=1e-5)
        assert life["t_ready_s"] >= life["t_due_s"], "no session arrives before its time"
    summary = orjson.loads((sim.folder / "trace" / "summary.json").read_bytes())["agent"]
    assert summary["arrival"]["kind"] == "trace" and summary["arrival"]["places"] == 2
    assert summary["arrival"]["planned"] == 3 and summary["requests"]["ok"] == 6
    assert summary["ttft_from_due_s"]["max"] >= summary["ttft_s"]["max"]
