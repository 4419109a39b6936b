"""A ladder's folder where a run's is usual: `sim history`, `sim cost`, `sim export`, `sim report`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from browser import View, chromium, look
from fixtures_ladder import write_ladder
from fixtures_run import Shape, write_run
from pyarrow import parquet
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.errors import UsageError


def sim(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rungs in two pairs; top has twice the agents and so more of their tokens."""
    return write_ladder(tmp_path_factory.mktemp("ladders") / "two", {"base": {None: 2}, "top": {None: 5}}, pairs=2)


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One pair, two levels; which rung has more agents turns round between them."""
    slots = {"base": {2: 4, 8: 3}, "top": {2: 2, 8: 6}}
    return write_ladder(tmp_path_factory.mktemp("levels") / "loads", slots)


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((folder / "ladder.json").read_bytes())
    return found


def test_a_ladder_in_the_history_says_what_it_found(ladder: Path) -> None:
    listed = sim("history", ladder.parent)
    (line,) = listed.splitlines()[1:]
    top = sum(each["agents"]["output_tok_s"] for each in told(ladder)["rungs"][1]["repeats"]) / 2
    assert "EMULATED" in line and "2 of 2 rungs, 4 of 4 runs; agents: top " in line and "x base (95 % " in line
    assert abs(float(line.split("hybrid-30b-a3b")[1].split()[0].replace(",", "")) / top - 1) < 0.02, line
    (group,) = orjson.loads(sim("history", ladder.parent, "--json"))["groups"]
    best = group["ladder"]["best"][0]
    assert (
        best["rung"] == "top" and best["first"] == "base" and best["ratio"]["ratio"] > 1.5 and best["ratio"]["n"] == 2
    )
    assert sim("history", ladder.parent, "--paths").split() == [group["path"]]


def test_a_history_of_levels_names_each_levels_leader(levels: Path) -> None:
    line = sim("history", levels.parent).splitlines()[1]
    assert "agents: base at 2, top at 8 (" in line and "one run a rung suggests and decides nothing" in line


def test_an_unfinished_a_doubted_and_a_broken_ladder_are_listed(ladder: Path, tmp_path: Path) -> None:
    part = shutil.copytree(ladder, tmp_path / "part")
    said = told(part)
    said |= {"pairs": 6, "rungs": [*said["rungs"], {"name": "new", "repeats": []}]}
    said["rungs"][0]["repeats"][0] |= {"certified": False, "doubts": ["9 of 9 failed"]}
    (part / "ladder.json").write_bytes(orjson.dumps(said))
    assert "2 of 3 rungs, 4 of 18 runs; agents" in (line := sim("history", part)) and "; 1 not certified" in line
    (part / "ladder.json").write_text('{"schema": 1, "rungs": [{"name": 3}]}')
    line = sim("history", part)
    assert "ladder, 4 runs: ladder.json: " in line and "Traceback" not in line


def test_each_rung_is_priced_under_both_kinds_of_traffic(ladder: Path) -> None:
    found = orjson.loads(sim("cost", ladder, "--gpu", "H200", "--json"))
    base, top = found["rungs"]
    assert [base["name"], top["name"]] == ["base", "top"] and found["engine"] == "EMULATED"
    for rung in (base, top):
        runs = [orjson.loads((ladder / "runs" / f"{rung['name']}-{n}" / "summary.json").read_bytes()) for n in (0, 1)]
        for kind, key in (("agents", "agent"), ("synthetic", "synthetic")):
            tokens, own = rung["traffic"][kind]["tokens"], rung["traffic"][kind]["own_at_100"]
            assert tokens["output_tok"] == sum(run[key]["output_tok"] for run in runs)
            hours = sum(run[key]["window"]["length_s"] for run in runs) / 3_600
            assert own["usd"] == pytest.approx(rung["usd_h"] * hours)
            assert own["usd_per_mtok_output"] == pytest.approx(1e6 * own["usd"] / tokens["output_tok"])
    cheaper = top["cost_to_first"]["agents"]
    assert cheaper["ratio"] < 1 and cheaper["n"] == 2 and base["cost_to_first"] == {}
    speeds = [[each["agents"]["output_tok_s"] for each in rung["repeats"]] for rung in told(ladder)["rungs"]]
    geometric = (speeds[0][0] * speeds[0][1] / speeds[1][0] / speeds[1][1]) ** 0.5
    assert cheaper["ratio"] == pytest.approx(geometric, rel=1e-6)
    shown = sim("cost", ladder, "--gpu", "H200", "--api", "gpt-oss-120b")
    assert "EMULATED" in shown.splitlines()[0] and "seem to cost least on top" in shown and "even at" in shown


def test_levels_are_priced_apart_and_gpus_of_a_rung_are_paid_for(levels: Path, tmp_path: Path) -> None:
    shown = sim("cost", levels, "--gpu", "H200")
    assert "agents at 2 at once: output tokens seem to cost least on base@2" in shown
    assert "agents at 8 at once: output tokens seem to cost least on top@8" in shown
    other = shutil.copytree(levels, tmp_path / "more")
    manifest = other / "runs" / "top@8-0" / "manifest.json"
    said = orjson.loads(manifest.read_bytes())
    said["engine"] |= {"argv": ["vllm", "serve", "m", "--tensor-parallel-size", "4"]}
    manifest.write_bytes(orjson.dumps(said))
    shown = sim("cost", other, "--gpu", "H200")
    assert "least on base@8" in shown and "top@8: 4 H200 at" in shown, "four GPUs cost more than they bring"
    rungs = orjson.loads(sim("cost", other, "--gpu", "H200", "--json"))["rungs"]
    assert rungs[3]["usd_h"] == pytest.approx(4 * rungs[0]["usd_h"]) and rungs[3]["concurrency"] == 8


def test_every_run_of_a_ladder_is_exported_with_its_place(levels: Path, tmp_path: Path) -> None:
    alone = write_run(tmp_path / "alone", Shape(slots=2, window_s=4, synthetic=0))
    sim("export", levels, alone, "-o", tmp_path / "rows.parquet")
    rows = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    places = {(row["run"], row["rung"], row["pair"], row["concurrency"]) for row in rows}
    assert places == {
        ("base@2-0", "base", 0, 2), ("top@2-0", "top", 0, 2), ("base@8-0", "base", 0, 8), ("top@8-0", "top", 0, 8),
        ("alone", None, None, None),
    }  # fmt: skip
    for name in ("base@2-0", "top@8-0"):
        lines = (levels / "runs" / name / "records.jsonl").read_bytes().count(b"\n")
        assert sum(row["run"] == name for row in rows) == lines


def test_runs_that_are_gone_are_named_and_without_any_nothing_is_written(ladder: Path, tmp_path: Path) -> None:
    part = shutil.copytree(ladder, tmp_path / "part")
    shutil.rmtree(part / "runs" / "base-1")
    assert "base-1" in sim("export", part, "-o", tmp_path / "part.parquet")
    assert "runs/base-1" in sim("cost", part, "--gpu", "H200")
    shutil.rmtree(part / "runs")
    for verb in (("export", part, "-o", tmp_path / "none.parquet"), ("cost", part, "--gpu", "H200")):
        with pytest.raises(UsageError, match="no run of this ladder is here"):
            sim(*verb)
    assert not (tmp_path / "none.parquet").exists()


def test_a_ladders_report_says_which_rung_leads_at_which_load(levels: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(levels, tmp_path / "loads")
    shown = sim("report", folder, "--html")
    assert "EMULATED" in shown and "Agents, by how many at once: base seems to lead at 2, top at 8." in shown
    written = (folder / "report.md").read_text()
    assert written.startswith("# Ladder: loads (agents)") and "EMULATED" in written
    assert "the lead seems to pass from base to top" in written and "suggest this and decide nothing" in written
    assert "](by_load.png)" in written and "| top@8 |" in written
    assert (folder / "by_load.png").read_bytes().startswith(b"\x89PNG") and not (folder / "choice.png").exists()
    for run in (folder / "runs").iterdir():
        assert not (run / "report.html").exists()
    shown = sim("ladder", "--show", folder)
    assert "top seems to lead" not in shown and "top at 8." in shown


def test_a_ladder_of_one_level_and_one_without_results_have_a_report_too(ladder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(ladder, tmp_path / "one")
    assert "report.md" in sim("report", folder)
    assert "](choice.png)" in (folder / "report.md").read_text() and (folder / "choice.png").exists()
    said = told(folder)
    for rung in said["rungs"]:
        rung["repeats"] = [{"pair": 0, "error": "did not start: no such flag"}]
    (folder / "ladder.json").write_bytes(orjson.dumps(said))
    assert "did not start: no such flag" in sim("report", folder)
    both = sim("report", folder, ladder / "runs" / "base-0")
    assert "a ladder; `sim ladder --show" in both and "not read" not in both


def test_a_published_ladders_files_are_left_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    published = Path(__file__).resolve().parents[2] / "reports" / "h200_ladder"
    before = {each.name: each.stat().st_mtime_ns for each in published.iterdir()}
    shown = sim("report", published)
    assert "a published ladder's files are left" in shown and "RANDOM WEIGHTS" in shown
    assert {each.name: each.stat().st_mtime_ns for each in published.iterdir()} == before


@pytest.mark.skipif(chromium() is None, reason="no Chromium")
def test_the_page_draws_both_kinds_of_traffic_without_complaint(levels: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(levels, tmp_path / "loads")
    sim("report", folder, "--html")
    drawn = "document.querySelectorAll('#load-agents svg, #load-synthetic svg').length"
    wide = "document.documentElement.scrollWidth - innerWidth"
    for seen in look(folder / "report.html", [View(1280), View(390, dark=True)], f"[{drawn}, {wide}]"):
        assert seen.errors == [] and seen.requests == [] and seen.value[0] == 2 and seen.value[1] <= 0
