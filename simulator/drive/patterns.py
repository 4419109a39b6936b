"""Looking for an expression in ripgrep's dialect (dialect.py).

Python's engines backtrack where ripgrep's does not. What surely ends soon is told beforehand, by the look of the
expression and the length of the lines; all else is for a process that can be killed (searcher.py).
"""

from __future__ import annotations

import functools
import math
import re
import time
from collections.abc import Sequence

import regex

from simulator.drive.dialect import BadPattern, Reader

#: steps (an upper bound by the look of a pattern) that a line may take here; meanwhile all threads wait
QUICK_STEPS = 2e6
#: between looks at the clock
LINES = 64


class TooSlow(Exception):
    """The deadline passed."""


class NotSoon(Exception):
    """How long it takes cannot be told beforehand."""


class Pattern:
    """One expression, looked for in single lines. BadPattern: it is none."""

    def __init__(self, expression: str) -> None:
        read = Reader(expression)
        self._quick: re.Pattern[str] | None = None
        self._quick_chars = -1
        try:
            self._text = read.whole()
            if read.other_engine or read.risky:
                _ = self._slow
            else:
                self._quick = re.compile(self._text)
                self._quick_chars = _quick_chars(read.repeats, read.choices)
        except (re.error, regex.error, OverflowError) as error:
            raise BadPattern(str(error)) from error
        except (RecursionError, MemoryError):
            raise BadPattern("it is nested too deeply") from None

    def soon(self, lines: Sequence[str]) -> bool:
        """Whether each of them is looked through in milliseconds, whatever is in it."""
        return max(map(len, lines), default=0) <= self._quick_chars

    def find(self, lines: Sequence[str], deadline: float = math.inf, *, alone: bool = True) -> list[tuple[int, int]]:
        """(index of a line in which it is found, where in that line). deadline: time.monotonic(), TooSlow when that
        passes between lines. alone: a single line may take for ever; else NotSoon beforehand where one might."""
        soon = self.soon(lines)
        if not (soon or alone):
            raise NotSoon
        search = self._quick.search if soon and self._quick is not None else self._slow.search
        places: list[tuple[int, int]] = []
        for first in range(0, len(lines), LINES):
            if time.monotonic() > deadline:
                raise TooSlow
            part = lines[first : first + LINES]
            places += [(n, found.start()) for n, line in enumerate(part, first) if (found := search(line))]
        return places

    @functools.cached_property
    def _slow(self) -> regex.Pattern[str]:
        """An engine with all of the dialect, and better at what backtracks."""
        return regex.compile(f"(?-f:{self._text})", regex.V1)  # to ripgrep "ß" is no "ss"


def _quick_chars(repeats: int, choices: float) -> int:
    """How long a line may be: `repeats` open ends and a start can be put in (length ** n / n!) ways."""
    n = repeats + 1
    return int((QUICK_STEPS / choices * math.factorial(n)) ** (1 / n))
