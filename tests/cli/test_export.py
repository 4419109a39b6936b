"""`sim export`: what is written is what was recorded."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.core.summary import summarise
from simulator.errors import UsageError
from simulator.store.arrow import SOURCES, schema
from simulator.store.folder import RunFolder

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "export.md").read_text()
MakeRun = Callable[..., Path]


def sim(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, ["export", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("what", SOURCES)
def test_the_page_names_every_column(what: str) -> None:
    part = (
        PAGE.split(f"## `{what}`", 1)[1].split("\n## ", 1)[0] + PAGE.split("## In every part", 1)[1].split("\n## ")[0]
    )
    named = set(re.findall(r"`(\w+)`", part))
    assert set(schema(what).names) <= named, sorted(set(schema(what).names) - named)


def test_requests_come_back_with_their_types(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=3, window_s=10, synthetic=8)
    told = sim(folder, "-o", tmp_path / "r.parquet")
    rows = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    lines = [orjson.loads(line) for line in (folder / "records.jsonl").read_bytes().splitlines()]
    assert len(rows) == len(lines) > 30 and "[EMULATED]" in told
    for row, line in zip(rows, lines, strict=True):
        kept = {key: value for key, value in line.items() if key not in ("run", "engine")}
        assert {key: row[key] for key in kept} == kept
    assert {(row["run"], row["label"], row["seed"], row["engine_kind"], row["random_weights"]) for row in rows} == {
        ("run", "baseline", 7, "EMULATED", None)
    }


def test_in_window_are_the_requests_that_percentiles_cover(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=3, window_s=10, synthetic=8)
    sim(folder, "-o", tmp_path / "r.parquet")
    rows = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    summary = summarise(RunFolder.open(folder).data())
    for kind in ("agent", "synthetic"):
        sent = [row for row in rows if row["kind"] == kind and row["in_window"]]
        good = [row["t_first_s"] - row["t_sent_s"] for row in sent if row["outcome"] == "ok"]
        assert len(sent) == summary[kind]["requests"]["sent"] < sum(row["kind"] == kind for row in rows)
        assert np.quantile(good, 0.5) == pytest.approx(summary[kind]["ttft_s"]["p50"])


def test_without_a_window_all_but_the_warm_up_are_in_it(make_run: MakeRun, tmp_path: Path) -> None:
    sim(make_run(slots=1, window_s=3, synthetic=8, killed=True), "-o", tmp_path / "r.parquet")
    rows = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    assert {(row["purpose"] == "warmup", row["in_window"]) for row in rows} == {(True, False), (False, True)}


def test_csv_says_the_same(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=4)
    sim(folder, "-o", tmp_path, "--what", "requests, tools,sessions", "--format", "csv")
    sim(folder, "-o", tmp_path, "--what", "requests,tools,sessions")
    options = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    for what in ("requests", "tools", "sessions"):
        whole = parquet.read_table(tmp_path / f"{what}.parquet")
        options.column_types = whole.schema
        assert csv.read_csv(tmp_path / f"{what}.csv", convert_options=options).to_pylist() == whole.to_pylist()


def test_chunks_and_scrapes(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=4)
    sim(folder, "-o", tmp_path / "x", "--what", "all")
    requests, chunks, engine = (
        parquet.read_table(tmp_path / "x" / f"{what}.parquet").to_pylist() for what in ("requests", "chunks", "engine")
    )
    by_number: dict[int, list[dict[str, float]]] = {}
    for chunk in chunks:
        by_number.setdefault(chunk["request"], []).append(chunk)
    for request in requests:
        mine = by_number.get(request["request"], [])
        assert [chunk["chunk"] for chunk in mine] == list(range(request["chunks"]))
        if mine:
            assert sum(chunk["tok"] for chunk in mine) == request["output_tok"]
            assert mine[0]["t_s"] == pytest.approx(request["t_first_s"], abs=1e-5)
            assert mine[-1]["t_s"] == pytest.approx(request["t_last_s"], abs=1e-3)
    samples = RunFolder.open(folder).engine
    assert len(engine) == sum(len(sample.values) for sample in samples)
    assert engine[0]["value"] == next(iter(samples[0].values.values()))


def test_a_run_that_kept_no_chunks_is_not_damaged(make_run: MakeRun, tmp_path: Path) -> None:
    whole = make_run(slots=2, window_s=4, synthetic=0)
    bare = tmp_path / "b" / "bare"
    shutil.copytree(whole, bare)
    (bare / "chunks.bin").unlink()
    told = sim(whole, bare, "-o", tmp_path / "x", "--what", "requests,chunks")
    assert "1 run kept no chunks.bin, so there are no chunk rows of: bare" in told and "damaged" not in told
    rows = parquet.read_table(tmp_path / "x" / "chunks.parquet").to_pylist()
    assert {row["run"] for row in rows} == {whole.name}


def test_several_runs_are_stacked_and_told_apart(make_run: MakeRun, tmp_path: Path) -> None:
    first = make_run(slots=2, window_s=4, synthetic=0)
    second = tmp_path / "b" / "run"
    shutil.copytree(first, second)
    manifest = orjson.loads((second / "manifest.json").read_bytes())
    manifest["engine"] |= {"kind": "real", "random_weights": True}
    (second / "manifest.json").write_bytes(orjson.dumps(manifest))
    told = sim(first, second, "-o", tmp_path / "both.parquet")
    rows = parquet.read_table(tmp_path / "both.parquet").to_pylist()
    assert {(row["run"], row["engine_kind"], row["random_weights"]) for row in rows} == {
        (str(first), "EMULATED", None),
        (str(second), "real", True),
    }
    assert "[EMULATED, random weights]" in told and "of several kinds" in told
    assert parquet.read_schema(tmp_path / "both.parquet").metadata[b"engine_kind"] == b"EMULATED, real"


def test_damage_costs_its_line_only_and_older_lines_are_filled(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0, killed=True)
    path = folder / "records.jsonl"
    lines = path.read_bytes().splitlines()[:-1]
    older = {key: value for key, value in orjson.loads(lines[0]).items() if key not in ("branch", "defect")}
    wrong = [b"{", b'{"run": 1}', b"[]", lines[0].replace(b'"turn":', b'"turn":"two","x":')]
    path.write_bytes(b"\n".join([*lines, orjson.dumps(older), *wrong]) + b'\n{"torn')
    told = sim(folder, "-o", tmp_path / "r.parquet")
    rows = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    assert len(rows) == len(lines) + 1 and (rows[-1]["branch"], rows[-1]["defect"]) == (0, "")
    assert "records.jsonl: 5 damaged and left out" in told


def test_a_run_without_records_gives_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text('{"schema": 1}')
    sim(tmp_path / "run", "-o", tmp_path / "out", "--what", "all")
    for what in SOURCES:
        table = parquet.read_table(tmp_path / "out" / f"{what}.parquet")
        assert table.num_rows == 0 and table.schema.names == schema(what).names


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("-o", "{out}/r.csv", "--what", "request"), "did you mean requests?"),
        (("-o", "{out}/r.csv", "--what", ","), "--what is empty"),
        (("-o", "{out}/r.csv", "--what", "tools,requests"), "give a folder"),
        (("-o", "{out}/r.csv", "--format", "parquet"), "make them the same"),
        (("-o", "{out}/r", "--format", "xlsx"), "give csv or parquet"),
        (
            (
                "-o",
                "{out}/there.csv",
            ),
            "is already there",
        ),
        (
            (
                "-o",
                "{out}/there.csv/below.csv",
            ),
            "cannot write",
        ),
        (("{out}/none", "-o", "{out}/r.csv"), "does not exist"),
    ],
)
def test_refusals(make_run: MakeRun, tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    folder = make_run(slots=1, window_s=2, synthetic=0)
    (tmp_path / "there.csv").write_text("x")
    with pytest.raises(UsageError) as caught:
        sim(folder, *(each.format(out=tmp_path) for each in arguments))
    assert complaint in str(caught.value) and "\n" not in str(caught.value)
    assert (tmp_path / "there.csv").read_text() == "x" and not (tmp_path / "r.csv").exists()
