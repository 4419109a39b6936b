"""Traces of our own among what is imported: taken over as they are, so that several become one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from simulator.errors import UsageError
from simulator.trace.asked import Asked
from simulator.trace.draft import Made
from simulator.trace.trace_file import sessions

FORMAT = "trace"


def read(path: Path, asked: Asked) -> Iterator[Made]:
    try:
        for session in sessions(path):
            yield session.line, list(session.turns)
    except UsageError as error:
        asked.leave(path, str(error).removeprefix(f"{path}").lstrip(": "))
