"""What the text of a tool result depends on besides the call and its outcome."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

Range = tuple[str, int | None, int | None]


@dataclass(frozen=True, slots=True)
class ResultState:
    """cwd: the folder shown to the model. reads: (path, first, last line) -> (how often the same content was given,
    its digest). failed_edits: path -> edits of it that failed since the last that worked.

    Made new at a session's start and moved on by results.advance after every call.
    """

    cwd: str
    reads: Mapping[Range, tuple[int, str]] = field(default_factory=dict)
    failed_edits: Mapping[str, int] = field(default_factory=dict)


def digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()
