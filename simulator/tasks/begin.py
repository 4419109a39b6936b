"""How check programs begin, whoever makes them."""

from __future__ import annotations

from pathlib import Path

_PLAIN_FILE = Path(__file__).with_name("plain_file.py").read_text(encoding="utf-8")


def program(asks: str) -> str:
    """asks: source that reads the truth, finds `plain_file(path)` and ends with the verdict."""
    return f"{_PLAIN_FILE}\n\n{asks}"
