"""Run folders of every layout there was are read, and fold to the figures that they had.

schemas/N is a small run as the version with layout N left it, lines compressed as in published runs.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from simulator.cli.report import fold
from simulator.errors import UsageError
from simulator.store.folder import RunFolder
from simulator.store.layout import SCHEMA, STEPS, Layout
from simulator.store.reader import Run

KEPT = Path(__file__).parent / "schemas"
#: of a summary, what people quote
FIGURES = (
    *("output_tok_s", "output_tok_s_whole_run", "input_tok_s", "uncached_input_tok_s", "in_flight_mean"),
    *("ttft_s", "tpot_s", "e2el_s", "icl_s", "itl_s", "turn_latency_s", "cached_share", "requests", "sessions", "wall"),
)


def figures(summary: dict[str, Any]) -> dict[str, Any]:
    parts = {kind: summary[kind] for kind in ("agent", "synthetic")}
    told = {kind: {name: part.get(name) for name in FIGURES} for kind, part in parts.items()}
    whole: dict[str, Any] = orjson.loads(orjson.dumps(told))
    return whole


def test_there_is_a_folder_of_each_layout_and_a_step_from_each_older_one() -> None:
    assert sorted(int(path.name) for path in KEPT.iterdir()) == list(range(1, SCHEMA + 1))
    assert sorted(STEPS) == list(range(1, SCHEMA))


@pytest.mark.parametrize("folder", sorted(KEPT.iterdir()), ids=lambda path: f"schema {path.name}")
def test_it_folds_to_the_figures_that_it_had(folder: Path) -> None:
    assert sum(path.stat().st_size for path in folder.iterdir()) < 100_000
    run = RunFolder.open(folder)
    kept, found = run.summary, fold(run, folder)
    assert kept is not None and run.manifest["schema"] == int(folder.name) and not run.damage
    told = figures(found)
    told["agent"]["sessions"] = {key: told["agent"]["sessions"][key] for key in kept["agent"]["sessions"]}  # as of then
    assert told == figures(kept)
    assert found["agent"]["requests"]["ok"] > 5 and found["synthetic"]["requests"]["ok"] > 20
    assert found["agent"]["sessions"]["tool_calls"] == run.tools.n > 5 and len(run.engine) > 5 and run.pulses.n > 5


def test_a_newer_layout_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(orjson.dumps({"schema": SCHEMA + 1}))
    with pytest.raises(UsageError, match=f"has schema {SCHEMA + 1} and this version reads up to {SCHEMA}; upgrade"):
        RunFolder.open(tmp_path)


def renamed(folder: Path, rename: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
    """Writes the folder's JSON objects as an older version would have."""
    for path in (*folder.glob("*.jsonl.gz"), folder / "manifest.json", folder / "windows.json"):
        name = path.name.removesuffix(".gz")
        if path.suffix == ".gz":
            rows = [orjson.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
            path.write_bytes(gzip.compress(b"".join(orjson.dumps(rename(name, row)) + b"\n" for row in rows)))
        else:
            path.write_bytes(orjson.dumps(rename(name, orjson.loads(path.read_bytes()))))


def test_an_older_layout_goes_through_its_step(tmp_path: Path) -> None:
    """What this version writes stands for layout 2, which renamed a field in each of three files."""
    folder = tmp_path / "run"
    shutil.copytree(KEPT / str(SCHEMA), folder)
    expected = figures(fold(RunFolder.open(folder), folder))
    new = {"records.jsonl": "output_tok", "manifest.json": "slo", "windows.json": "agent"}
    old = {"records.jsonl": "n", "manifest.json": "objectives", "windows.json": "agents"}

    def swapped(name: str, row: dict[str, Any], names: dict[str, str], to: dict[str, str]) -> dict[str, Any]:
        return {to[name] if key == names.get(name) else key: value for key, value in row.items()}

    renamed(folder, lambda name, row: swapped(name, row, new, old))
    assert figures(fold(RunFolder.open(folder), folder)) != expected
    layout = Layout(SCHEMA + 1, {**STEPS, SCHEMA: lambda name, row: swapped(name, row, old, new)})
    assert figures(fold(Run(folder, layout=layout), folder)) == expected


def test_a_summary_of_an_older_form_is_folded_again(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(orjson.dumps({"schema": SCHEMA}))
    (tmp_path / "summary.json").write_bytes(orjson.dumps({"schema": 0, "agent": {}}))
    assert RunFolder.open(tmp_path).summary is None
