"""Finding runs below a folder, broken ones included."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simulator.store.catalog import find


def put(path: Path, text: str = '{"schema": 1}', name: str = "manifest.json") -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / name).write_text(text)
    return path


def found(root: Path) -> dict[str, tuple[str, str, str]]:
    return {
        str(each.path.relative_to(root)): (
            each.broken,
            "" if each.group is None else str(each.group.relative_to(root)),
            each.made_by,
        )
        for each in find(root)
    }


def test_runs_searches_ladders_and_broken_folders(tmp_path: Path) -> None:
    put(tmp_path / "runs" / "a")
    put(tmp_path / "runs" / "a", "{}", "summary.json")
    put(tmp_path / "runs" / "a" / "workspaces" / "x")  # inside a run is none
    put(tmp_path / "sat" / "probes" / "0008-1")
    put(tmp_path / "killed" / "probes" / "0001-1")
    put(tmp_path / "sat", "{}", "saturate.json")
    put(tmp_path / "lad", "{}", "ladder.json")
    put(tmp_path / "lad" / "runs" / "base-0")
    put(tmp_path / "newer", '{"schema": 2}')
    put(tmp_path / "torn", '{"schema"')
    put(tmp_path / "lost", "", "records.jsonl")
    put(tmp_path / "notes", "x", "notes.md")
    put(tmp_path / ".hidden" / "run")
    (tmp_path / "empty").mkdir()
    assert found(tmp_path) == {
        "runs/a": ("", "", ""),
        "sat/probes/0008-1": ("", "sat", "saturate"),
        "killed/probes/0001-1": ("", "killed", "saturate"),
        "lad/runs/base-0": ("", "lad", "ladder"),
        "newer": ("its manifest.json has schema 2 and this version reads up to 1", "", ""),
        "torn": ("its manifest.json is not a JSON object", "", ""),
        "lost": ("holds no manifest.json", "", ""),
        "empty": ("is empty", "", ""),
    }


def test_a_run_itself_and_links_that_go_round(tmp_path: Path) -> None:
    run = put(tmp_path / "run")
    assert [each.path for each in find(run)] == [run]
    (tmp_path / "round").symlink_to(tmp_path)
    assert len(list(find(tmp_path))) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    assert [each.broken for each in find(tmp_path)] == ["cannot be read: Permission denied"]
