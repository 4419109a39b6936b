"""Logs of OpenAI-compatible requests, a line each: {ts, request, response | chunks}, as `sim record` writes them.

Two passes: the first links lines (chains.py), the second reads those of one session at a time.

Fields besides the protocol's: session, session_by (how the recorder found it, "header": a client said so), parent (the
session whose sub-agent it is), purpose, client, t_first_s and t_end_s (seconds after ts) or latency_s.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simulator.trace.asked import Asked
from simulator.trace.chains import linked, session
from simulator.trace.draft import Draft
from simulator.trace.text import Bad, json_lines, parsed

Where = tuple[int, int, int]  # offset, length, line


def read(path: Path, asked: Asked) -> Iterator[Draft]:
    links = linked(_records(path), path.stem, asked, lambda where: (path, where[2]))
    with path.open("rb") as file:

        def load(where: Where) -> tuple[dict[str, Any], Path, int]:
            file.seek(where[0])
            return parsed(file.read(where[1])), path, where[2]

        for family in links.families():
            draft = session("openai-log", family, load, asked)
            if draft is not None:
                yield draft


def _records(path: Path) -> Iterator[tuple[Where, Any]]:
    with path.open("rb") as file:
        for number, raw in json_lines(file):
            if isinstance(raw, Bad):
                yield (0, 0, number), raw
                continue
            where = file.tell() - len(raw), len(raw), number
            try:
                yield where, parsed(raw)
            except Bad as why:
                yield where, why
