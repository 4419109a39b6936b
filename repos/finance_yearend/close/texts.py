"""Text templates of the year-end's scripts, helpers and tests."""

from __future__ import annotations

import random
import string
from pathlib import Path

from ..._kit_finance.journal import spin

FILES = Path(__file__).resolve().parent.parent / "files"


def render(r: random.Random, template: str, names: dict[str, str]) -> str:
    """A file of files/, its «a|b» chosen and its $names filled in."""
    text = (FILES / template).read_text(encoding="utf-8")
    return string.Template(spin(r, text)).substitute(names)
