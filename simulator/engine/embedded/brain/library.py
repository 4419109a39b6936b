"""The solutions that an oracle knows: a file that may grow while it is read, and how a conversation is recognised."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash

from simulator.core.solution import Solution, from_line
from simulator.engine.embedded.brain.history import Message, Signs, flat, text_of
from simulator.errors import UsageError

#: first messages whose solution is remembered
MOST_KNOWN = 50_000
#: messages of the user's in which a request is looked for
LOOKED_AT = 3


@dataclass(frozen=True, slots=True)
class Known:
    """A solution and its replies as they are found in a conversation. key: of its request (and of its folder, where
    others have the same), the same in every run."""

    solution: Solution
    signs: Signs
    key: str


class Library:
    """path: JSON lines (core/solution.py). It need not be there yet; lines that are added are read when a request comes
    that none of those before them knows. UsageError when a line is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._lines = 0
        self._seen: set[bytes] = set()
        self._wanted: list[str] = []  # of each solution its request without blanks, as clients fold lines
        self._solutions: list[Solution] = []
        self._known: dict[int, Known] = {}  # those that were asked for
        self._by_first: OrderedDict[bytes, tuple[int, ...]] = OrderedDict()
        self._read()

    def __len__(self) -> int:
        return len(self._solutions)

    def find(self, messages: Sequence[Message], *, native: bool) -> Known | None:
        """Whose conversation this is, by the text of its task in the user's first messages; None, nobody's that is
        known. native: the request offers tools."""
        users = (m for m in messages if m.get("role") == "user")
        for _, message in zip(range(LOOKED_AT), users, strict=False):
            found = self._of(text_of(message), native=native)
            if found:
                return self._known_as(self._whose(found, messages, text_of(message), native=native))
        return None

    def _of(self, text: str, *, native: bool, again: bool = False) -> tuple[int, ...]:
        """The solutions whose request the text holds, best first. again: what is remembered of it may be old."""
        key = xxhash.xxh3_128_digest(b"%d" % native + text.encode(errors="replace"))
        found = self._by_first.get(key, ())
        if (again or not found) and (self._read() or key not in self._by_first):
            found = self._by_first[key] = self._search(text, native=native)
            while len(self._by_first) > MOST_KNOWN:
                self._by_first.popitem(last=False)
        return found

    def _search(self, text: str, *, native: bool) -> tuple[int, ...]:
        """Of the requests that the text holds the longest, as a sub-agent is told its parent's; of equal ones those of
        the client's kind first."""
        syntax, told = "native" if native else "xml", flat(text)
        found = [n for n, wanted in enumerate(self._wanted) if wanted in told]
        longest = max((len(self._wanted[n]) for n in found), default=0)
        best = [n for n in found if len(self._wanted[n]) == longest]
        return tuple(sorted(best, key=lambda n: self._solutions[n].syntax != syntax))

    def _whose(self, found: tuple[int, ...], messages: Sequence[Message], text: str, *, native: bool) -> int:
        """Of solutions whose requests read alike the one whose folder the conversation names; else the first."""
        if not self._solutions[found[0]].alike:
            return found[0]
        begun = [text_of(m) for _, m in zip(range(LOOKED_AT + 1), messages, strict=False)]
        for tried in (lambda: found, lambda: self._of(text, native=native, again=True)):
            for n in tried():
                if any(self._solutions[n].cwd in each for each in begun):
                    return n
        return found[0]

    def _known_as(self, number: int) -> Known:
        if number not in self._known:
            solution = self._solutions[number]
            asked = solution.request + (f"\n{solution.cwd}" if solution.alike else "")
            key = xxhash.xxh3_64_hexdigest(asked.encode(errors="replace"))
            self._known[number] = Known(solution, Signs(solution), key)
        return self._known[number]

    def _read(self) -> bool:
        """What has been added since the last time. False: nothing."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                added = file.read()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise UsageError(f"--solutions {self.path}: cannot be read ({error.strerror})") from None
        whole = added.rfind(b"\n") + 1  # a line that is being written is left for the next time
        self._offset += whole
        for line in added[:whole].splitlines():
            self._lines += 1
            mark = xxhash.xxh3_128_digest(line)
            if mark not in self._seen:  # several runs against one engine write the same ones
                self._seen.add(mark)
                self._add(line)
        return whole > 0

    def _add(self, line: bytes) -> None:
        try:
            solution = from_line(line)
        except ValueError as error:
            cure = "make the file anew with `sim plan SCENARIO --solutions FILE`"
            raise UsageError(f"--solutions {self.path}:{self._lines}: {error}; {cure}") from None
        self._solutions.append(solution)
        self._wanted.append(flat(solution.request))
