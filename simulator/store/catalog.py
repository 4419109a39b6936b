"""Run folders below a place: which there are, and which only look like one. Nothing is folded and nothing written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.errors import UsageError
from simulator.store.manifest import MANIFEST, read_json, read_manifest
from simulator.store.writer import CHUNKS, PULSE, RECORDS

#: a file that stands above runs which belong together -> what made them
PARENTS = {"saturate.json": "saturate", "ladder.json": "ladder"}
#: where a search keeps its runs; it has no saturate.json before its end
PROBES = "probes"
#: a folder with one of these was meant to be a run
_RUN_FILES = frozenset({RECORDS, f"{RECORDS}.gz", CHUNKS, PULSE})


@dataclass(frozen=True, slots=True)
class Found:
    """path: a folder. manifest, summary: of a run; summary None: it was not folded yet. broken: why it is no run that
    can be read, "" when it is one. group: the folder above runs that belong together, made by `made_by`; None for a run
    of its own."""

    path: Path
    manifest: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    broken: str = ""
    group: Path | None = None
    made_by: str = ""


def find(root: Path) -> Iterator[Found]:
    """Every run at or below root, and folders that are broken ones; symbolic links to folders are not followed."""
    yield from _walk(root, None, "")


def _walk(folder: Path, group: Path | None, made_by: str) -> Iterator[Found]:
    try:
        with os.scandir(folder) as entries:
            names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    except OSError as why:
        yield Found(folder, broken=f"cannot be read: {why.strerror}")
        return
    if MANIFEST in names:
        yield _run(folder, group, made_by)
        return
    if not names:
        yield Found(folder, broken="is empty", group=group, made_by=made_by)
    elif _RUN_FILES & names.keys():
        yield Found(folder, broken=f"holds no {MANIFEST}", group=group, made_by=made_by)
        return
    here = next((made for name, made in PARENTS.items() if name in names), "")
    if here:
        group, made_by = folder, here
    elif folder.name == PROBES and not made_by:
        group, made_by = folder.parent, PARENTS["saturate.json"]
    for name in sorted(name for name, is_folder in names.items() if is_folder and not name.startswith(".")):
        yield from _walk(folder / name, group, made_by)


def _run(folder: Path, group: Path | None, made_by: str) -> Found:
    try:
        manifest = read_manifest(folder)
    except UsageError as why:
        told = str(why).removeprefix(f"{folder / MANIFEST} ").partition(";")[0]
        return Found(folder, broken=f"its {MANIFEST} {told}", group=group, made_by=made_by)
    try:
        summary = read_json(folder / "summary.json")
    except UsageError as why:
        return Found(folder, broken=f"holds what it should not: {why}", group=group, made_by=made_by)
    return Found(folder, manifest, summary, group=group, made_by=made_by)
