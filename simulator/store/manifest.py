"""manifest.json and its small neighbours: whole files, replaced at once so that no reader ever sees half of one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from simulator.errors import UsageError
from simulator.store.layout import LAYOUT, Layout
from simulator.store.regular import read_regular

MANIFEST = "manifest.json"
#: what an engine of our own printed
ENGINE_LOG = "engine.log"
#: what an oracle knows, and what it says that it answered (docs/oracle.md)
SOLUTIONS, ORACLE_LOG = "solutions.jsonl", "oracle.jsonl"
#: all that an engine may leave in a run folder before the run begins
ENGINE_FILES = (ENGINE_LOG, SOLUTIONS, ORACLE_LOG)


def write_whole(path: Path, content: bytes) -> None:
    """Writes beside the target and renames over it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    except OSError as why:
        beside.unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {why.strerror}; free some space or choose another folder") from why


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
    write_whole(path, orjson.dumps(value, option=options))


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file; None when the file is missing or is not a JSON object. UsageError when it is no file at
    all: a pipe would be waited for without end."""
    try:
        value = orjson.loads(read_regular(path))
    except (OSError, orjson.JSONDecodeError):
        return None
    return value if isinstance(value, dict) else None


def read_manifest(folder: Path, layout: Layout = LAYOUT) -> dict[str, Any]:
    """The manifest of a run folder in the newest layout, but for `schema`, which stays what the folder has. UsageError
    when this is none, or one of a newer version of the product."""
    if not folder.exists():
        raise UsageError(f"{folder} does not exist; give the folder that `sim run` named when it started")
    if not folder.is_dir():
        raise UsageError(f"{folder} is a file; give the run folder that holds it")
    path = folder / MANIFEST
    if not path.exists():
        state = "is empty" if not any(folder.iterdir()) else f"holds no {MANIFEST}"
        raise UsageError(f"{folder} {state}, so it is no run folder; give one that `sim run` wrote")
    manifest = read_json(path)
    if manifest is None:
        raise UsageError(f"{path} is not a JSON object; restore it or run the scenario again")
    schema = manifest.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise UsageError(f"{path} states no schema version (`schema`); it was not written by `sim run`")
    if schema > layout.newest:
        raise UsageError(
            f"{path} has schema {schema} and this version reads up to {layout.newest}; upgrade agent-sim to read this "
            "run"
        )
    raised = layout.raised(MANIFEST, manifest, schema)
    for key in ("engine", "scenario"):
        if not isinstance(raised.get(key) or {}, dict):
            raise UsageError(f"{path} has `{key}` that is no object; restore it or run the scenario again")
    return {**raised, "schema": schema}
