"""What is right, what is written for it, and the check that compares the two."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from simulator.core.task import Check
from simulator.tasks import begin

from .paper import Paper

_PROGRAM = Path(__file__).parent / "files" / "check.py.txt"

#: path of a result -> its content: a dict or list for JSON, a list of rows (column -> text) for CSV
Results = Mapping[str, Any]


def check(results: Results, papers: Iterable[Paper]) -> Check:
    """Compares all results, and asks that no paper was changed. Spacing is the only thing forgiven."""
    digests = {p.path: hashlib.sha256(p.data).hexdigest()[:16] for p in papers if p.needed}
    wanted = {"files": results, "papers": digests}
    return Check(begin.program(_PROGRAM.read_text(encoding="utf-8")), json.dumps(wanted, ensure_ascii=False))


def written(path: str, content: Any) -> bytes:
    """A result as a file."""
    if not path.endswith(".csv"):
        return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()
    buffer = io.StringIO()
    table = csv.DictWriter(buffer, list(content[0]) if content else [], lineterminator="\n")
    table.writeheader()
    table.writerows(content)
    return buffer.getvalue().encode()


def spoilt(right: Results, wrong: Results) -> dict[str, bytes]:
    """The files of `wrong` that differ from the right ones. AssertionError: the mistake makes no difference."""
    files = {path: written(path, content) for path, content in wrong.items() if content != right[path]}
    assert files, "this mistake changes nothing"
    return files
