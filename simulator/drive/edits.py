"""SEARCH/REPLACE blocks, as the classic client applies them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: a block whose middle lines differ is still found by its first and last line when it has at least this many
ANCHOR_LINES = 3


@dataclass(frozen=True, slots=True)
class FailedBlock:
    """The 0-based block that was not found at or after the end of the block before it."""

    index: int


def apply_blocks(text: str, blocks: Sequence[tuple[str, str]]) -> str | FailedBlock:
    """Replace each (search, replace) in turn; the search goes on behind the place of the block before.

    A search text is looked for as it is, then line by line with blanks at both ends ignored, then (three lines or
    more) by its first and last line alone. The first place found counts. An empty search text means the whole file.
    """
    done: list[str] = []
    at = 0
    for index, (search, replace) in enumerate(blocks):
        place = _find(text, search, at)
        if place is None:
            return FailedBlock(index)
        start, end = place
        done += [text[at:start], replace]
        at = end
    return "".join((*done, text[at:]))


def _find(text: str, search: str, at: int) -> tuple[int, int] | None:
    if not search:
        return (at, len(text)) if at == 0 else None
    exact = text.find(search, at)
    if exact >= 0:
        return exact, exact + len(search)
    return _by_lines(text, search, at, anchors=False) or _by_lines(text, search, at, anchors=True)


def _by_lines(text: str, search: str, at: int, *, anchors: bool) -> tuple[int, int] | None:
    wanted = [line.strip() for line in _lines(search)]
    if not any(wanted) or (anchors and len(wanted) < ANCHOR_LINES):
        return None
    lines = _lines(text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = [line.strip() for line in lines]
    for first in range(len(lines) - len(wanted) + 1):
        last = first + len(wanted) - 1
        if starts[first] < at:
            continue
        here = found[first : last + 1]
        same = (here[0], here[-1]) == (wanted[0], wanted[-1]) if anchors else here == wanted
        if same:
            end = starts[last + 1]
            # a search text without a final newline leaves the file's one alone
            return starts[first], end if search.endswith("\n") else end - _newline_length(lines[last])
    return None


def _lines(text: str) -> list[str]:
    """Lines with their ends. Only newlines end one (str.splitlines knows eight more)."""
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _newline_length(line: str) -> int:
    return 2 if line.endswith("\r\n") else 1 if line.endswith("\n") else 0
