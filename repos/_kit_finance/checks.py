"""Check programs of finance tasks: what all of them begin with, then what each asks."""

from __future__ import annotations

from pathlib import Path

from simulator.tasks import begin

_BEGIN = (Path(__file__).resolve().parent / "files" / "check_begin.py").read_text(encoding="utf-8")


def program(asks: str) -> str:
    """asks: source that finds `truth`, `faults`, `read(path)` and `headlines()`, and ends with the verdict."""
    return begin.program(f"{_BEGIN}\n\n{asks}")
