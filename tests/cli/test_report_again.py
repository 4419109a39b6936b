"""`sim report` on folders in the states that users bring them in."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from simulator.cli.report import main

MakeRun = Callable[..., Path]


def pack(folder: Path, *patterns: str) -> None:
    for path in [p for pattern in patterns for p in folder.glob(pattern)]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def test_compressed_lines_are_folded_as_they_were(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    main(folder)
    before, told = orjson.loads((folder / "summary.json").read_bytes()), capsys.readouterr().out
    assert f"report: {folder / 'report.md'}, folded from the records" in told
    pack(folder, "*.jsonl", "chunks.bin")
    (folder / "summary.json").unlink()
    main(folder)
    assert orjson.loads((folder / "summary.json").read_bytes()) == before


def test_a_published_folder_keeps_its_summary_and_says_so(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    main(folder)
    before = (folder / "summary.json").read_bytes()
    pack(folder, "*.jsonl")
    (folder / "chunks.bin").unlink()
    (folder / "report.md").unlink()
    capsys.readouterr()
    main(folder)
    assert "as it was folded before: without chunks.bin" in capsys.readouterr().out
    assert (folder / "summary.json").read_bytes() == before and (folder / "report.md").exists()
