"""Patterns of .gitignore lines, which ripgrep's --glob shares. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Glob:
    """negated: begins with "!"; folder_only: ends with "/"."""

    regex: re.Pattern[str]
    negated: bool
    folder_only: bool

    def fits(self, path: str) -> bool:
        """path: relative to where the pattern stands. Only the entry itself counts, not the folders that it is in."""
        return self.regex.fullmatch(path) is not None


def parse(line: str) -> Glob | None:
    """None: a blank line, a comment, or no pattern."""
    text = line.removesuffix("\r")
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text.removeprefix("!")
    folder_only = text.endswith("/")
    text = text.removesuffix("/")
    anchored = "/" in text
    regex = _translate(text.removeprefix("/"))
    if not text or regex is None:
        return None
    try:
        return Glob(re.compile(regex if anchored else "(?:.*/)?" + regex, re.DOTALL), negated, folder_only)
    except re.error:  # a range from z to a
        return None


_TOKEN = re.compile(r"(?:^|(?<=/))\*\*/|\*+|\?|\[[!^]?\]?[^\]]*\]|\\.|.", re.DOTALL)


def _translate(text: str) -> str | None:
    """Regular expression of a pattern; None when it can fit nothing (it ends with a backslash).

    Names and patterns are anybody's, so nothing may be tried in many ways: what stands between two stars of a name, or
    between two `**/`, is taken where it first fits, which leaves the most to the rest.
    """
    parts: list[str] = []
    folders = star = None  # where in parts the last "**/", and the last star of this name, begins
    for token in _TOKEN.findall(text):
        if token == "\\":
            return None
        if token == "**/":
            _first_fit(parts, folders, "(?>(?:[^/]+/)*?")
            folders, star = len(parts), None
            parts.append("(?:.*/)?")
        elif token == "**" and parts[-1:] == ["/"] and text.endswith("/**"):
            parts.append(".+")
        elif token[0] == "*":
            _first_fit(parts, star, "(?>[^/]*?")
            star = len(parts)
            parts.append("[^/]*")
        elif token == "?":
            parts.append("[^/]")
        elif token[0] == "[" and len(token) > 1:
            parts.append(_class(token[1:-1]))
        else:
            star = None if token == "/" else star
            parts.append(re.escape(token[-1]))
    return "".join(parts)


def _first_fit(parts: list[str], start: int | None, opening: str) -> None:
    """What begins at `start` and ends here gives nothing back once it fits."""
    if start is not None:
        parts[start] = opening
        parts.append(")")


def _class(inside: str) -> str:
    """A bracket expression's inside -> ours. It never fits a "/"."""
    negated = inside[0] in "!^"
    body = re.sub(r"[\[\]&~|^]", r"\\\g<0>", inside[negated:])
    return rf"(?!/)[{'^' if negated else ''}{body}]"
