"""SEARCH/REPLACE blocks between two texts."""

from __future__ import annotations

from difflib import SequenceMatcher

Blocks = tuple[tuple[str, str], ...]


def blocks(before: str, after: str) -> Blocks:
    """Blocks that turn one text into the other when applied one after the other; each SEARCH stands just once in the
    text at its turn. As much context is taken as that needs."""
    a, b = before.splitlines(keepends=True), after.splitlines(keepends=True)
    changes = [x for x in SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if x[0] != "equal"]
    for context in range(12):
        spans: list[list[int]] = []
        for _, i1, i2, j1, j2 in changes:
            up = min(context + (i1 == i2), i1, j1)
            down = min(context, len(a) - i2, len(b) - j2)
            if spans and i1 - up <= spans[-1][1]:
                spans[-1][1], spans[-1][3] = i2 + down, j2 + down
            else:
                spans.append([i1 - up, i2 + down, j1 - up, j2 + down])
        found = tuple(("".join(a[low:high]), "".join(b[first:last])) for low, high, first, last in spans)
        if _fits(before, after, found):
            return found
    return ((before, after),)


def _fits(text: str, after: str, found: Blocks) -> bool:
    for old, new in found:
        if not old or text.count(old) != 1:
            return False
        text = text.replace(old, new)
    return text == after
