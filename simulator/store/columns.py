"""Parsed columns of a large records.jsonl, kept beside it, so that a run of a million requests is parsed once.

The lines stay the truth: the columns carry the digest of the lines they came from and are made again when it differs.
Nothing depends on them, so a folder that cannot be written, or columns that are damaged, cost time only.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
from pathlib import Path

import numpy as np
import orjson
import xxhash

from simulator.core.table import Builder, Table, Text
from simulator.store.layout import SCHEMA
from simulator.store.regular import open_regular

#: below this, parsing is as fast as a reader can tell
WORTH_BYTES = 32 << 20


def digest(lines: str, record: type, schema: int = SCHEMA) -> str:
    """Of the lines, whose own digest is given, and of the columns that this version, of that layout, makes of them."""
    return f"{lines}-{xxhash.xxh3_64_hexdigest(repr((schema, Builder(record).columns)).encode())}"


def save(path: Path, table: Table, key: str, damage: int) -> None:
    """Best effort. damage: lines that were left out of the table."""
    names = {name: text.names for name, text in table.texts.items()}
    head = orjson.dumps({"key": key, "n": table.n, "damage": damage, "names": names})
    numbers = {f"n.{name}": column for name, column in table.numbers.items()}
    codes = {f"t.{name}": text.codes for name, text in table.texts.items()}
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            np.savez(file, allow_pickle=False, head=np.frombuffer(head, dtype=np.uint8), **numbers, **codes)
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def load(path: Path, key: str) -> tuple[Table, int] | None:
    """(table, lines left out) when the columns there are of the lines with this digest."""
    try:
        with open_regular(path) as file, np.load(file, allow_pickle=False) as stored:
            head = orjson.loads(stored["head"].tobytes())
            if head["key"] != key:
                return None
            numbers = {name[2:]: stored[name] for name in stored.files if name.startswith("n.")}
            texts = {name: Text(stored[f"t.{name}"], tuple(names)) for name, names in head["names"].items()}
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
    whole = all(len(column) == head["n"] for column in [*numbers.values(), *(text.codes for text in texts.values())])
    return (Table(head["n"], numbers, texts), head["damage"]) if whole else None
