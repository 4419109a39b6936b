"""The classic client's messages, what of them a request carries, and how they are shortened.

A history is user, assistant, user, ...; what was sent once is never rewritten, so that a cache holds; only a cut does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.cline import texts
from simulator.cline.classic import results, window
from simulator.cline.pool import Pool


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the history. indices: into the pool, the message itself last; before a user's, the `tool` messages
    that answer native calls. files: for each result part, the file of which it holds a copy, or None."""

    indices: tuple[int, ...]
    parts: tuple[str, ...]
    files: tuple[str | None, ...] = ()


class History:
    def __init__(self, pool: Pool, system: int) -> None:
        self._pool, self._system = pool, system
        self._said: list[Said] = []
        self._removed_to: int | None = None

    def add(self, said: Said) -> None:
        self._said.append(said)

    def view(self) -> tuple[int, ...]:
        if self._removed_to is None:
            return (self._system, *(i for s in self._said for i in s.indices))
        first, *rest = self._said[self._removed_to + 1 :]
        # the call that its `tool` messages answer is gone, so they go as well
        kept = [*self._said[:2], Said(first.indices[-1:], ()), *rest]
        return (self._system, *(i for s in kept for i in s.indices))

    def shorten(self, *, keep_quarter: bool) -> bool:
        """Notes for older copies of files; message pairs too when that saves too little. False: nothing could go."""
        before = self._chars()
        changed = self._note_old_copies()
        if changed and (before - self._chars()) / before >= window.ENOUGH_SAVED:
            return True
        return self.drop(keep_quarter=keep_quarter) or changed

    def drop(self, *, keep_quarter: bool) -> bool:
        """Message pairs after the first go; False: there are none."""
        to = window.last_removed(len(self._said), self._removed_to, keep_quarter=keep_quarter)
        if to is None:
            return False
        if self._removed_to is None:
            note = texts.load("classic/truncated.md")
            self._said[1] = Said((self._pool.text("assistant", note),), (note,))
        self._removed_to = to
        return True

    def _chars(self) -> int:
        return sum(self._pool.chars[i] for i in self.view())

    def _note_old_copies(self) -> bool:
        start = 0 if self._removed_to is None else self._removed_to + 1
        seen: set[str] = set()
        changed = False
        for at in range(len(self._said) - 1, start - 1, -1):
            said = self._said[at]
            parts, files = list(said.parts), list(said.files)
            for k in range(len(files) - 1, -1, -1):
                path = files[k]
                if path is not None and path in seen:
                    parts[k], files[k] = results.without_file(parts[k]), None
                elif path is not None:
                    seen.add(path)
            if tuple(parts) != said.parts:
                self._said[at] = self._rewritten(said, parts, files)
                changed = True
        return changed

    def _rewritten(self, said: Said, parts: Sequence[str], files: Sequence[str | None]) -> Said:
        return Said((*said.indices[:-1], self._pool.parts("user", parts)), tuple(parts), tuple(files))
