"""Regular expressions as ripgrep's default engine reads them, written for Python's engines. Pure.

Translated: inline flags anywhere, POSIX classes, `\\z`, `\\<`, `\\>`, `\\b{start}`, `\\x{..}`, named groups, repeated
repetitions, `\\p{..}` and set operations in classes. Refused, as there: look-around, backreferences, atomic groups, a
lone `{`, a literal line end.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, field

MAX_NESTED = 200
#: atoms, with counted repetitions written out; well inside ripgrep's own limit of 100 MB
MAX_SIZE = 200_000
_POSIX = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "word": r"a-zA-Z0-9_",
    "space": r" \t\n\r\f\v", "blank": r" \t", "punct": re.escape(string.punctuation), "xdigit": "0-9a-fA-F",
    "cntrl": r"\x00-\x1f\x7f", "graph": "!-~", "print": " -~", "ascii": r"\x00-\x7f",
}  # fmt: skip
_POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
_FLAGS = re.compile(r"\(\?([imsxUuR]*)(?:-([imsxUuR]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<[A-Za-z_][\w.\[\]]*>")
_COUNT = re.compile(r"\{\s*(\d+)\s*(,?)\s*(\d*)\s*\}")
_CODE = re.compile(r"x\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})")
_PROPERTY = re.compile(r"[pP](?:[A-Za-z]|\{[\w=:!^ -]+\})")
_EDGES = {"b{start}": r"\b(?=\w)", "b{end}": r"\b(?<=\w)", "b{start-half}": r"(?<!\w)", "b{end-half}": r"(?!\w)",
          "<": r"\b(?=\w)", ">": r"\b(?<=\w)"}  # fmt: skip


class BadPattern(Exception):
    """str() says what is wrong with it."""


@dataclass(slots=True)
class _Group:
    """An open parenthesis. start: its place in the output; repeats, choices, size: of the whole pattern when it was
    opened; flags: groups opened in it by flags without a group."""

    start: int
    flags: list[str] = field(default_factory=list)
    branches: int = 1
    repeats: int = 0
    choices: float = 1.0
    size: int = 0


class Reader:
    """Reads an expression once, from left to right.

    other_engine: `re` lacks something that it uses; repeats, choices: how many open repetitions it has, and how many
    ways to choose between branches; risky: it repeats what has repetitions or branches in it.
    """

    def __init__(self, expression: str) -> None:
        self._in, self._at = expression, 0
        self._out: list[str] = []
        self._groups = [_Group(0)]
        self._atom: int | None = None  # where in the output what a quantifier would repeat begins
        self._atom_busy = self._atom_quantified = False
        self._size = self._size_before = 0  # of all, and of what comes before the atom
        self.other_engine = self.risky = False
        self.repeats = 0
        self.choices = 1.0

    def whole(self) -> str:
        while self._at < len(self._in):
            self._next(self._in[self._at])
        if len(self._groups) > 1:
            raise BadPattern("a group is not closed")
        return "".join(self._out) + ")" * len(self._groups[0].flags)

    def _next(self, char: str) -> None:
        match char:
            case "\\":
                self._at += 1
                self._emit(self._escape())
            case "[":
                self._emit(self._class())
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                group = self._groups[-1]
                group.branches += 1
                self._out += [")" * len(group.flags), "|", *group.flags]
                self._atom, self._at = None, self._at + 1
            case "*" | "+" | "?" | "{":
                self._quantifier(char)
            case "\n":
                raise BadPattern("the search is line by line, so a line end cannot be part of it")
            case _:
                self._at += 1
                self._emit(char if char in "^$." else re.escape(char) if char in "}]&~#" else char)

    def _emit(self, text: str) -> None:
        self._atom, self._atom_busy, self._atom_quantified = len(self._out), False, False
        self._out.append(text)
        self._size_before, self._size = self._size, self._size + 1

    # groups

    def _open(self) -> None:
        if len(self._groups) > MAX_NESTED:
            raise BadPattern(f"more than {MAX_NESTED} groups are nested")
        rest = self._in[self._at : self._at + 4]
        if rest.startswith(("(?=", "(?!", "(?<=", "(?<!")):
            raise BadPattern("look-around is not supported")
        self._atom = None
        if flags := _FLAGS.match(self._in, self._at):
            opening = _flag_group(flags[1], flags[2] or "")
            self._at = flags.end()
            if flags[3] == ")":
                self._out.append(opening)
                self._groups[-1].flags.append(opening)
                return
        elif named := _NAMED.match(self._in, self._at):
            opening, self._at = "(?:", named.end()
        elif rest.startswith("(?"):
            raise BadPattern(f"the group {rest!r} is of a kind that is not supported")
        else:
            opening, self._at = "(?:", self._at + 1
        self._groups.append(_Group(len(self._out), repeats=self.repeats, choices=self.choices, size=self._size))
        self._out.append(opening)

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise BadPattern("a group is closed that was not opened")
        group = self._groups.pop()
        self._out.append(")" * (len(group.flags) + 1))
        busy = group.branches > 1 or (self.repeats, self.choices) != (group.repeats, group.choices)
        self.choices *= group.branches
        self._atom, self._atom_quantified = group.start, False
        self._atom_busy, self._size_before = busy, group.size
        self._at += 1

    # repetition

    def _quantifier(self, char: str) -> None:
        if self._atom is None:
            raise BadPattern(f"there is nothing before {char!r} that it could repeat")
        count = None
        if char == "{":
            count = _COUNT.match(self._in, self._at)
            if count is None:
                raise BadPattern("'{' begins no valid repetition; write '\\{' for the character")
        if self._atom_quantified:  # a** repeats a*
            self._out.insert(self._atom, "(?:")
            self._out.append(")")
            self._atom_busy = True
        if count is not None:
            self._grow(count[3] or count[1])
        text = char if count is None else f"{{{count[1]}{count[2]}{count[3]}}}"
        self._at += len(text) if count is None else count.end() - count.start()
        if self._in.startswith("?", self._at):
            text, self._at = text + "?", self._at + 1
        self._out.append(text)
        self._atom_quantified = True
        if char == "?":
            self.choices *= 2
            return
        self.risky |= self._atom_busy
        self.repeats += count is None or bool(count[2])

    def _grow(self, times: str) -> None:
        self._size += (self._size - self._size_before) * (int(times[:9]) - 1)
        if self._size > MAX_SIZE:
            raise BadPattern("it is too large when its repetitions are written out")

    # characters and classes

    def _escape(self, *, in_class: bool = False) -> str:
        """What stands behind a backslash, which was read."""
        if self._at == len(self._in):
            raise BadPattern("it ends with a backslash")
        char = self._in[self._at]
        if code := _CODE.match(self._in, self._at):
            self._at = code.end()
            number = int(next(filter(None, code.groups())), 16)
            if number > 0x10FFFF:
                raise BadPattern(f"there is no character {number:#x}")
            return re.escape(chr(number))
        if prop := _PROPERTY.match(self._in, self._at):
            self._at, self.other_engine = prop.end(), True
            return "\\" + prop[0]
        if not in_class:
            for name, meaning in _EDGES.items():
                if self._in.startswith(name, self._at):
                    self._at += len(name)
                    return meaning
        self._at += 1
        if char.isdigit() or char == "k":
            raise BadPattern("backreferences are not supported")
        if char == "n":
            raise BadPattern("the search is line by line, so a line end cannot be part of it")
        if char in ("dDsSwWtrfva" if in_class else "dDsSwWtrfvabBA"):
            return "\\" + char
        if char == "z" and not in_class:
            return r"\Z"
        if char.isalnum():
            raise BadPattern(f"'\\{char}' means nothing")
        return re.escape(char) if char != "/" else char

    def _class(self) -> str:
        """A bracket expression with what is nested in it."""
        self._at += 1
        out = ["["]
        if self._in.startswith("^", self._at):
            out.append("^")
            self._at += 1
        first = True
        while True:
            if self._at >= len(self._in):
                raise BadPattern("a character class is not closed")
            char = self._in[self._at]
            if char == "]" and not first:
                self._at += 1
                return "".join(out) + "]"
            out.append(self._in_class(char))
            first = False

    def _in_class(self, char: str) -> str:
        if (posix := _POSIX_CLASS.match(self._in, self._at)) and posix[2] in _POSIX:
            self._at = posix.end()
            if posix[1]:
                self.other_engine = True
                return f"[^{_POSIX[posix[2]]}]"
            return _POSIX[posix[2]]
        if char == "[":
            self.other_engine = True
            return self._class()
        if self._in.startswith(("&&", "--", "~~"), self._at):
            self.other_engine, self._at = True, self._at + 2
            return char * 2
        self._at += 1
        if char == "\\":
            return self._escape(in_class=True)
        if char == "\n":
            raise BadPattern("the search is line by line, so a line end cannot be part of it")
        return "\\" + char if char in "[]&~|^" else char


def _flag_group(on: str, off: str) -> str:
    """Flags that change what matches; (?U) only swaps which match is found, (?R) and (?u) are about line ends and
    bytes."""
    kept_on, kept_off = ("".join(sorted({f for f in flags if f in "imsx"})) for flags in (on, off))
    return f"(?{kept_on}{'-' if kept_off else ''}{kept_off}:"
