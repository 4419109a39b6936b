"""The one door to run folders: create one to write, open one to read. Their layout is in docs/run_folder.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.errors import UsageError
from simulator.store.manifest import ENGINE_FILES
from simulator.store.reader import Run
from simulator.store.tail import Tail
from simulator.store.writer import RunWriter

__all__ = ["Run", "RunFolder", "RunWriter", "Tail"]


class RunFolder:
    @staticmethod
    def create(path: Path | str, manifest: Mapping[str, Any]) -> RunWriter:
        """Makes the folder (and its parents) and writes the manifest, with `schema` added. UsageError when the place
        is taken (an engine's files alone may lie there, as it starts first) or cannot be written."""
        folder = Path(path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            taken = any(path.name not in ENGINE_FILES for path in folder.iterdir())
        except OSError as why:
            raise UsageError(f"cannot make the run folder {folder}: {why.strerror}; choose another place") from why
        if taken:
            raise UsageError(f"{folder} is not empty; choose a new folder for this run, old runs are never overwritten")
        return RunWriter(folder, manifest)

    @staticmethod
    def open(path: Path | str) -> Run:
        """UsageError when `path` is no run folder, or one of a newer schema version."""
        return Run(Path(path))
