"""A pipe, device or folder in place of a run folder's file is refused in one sentence, and nobody waits for it."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures_run import Shape, of_its_own, write_run

from simulator.cli.diff import Asked
from simulator.cli.diff import main as diff_main
from simulator.cli.report import write_report
from simulator.errors import UsageError
from simulator.store.catalog import find
from simulator.store.folder import Run
from simulator.store.tail import Tail

FILES = (
    *("manifest.json", "summary.json", "windows.json", "records.jsonl", "records.npz"),
    *("tools.jsonl", "sessions.jsonl", "engine.jsonl", "pulse.jsonl", "chunks.bin", "chunks.bin.gz", "tools.jsonl.gz"),
)


def as_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(path))


PLACED: dict[str, Callable[[Path], None]] = {
    "pipe": lambda path: os.mkfifo(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": lambda path: path.mkdir(),
    "socket": as_socket,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_run(tmp_path_factory.mktemp("whole") / "run", Shape(slots=2, window_s=4, synthetic=4))
    write_report(path, show=False)
    return path


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", FILES)
def test_each_file_of_a_run(whole: Path, tmp_path: Path, name: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    (run / name).unlink(missing_ok=True)
    (run / name.removesuffix(".gz")).unlink(missing_ok=True)
    os.mkfifo(run / name)

    def read() -> None:
        opened = Run(run, keep_columns_from_bytes=0)
        _ = opened.summary, opened.data()

    with pytest.raises(UsageError, match=f"{name} is no regular file; restore it or remove it"):
        read()


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", PLACED)
def test_each_kind_of_what_is_no_file(whole: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    of_its_own(shutil.copytree(whole, run))
    monkeypatch.chdir(run)  # a socket's path has room for a hundred characters
    for name in ("summary.json", "sessions.jsonl"):
        (run / name).unlink()
        PLACED[kind](run / name)
        with pytest.raises(UsageError, match="no regular file"):
            diff_main(Asked(str(run), str(whole)))
        with pytest.raises(UsageError, match="no regular file"):
            list(Tail(run / name).objects())
        (broken,) = (each.broken for each in find(tmp_path)) if name == "summary.json" else ("no regular file",)
        assert "no regular file" in broken
        (run / name).rmdir() if kind == "folder" else (run / name).unlink()
        shutil.copy(whole / name, run / name)
