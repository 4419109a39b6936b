"""`sim compare-traffic` on one run, on published runs, and on ladders."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from fixtures_run import Shape, write_run

from simulator.cli.compare_traffic import main
from simulator.cli.outputs import Outputs
from simulator.errors import Incomparable, SimError

PUBLISHED = Path(__file__).resolve().parents[2] / "reports" / "h200_random_weights"
STDOUT = Outputs(json=Path("-"))


def ladder(folder: Path, figures: dict[str, list[tuple[float, float]]], kind: str = "emulated") -> Path:
    """rung -> (agents, synthetic) tok/s of each pair."""

    def repeat(name: str, pair: int, agents: float, synthetic: float) -> dict[str, Any]:
        parts = [
            {"output_tok_s": v, "ttft_p50_s": 0.4, "tpot_p50_s": 0.01, "turn_p50_s": 3.0} for v in (agents, synthetic)
        ]
        return {"pair": pair, "lane": 0, "run": f"runs/{name}-{pair}", "agents": parts[0], "synthetic": parts[1],
                "client_verdict": "ok", "certified": True, "error": None}  # fmt: skip

    rungs = [
        {"name": name, "config": f"{name}.yaml", "argv": ["vllm"], "env": {}, "why": "a step",
         "repeats": [repeat(name, n, *pair) for n, pair in enumerate(pairs)]}
        for name, pairs in figures.items()
    ]  # fmt: skip
    folder.mkdir()
    whole = {"schema": 1, "scenario": "32_agents", "started_unix_s": 1.0, "engine_kind": kind, "random_weights": False}
    (folder / "ladder.json").write_bytes(orjson.dumps({**whole, "rungs": rungs}))
    return folder


def test_the_published_runs_choose_differently_and_are_said_to_suggest_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(PUBLISHED, "output", Outputs(tmp_path / "c.md", tmp_path / "c.html")) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "you would pick top_4_api; your agents seem to run 2.7 % slower there than on top_4_api_all" in told
    assert "this suggests, it decides nothing" in told and "too few for it to mean anything" in told
    assert "EMULATED" not in told and "RANDOM WEIGHTS" in told
    for file in ("c.md", "c.html"):
        assert "2.7 % slower" in (tmp_path / file).read_text()


def test_one_run_sets_its_two_kinds_of_traffic_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(PUBLISHED / "baseline", "output", STDOUT) == 0
    found = orjson.loads(capsys.readouterr().out)
    assert found["agents"]["output_tok_s"] < found["synthetic"]["output_tok_s"]
    assert found["factors"]["in_step"] > 8 and found["factors"]["steps_s"] < 1
    assert "requests in a step" in found["sentences"][1]


def test_a_reader_can_work_out_each_ratio_from_the_line_that_it_stands_in(capsys: pytest.CaptureFixture[str]) -> None:
    """Two rungs of the published ladder were repeated, the others not."""
    assert main(PUBLISHED.parent / "h200_ladder", "output", Outputs()) == 0
    told = capsys.readouterr().out
    lines = [line.split() for line in told.splitlines() if line.endswith("suggestive")]
    assert len(lines) == 14 and "same pairs  best there  against best" in told
    for line in lines:
        mine, best, against = (float(line[n].replace(",", "")) for n in (3, 4, 5))
        assert 100 * (mine / best - 1) == pytest.approx(against, abs=0.06), line


def test_what_chooses_nothing_has_no_verdict_but_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(place: Path) -> str:
        assert main(place, "output", STDOUT) == 0
        found = orjson.loads(capsys.readouterr().out)
        return str(found["sentence"])

    both = ladder(tmp_path / "both", {"top": [(1500, 14000)], "base": [(1200, 9000)]})
    assert said(both).startswith("Both kinds of traffic seem to choose top")
    told = orjson.loads((both / "ladder.json").read_bytes())
    told["rungs"][1]["repeats"][0]["client_verdict"] = "client-limited"
    (both / "ladder.json").write_bytes(orjson.dumps(told))
    assert said(both).startswith("No verdict: the client was the limit in runs of base,")
    alone = ladder(tmp_path / "alone", {"top": [(1500, 14000), (1510, 14100)]})
    assert said(alone).startswith("No verdict: only top has figures of both kinds of traffic")
    assert main(alone, "output", Outputs()) == 0
    assert " best " not in capsys.readouterr().out.replace("against best", ""), "of nothing"


def test_runs_of_two_scenarios_choose_nothing(tmp_path: Path) -> None:
    asked = {"sessions": 3, "window_s": 6.0}
    for name, more in (("one", {}), ("two", {"window_s": 9.0, "sessions": 4})):
        scenario = asked | more
        write_run(tmp_path / name, Shape(slots=3, window_s=6), scenario=scenario, scenario_hash=str(scenario))
    with pytest.raises(
        Incomparable, match="the scenarios of one and two differ in sessions, window_s, so what differs"
    ):
        main(tmp_path, "output", Outputs())


def test_repeated_pairs_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noise = (1.0, 0.99, 1.01, 1.0)
    place = ladder(tmp_path / "l", {
        "top": [(1400 * f, 14000 / f) for f in noise],
        "all": [(1500 / f, 13000 * f) for f in noise],
    })  # fmt: skip
    assert main(place, "output", Outputs(json=tmp_path / "c.json")) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "your agents run 6.7 % slower there than on all (95 %" in told and "EMULATED" in told
    found = orjson.loads((tmp_path / "c.json").read_bytes())
    assert found["winner"]["agents"]["decided"] and found["regret"]["verdict"] == "worse"
    assert main(place / "ladder.json", "output", Outputs()) == 0


def test_rungs_of_two_loads_are_not_compared_and_doubts_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ladder(tmp_path / "l", {"top": [(100, 1000)] * 2, "all": [(90, 900)] * 2})
    told = orjson.loads((place / "ladder.json").read_bytes())
    many = [{**rung, "name": f"{rung['name']}@64", "concurrency": 64} for rung in told["rungs"][::-1]]
    changes = {"certified": False, "doubts": ["9 of 90 requests failed"], "agents": {"output_tok_s": 200.0}}
    for rung in many:
        rung["repeats"] = [{**each, "run": f"{each['run']}@64"} for each in rung["repeats"]]
    many[0]["repeats"] = [{**each, **changes} for each in many[0]["repeats"]]
    few = [{**rung, "concurrency": 8} for rung in told["rungs"]]
    (place / "ladder.json").write_bytes(orjson.dumps({**told, "rungs": few + many}))
    assert main(place, "output", Outputs(html=tmp_path / "c.html", json=tmp_path / "c.json")) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "8 at once" in shown and "64 at once" in shown and "2 repeats are not certified: 9 of 90 requests" in shown
    levels = orjson.loads((tmp_path / "c.json").read_bytes())["levels"]
    assert [each["winner"]["agents"]["rung"] for each in levels] == ["top", "all@64"]
    assert "spec-choice-64" in (tmp_path / "c.html").read_text()


def test_runs_of_one_configuration_are_its_repeats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for n in range(2):
        for name, slots in (("one", 3), ("two", 5)):
            write_run(tmp_path / f"{name}-{n}", Shape(slots=slots, window_s=6, seed=n), label=name)
    assert main(tmp_path, "output", STDOUT) == 0
    found = orjson.loads(capsys.readouterr().out)
    assert {each["name"]: each["repeats"] for each in found["rungs"]} == {"one": 2, "two": 2}
    assert found["winner"]["agents"]["rung"] == "two" and any("EMULATED" in mark for mark in found["marks"])
    shutil.copytree(tmp_path / "two-1", tmp_path / "two-2")
    assert main(tmp_path, "output", Outputs()) == 0
    assert "two-2 repeats two-1: it is one run, so it is counted once." in " ".join(capsys.readouterr().out.split())
    shutil.rmtree(tmp_path / "two-2")
    for run, more in (("one-0", {"stopped": "engine gone"}), ("two-1", {"engine_changed": ["pid 1 then, 2 now"]})):
        manifest = tmp_path / run / "manifest.json"
        manifest.write_bytes(orjson.dumps({**orjson.loads(manifest.read_bytes()), **more}))
    assert main(tmp_path, "output", STDOUT) == 0
    found = orjson.loads(capsys.readouterr().out)
    assert {each["name"]: (each["repeats"], each["failed"]) for each in found["rungs"]} == {
        "one": (1, 1),
        "two": (1, 1),
    }


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    def refused(place: Path, by: str = "output") -> str:
        with pytest.raises(SimError) as caught:
            main(place, by, Outputs())
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "does not exist" in refused(tmp_path / "nowhere")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no run folders" in refused(empty)
    alone = write_run(tmp_path / "alone" / "run", Shape(slots=2, window_s=5, synthetic=0))
    assert "no synthetic traffic" in refused(alone)
    assert "--agents-by speed" in refused(alone, "speed")
    write_run(alone.parent / "other", Shape(slots=2, window_s=5), engine={"kind": "emulated", "model": "another"})
    assert "several models" in refused(alone.parent)
    assert "has no rungs" in refused(ladder(tmp_path / "bare", {}))
    assert "nothing to compare" in refused(ladder(tmp_path / "no_repeats", {"a": []}))
