"""Document parsing: invoices, agreements, confirmations, a goods-in workbook and exports become checked JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from simulator.core.task import Style, Task

from . import assemble

KIND = "documents"


def make(seed: int, size: str, style: Style) -> Task:
    """One session's task, pure in its arguments. size: "small" (one supplier, its papers alone), "medium" (1 or 2
    suppliers) or "long" (5 to 7)."""
    return assemble.make(seed, size, style)


def broken(task: Task) -> Iterator[tuple[str, dict[str, bytes | None]]]:
    """A document that was missed, a field that was left out, another one's number, a record with one field too many."""
    truth = json.loads(task.check.truth)["files"]
    first, *_, last = sorted(path for path in truth if path.count("/") > 1)
    yield "a document was missed", {last: None}
    record = truth[first]
    yield "a field was left out", {first: _written({k: v for k, v in record.items() if k != next(iter(record))})}
    yield "the record of another document", {first: _written(truth[last])}
    yield "a field too many", {first: _written(record | {"remark": ""})}


def _written(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False, indent=2).encode() + b"\n"
