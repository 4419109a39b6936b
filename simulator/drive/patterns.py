"""Looking for an expression in ripgrep's dialect (dialect.py), with a time limit.

Python's engines backtrack where ripgrep's does not: what may take long runs without holding up other threads, and is
given up at its deadline.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence

import regex

from simulator.drive.dialect import BadPattern, Reader

#: steps (an upper bound by the look of a pattern) that a line may take on the engine that holds up all threads
QUICK_STEPS = 2e6


class TooSlow(Exception):
    """The deadline passed."""


class Pattern:
    """One expression, looked for in single lines. BadPattern: it is none."""

    def __init__(self, expression: str) -> None:
        read = Reader(expression)
        self._quick: re.Pattern[str] | None = None
        self._slow: regex.Pattern[str] | None = None
        self._quick_chars = 0
        try:
            self._text = read.whole()
            if read.other_engine or read.risky:
                self._slow = regex.compile(self._text, regex.V1)
            else:
                self._quick = re.compile(self._text)
                self._quick_chars = _quick_chars(read.repeats, read.choices)
        except (re.error, regex.error, OverflowError) as error:
            raise BadPattern(str(error)) from error
        except (RecursionError, MemoryError):
            raise BadPattern("it is nested too deeply") from None

    def find(self, lines: Sequence[str], deadline: float) -> list[tuple[int, int]]:
        """(index of a line in which it is found, where in that line). deadline: time.monotonic(); TooSlow when that
        passes."""
        if self._quick is not None and max(map(len, lines), default=0) <= self._quick_chars:
            search = self._quick.search
            return [(n, found.start()) for n, line in enumerate(lines) if (found := search(line))]
        places = ((n, self._find(line, deadline)) for n, line in enumerate(lines))
        return [(n, at) for n, at in places if at is not None]

    def _find(self, line: str, deadline: float) -> int | None:
        if self._quick is not None and len(line) <= self._quick_chars:
            found = self._quick.search(line)
            return None if found is None else found.start()
        if self._slow is None:
            self._slow = regex.compile(self._text, regex.V1)
        left = deadline - time.monotonic()
        if left <= 0:
            raise TooSlow
        try:
            other = self._slow.search(line, concurrent=True, timeout=left)
        except TimeoutError:
            raise TooSlow from None
        return None if other is None else other.start()


def _quick_chars(repeats: int, choices: float) -> int:
    """How long a line may be: `repeats` open ends and a start can be put in (length ** n / n!) ways."""
    n = repeats + 1
    return int((QUICK_STEPS / choices * math.factorial(n)) ** (1 / n))
