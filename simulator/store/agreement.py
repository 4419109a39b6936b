"""The folder of `sim agree`: what was asked, of whom, and every reply as it came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from simulator.errors import UsageError
from simulator.store.manifest import read_json, write_json
from simulator.store.regular import read_regular

ASKED, REPLIES = "asked.json", "replies.jsonl"
ANSWER_JSON, ANSWER_MD = "agreement.json", "agreement.md"
SCHEMA = 1


class AgreementFolder:
    """Made by `create`, which refuses a folder that holds something, or found by `open`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path) -> AgreementFolder:
        try:
            path.mkdir(parents=True, exist_ok=True)
            taken = any(path.iterdir())
        except OSError as why:
            raise UsageError(f"--out {path}: {why.strerror}; give a new folder") from None
        if taken:
            raise UsageError(f"{path} is not empty; give --out a new folder, old answers are never overwritten")
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> AgreementFolder:
        told = read_json(path / ASKED)
        if told is None:
            raise UsageError(f"{path} holds no {ASKED}; give a folder of a `sim agree` that came to its end")
        if told.get("schema") != SCHEMA:
            raise UsageError(f"{path / ASKED} has schema {told.get('schema')} and this version reads {SCHEMA}")
        return cls(path)

    def asked(self) -> dict[str, Any]:
        return read_json(self.path / ASKED) or {}

    def write_asked(self, told: Mapping[str, Any]) -> None:
        write_json(self.path / ASKED, {"schema": SCHEMA, **told})

    def add(self, reply: Mapping[str, Any]) -> None:
        """A line of REPLIES, on disk before this returns."""
        with (self.path / REPLIES).open("ab") as file:
            file.write(orjson.dumps(reply, option=orjson.OPT_APPEND_NEWLINE))

    def replies(self) -> Iterator[dict[str, Any]]:
        """In the order in which they came. UsageError for a line that is none."""
        path = self.path / REPLIES
        try:
            lines = read_regular(path).splitlines()
        except OSError as why:
            raise UsageError(f"{path}: {why.strerror}; give a folder that `sim agree` wrote") from None
        for n, line in enumerate(lines, 1):
            try:
                told = orjson.loads(line)
            except orjson.JSONDecodeError:
                told = None
            if not isinstance(told, dict):
                raise UsageError(f"{path}, line {n}, is no JSON object; run `sim agree` again with a new folder")
            yield told
