"""`sim diff` with another tool's file on one side."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures_run import of_its_own
from typer.testing import CliRunner

from simulator.cli.foreign import read
from simulator.cli.main import app
from simulator.core.foreign.common import figures
from simulator.errors import UsageError
from simulator.store.folder import RunFolder

FILES = Path(__file__).resolve().parents[1] / "core" / "foreign_files"
MakeRun = Callable[..., Path]


def diff(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["diff", *map(str, arguments)], catch_exceptions=False)
    return result.exit_code, result.output


def bench(path: Path, folder: Path, **changes: object) -> Path:
    """A bench serve file that says of `folder`'s synthetic requests what they were."""
    requests = RunFolder.open(folder).requests
    found = figures(requests.where(requests.text("kind").among("synthetic")), RunFolder.open(folder).chunks)
    told = {
        "completed": 24, "failed": 0, "model_id": "hybrid-30b-a3b", "max_concurrency": 8, "output_throughput":
        found["output_tok_s"], "request_throughput": found["requests_s"], "total_input_tokens": 512 * 24,
        "total_output_tokens": 512 * 24,
        **{f"{level}_{word}_ms": 1e3 * (found[f"{key}.{ours}"] or 0)
           for key, word in (("ttft_s", "ttft"), ("tpot_s", "tpot"), ("icl_s", "itl"))
           for ours, level in (("mean", "mean"), ("p50", "median"))},
    }  # fmt: skip
    path.write_text(json.dumps({**told, **changes}))
    return path


def test_a_run_beside_a_file_that_says_the_same(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=1, window_s=4, synthetic=24)
    code, told = diff(folder, bench(tmp_path / "b.json", folder), "--json", tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text())
    assert code == 0 and "EMULATED" in told and found["engine"] == "EMULATED" and found["verdict"] == "suggestive"
    assert {row["metric"] for row in found["rows"]} >= {"output_tok_s", "ttft_s.p50", "tpot_s.mean", "icl_s.p50"}
    assert all(row["ratio"] == pytest.approx(1) for row in found["rows"])
    assert "e2el_s.p50" not in {row["metric"] for row in found["rows"]}  # the file does not tell it


def test_pairs_decide_and_a_regression_fails(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=1, window_s=4, synthetic=24, kind="real")
    folders = [folder, *(of_its_own(Path(shutil.copytree(folder, tmp_path / f"r{n}"))) for n in (1, 2))]
    speed = read(str(bench(tmp_path / "b.json", folder))).figures["output_tok_s"] or 0.0
    slow = [bench(tmp_path / f"s{n}.json", folder, output_throughput=speed * (0.8 + n / 500)) for n in range(3)]
    runs, files = ",".join(map(str, folders)), ",".join(map(str, slow))
    code, told = diff(runs, files, "--md", tmp_path / "d.md", "--html", tmp_path / "d.html")
    assert code == 1 and "3 pairs: worse" in told
    assert "EMULATED" not in told and "worse" in (tmp_path / "d.md").read_text()
    assert "<table" in (tmp_path / "d.html").read_text()
    assert diff(files, runs)[0] == 0 and diff(runs, files, "--fail-on", "never")[0] == 0
    with pytest.raises(UsageError, match="3 and 1 runs cannot be paired"):
        diff(runs, slow[0])
    copy = shutil.copytree(folder, tmp_path / "copy")
    with pytest.raises(UsageError, match="copy repeats run: it is one run"):
        diff(f"{folder},{copy}", ",".join(map(str, slow[:2])))


def test_other_work_is_refused(make_run: MakeRun) -> None:
    folder = make_run(slots=1, window_s=4, synthetic=24)
    code, told = diff(folder, FILES / "bench_serve_detailed.json")
    assert code == 4 and "the models differ" in told and "prompts of 512 and 320.7 tokens" in told
    code, told = diff(FILES / "guidellm.json", folder, "--allow", "model,scenario")
    assert code == 0 and "suggestive" in told and "ICL" not in told


def test_the_agents_when_they_are_asked_for(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=2, window_s=6, synthetic=24)
    file = bench(tmp_path / "b.json", folder)
    assert "(agent-sim, synthetic)" in diff(folder, file)[1]
    told = diff(folder, file, "--primary", "agents:TTFT from call p50", "--allow", "scenario")[1]
    assert "(agent-sim, agents)" in told and "B / A of TTFT from call p50" in told


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("{run}", "{none}"), "does not exist"),
        (("{run}", "{text}"), "is no JSON"),
        (("{run}", "{other}"), "is no file of `vllm bench serve"),
        (("{bench}", "{bench}"), "both files of other tools"),
        (("{run}", "{bench},{run}"), "is no file; a side is run folders or files"),
        (("{run}", "{bench}", "--primary", "ITL p95"), "have no such metric; did you mean 'ICL p95'"),
        (("{run}", "{bench}", "--primary", "users:output"), "before the colon stands agents or synthetic"),
        (("{run}", "{bench}", "--primary", "agents:output"), "has no agents to compare"),
        (("{run}", "{guide}#7"), "the file holds 1 benchmarks"),
    ],
)
def test_refusals(make_run: MakeRun, tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    folder = make_run(slots=0, window_s=4, synthetic=24)
    (tmp_path / "text.txt").write_text("hello")
    (tmp_path / "other.json").write_text('{"a": NaN}' if "{text}" in arguments else "[1]")
    names = {
        "run": folder, "none": tmp_path / "none", "text": tmp_path / "text.txt", "other": tmp_path / "other.json",
        "bench": bench(tmp_path / "b.json", folder), "guide": FILES / "guidellm.json",
    }  # fmt: skip
    with pytest.raises(UsageError) as caught:
        diff(*(each.format(**names) for each in arguments))
    assert complaint in str(caught.value) and "\n" not in str(caught.value)
