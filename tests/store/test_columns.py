"""Columns kept beside the lines: the same table, never a stale or damaged one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from simulator.core.record import Request, ToolRun
from simulator.core.summary import summarise
from simulator.core.table import Table
from simulator.store import columns
from simulator.store.folder import Run, RunFolder
from simulator.store.source import source
from simulator.store.writer import RECORDS


@pytest.fixture
def folder(make_run: Callable[..., Path]) -> Path:
    return make_run(slots=3, window_s=6, synthetic=0)


def same(a: Table, b: Table) -> bool:
    numbers = a.numbers.keys() == b.numbers.keys() and all(
        np.array_equal(a[name], b[name], equal_nan=True) for name in a.numbers
    )
    return numbers and all(
        [a.text(name).at(i) for i in range(a.n)] == [b.text(name).at(i) for i in range(b.n)] for name in a.texts
    )


def test_kept_columns_are_the_parsed_ones(folder: Path) -> None:
    parsed, key = RunFolder.open(folder).requests, columns.digest(source(folder / RECORDS)["xxh3_128"], Request)
    columns.save(folder / "kept", parsed, key, damage=2)
    found = columns.load(folder / "kept", key)
    assert found is not None
    assert found[0].n == parsed.n and same(found[0], parsed) and found[1] == 2
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


def test_other_lines_or_other_columns_are_another_digest(folder: Path) -> None:
    def key_of(record: type) -> str:
        return columns.digest(source(folder / RECORDS)["xxh3_128"], record)

    key = key_of(Request)
    assert key_of(ToolRun) != key
    with (folder / RECORDS).open("ab") as file:
        file.write(b"\n")
    assert key_of(Request) != key
    columns.save(folder / "kept", RunFolder.open(folder).requests, key, damage=0)
    assert columns.load(folder / "kept", "another") is None


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
def test_damaged_columns_are_as_good_as_none(folder: Path, keep: float) -> None:
    columns.save(folder / "kept", RunFolder.open(folder).requests, "key", damage=0)
    content = (folder / "kept").read_bytes()
    (folder / "kept").write_bytes(content[: int(len(content) * keep)])
    assert columns.load(folder / "kept", "key") is None
    assert columns.load(folder / "gone", "key") is None


def test_a_place_that_cannot_be_written_costs_nothing(folder: Path) -> None:
    columns.save(folder / "no" / "such" / "place", RunFolder.open(folder).requests, "key", damage=0)


def test_a_large_finished_run_is_parsed_once(folder: Path) -> None:
    """With a broken line in it: the second reader sees the same figures and the same damage."""
    lines = (folder / RECORDS).read_bytes()
    (folder / RECORDS).write_bytes(b"broken\n" + lines)
    first = Run(folder, keep_columns_from_bytes=len(lines))
    summary = summarise(first.data())
    kept = folder / "records.npz"
    made = kept.stat().st_mtime_ns
    again = Run(folder, keep_columns_from_bytes=len(lines))
    assert summarise(again.data()) == summary
    assert again.damage == first.damage == {RECORDS: 1}
    assert kept.stat().st_mtime_ns == made
    with (folder / RECORDS).open("ab") as file:
        file.write(lines)
    assert Run(folder, keep_columns_from_bytes=len(lines)).requests.n == 2 * first.requests.n


def test_small_and_unfinished_runs_keep_no_columns(folder: Path) -> None:
    assert RunFolder.open(folder).requests.n > 0
    (folder / "manifest.json").write_bytes(b'{"schema": 1}')
    assert Run(folder, keep_columns_from_bytes=1).requests.n > 0
    assert not (folder / "records.npz").exists()
