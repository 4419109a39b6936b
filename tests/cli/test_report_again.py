"""`sim report` on folders in the states that users bring them in."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from fixtures_run import Shape, write_run

from simulator.cli.report import main
from simulator.errors import UsageError

MakeRun = Callable[..., Path]


def pack(folder: Path, *patterns: str) -> None:
    for path in [p for pattern in patterns for p in folder.glob(pattern)]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def test_compressed_lines_are_folded_as_they_were(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    main([folder])
    before, told = orjson.loads((folder / "summary.json").read_bytes()), capsys.readouterr().out
    assert f"report: {folder / 'report.md'}, folded from the records" in told
    pack(folder, "*.jsonl", "chunks.bin")
    (folder / "summary.json").unlink()
    main([folder], out=folder / "mine")
    assert orjson.loads((folder / "mine" / "summary.json").read_bytes()) == before


@pytest.mark.parametrize("chunks", [True, False])
def test_beside_a_published_run_nothing_is_written_that_was_not_asked_for(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str], chunks: bool
) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    main([folder])
    pack(folder, "*.jsonl", "chunks.bin")
    (folder / "report.md").unlink()
    if not chunks:
        (folder / "chunks.bin.gz").unlink()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def told(**more: Any) -> str:
        capsys.readouterr()
        main([folder], **more)
        return capsys.readouterr().out

    assert ("folded again" if chunks else "figures as they were folded before: without chunks.bin") in told()
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    out = tmp_path / "a" / "b"
    assert f"report: {out / 'report.md'}, " in told(out=out, html=True)
    assert {path.name for path in out.iterdir()} == {"report.md", "report.html", "summary.json"}
    assert f"page:   {folder / 'report.html'}" in told(html=True)
    assert {path.name for path in folder.iterdir() if path.is_file()} == before.keys() | {"report.html"}


def test_files_of_several_runs_go_to_no_one_folder(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(slots=1, window_s=3, synthetic=0)
    with pytest.raises(UsageError, match="--out takes the report of one folder and 2 are given"):
        main([folder, folder], out=tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is no folder and cannot be made one"):
        main([folder], out=tmp_path / "file")


def test_a_page_is_written_beside_the_report(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    assert main([folder]) == 0 and not (folder / "report.html").exists()
    assert main([folder], html=True) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "EMULATED ENGINE" in page
    assert f"page:   {folder / 'report.html'} (1." in capsys.readouterr().out


def test_several_folders_have_a_line_each_and_a_bad_one_stops_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [write_run(tmp_path / name, Shape(slots=2, window_s=5, synthetic=0)) for name in ("a", "z")]
    newer = write_run(tmp_path / "newer", Shape(slots=1, window_s=3, synthetic=0))
    manifest = orjson.loads((newer / "manifest.json").read_bytes())
    (newer / "manifest.json").write_bytes(orjson.dumps(manifest | {"schema": 99}))
    bare = tmp_path / "bare"
    bare.mkdir()
    with pytest.raises(UsageError, match="2 of 4 folders could not be read"):
        main([good[0], newer, bare, good[1]])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all((folder / "report.md").exists() for folder in good)
    assert lines[0].startswith(f"{good[0]}: [EMULATED ENGINE] agents ") and "; report.md" in lines[3]
    assert "upgrade agent-sim" in lines[1] and "is empty" in lines[2]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("records.jsonl", b""),
        ("records.jsonl", b'{"kind": 3}\n[]\nnull\n{"run":"r","kind":"agent","ses'),
        ("chunks.bin", b"abc"),
        ("windows.json", b'{"agent": {"start_s": "x"}}'),
        ("engine.jsonl", b'{"t_s": 1.0, "values": {"vllm:num_requests_running": null}}\n'),
        ("sessions.jsonl", b"{}\n"),
        ("tools.jsonl", b'{"session": null}\n'),
    ],
)
def test_a_damaged_folder_has_a_page_too(make_run: MakeRun, file: str, content: bytes) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=4)
    (folder / file).write_bytes(content)
    assert main([folder], html=True) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Where the limit is" in page or "nothing to report" in page


def test_records_that_no_run_writes_are_refused_in_one_sentence(make_run: MakeRun) -> None:
    folder = make_run(slots=2, window_s=5, synthetic=0)
    rows = [orjson.loads(line) for line in (folder / "records.jsonl").read_bytes().splitlines()]
    (folder / "records.jsonl").write_bytes(b"".join(orjson.dumps(row | {"slot": None}) + b"\n" for row in rows))
    with pytest.raises(UsageError, match="cannot be folded: its files hold values that no run writes"):
        main([folder], html=True)
    assert not (folder / "report.html").exists()


def test_what_went_wrong_is_said_last_also_in_one_pipe(tmp_path: Path) -> None:
    """Python holds back what is printed into a pipe, and writes errors at once."""
    held = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    code = "from simulator.cli.main import main; print('first'); main()"
    command = [sys.executable, "-c", code, "report", str(tmp_path / "nowhere")]
    done = subprocess.run(command, env=held, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    first, last = done.stdout.splitlines()
    assert done.returncode == 2 and first == "first" and last.startswith("sim: ") and "does not exist" in last
