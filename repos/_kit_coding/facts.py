"""What a reader notices in a file: definitions with their lines, constants, tests, headings."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

_DEF = re.compile(r"^( *)(def|class) (\w+)")
_DOC = re.compile(r'^ +"""(.+?)(?:"""|$)')
_TS = re.compile(r'^(?:export |import .* from ")', re.M)
_TS_DEF = re.compile(r"^( *)(?:export )?(?:async )?(function|class|const|interface|type) (\w+)")
_TS_DOC = re.compile(r"^ *(?:/\*\*|\*) ?(.+?)(?: \*/)?$")
_TS_TEST = re.compile(r'^test\("([^"]+)"', re.M)
_CONST = re.compile(r"^([A-Z][A-Z_]+)(?:: [^=]+)? = (\S.*)$")


@dataclass(frozen=True, slots=True)
class Def:
    """A function, method or class: 1-based line, first line of its docstring ("" if it has none)."""

    name: str
    line: int
    is_class: bool
    doc: str
    size: int


@functools.lru_cache(maxsize=512)
def outline(text: str) -> tuple[Def, ...]:
    lines = text.splitlines()
    if _TS.search(text):
        return _outline_ts(lines)
    starts = [(i, m) for i, line in enumerate(lines) if (m := _DEF.match(line))]
    found = []
    for number, (i, match) in enumerate(starts):
        doc = next((d[1] for d in map(_DOC.match, lines[i + 1 : i + 4]) if d), "")
        end = starts[number + 1][0] if number + 1 < len(starts) else len(lines)
        found.append(Def(match[3], i + 1, match[2] == "class", _first_sentence(doc), end - i))
    return tuple(found)


def _outline_ts(lines: list[str]) -> tuple[Def, ...]:
    """The same of TypeScript, whose comments stand above; constants only at the top level."""
    starts = [(i, m) for i, line in enumerate(lines) if (m := _TS_DEF.match(line)) and not (m[1] and m[2] == "const")]
    found = []
    for number, (i, match) in enumerate(starts):
        above = _TS_DOC.match(lines[i - 1]) if i else None
        end = starts[number + 1][0] if number + 1 < len(starts) else len(lines)
        found.append(Def(match[3], i + 1, match[2] == "class", _first_sentence(above[1]) if above else "", end - i))
    return tuple(found)


def _first_sentence(doc: str) -> str:
    return re.split(r"(?<=[a-z0-9`)])[.;:](?: |$)", doc.strip())[0].rstrip(".")


def constants(text: str) -> list[tuple[str, str, int]]:
    """(name, value, line) of the one-line constants of a module."""
    return [(m[1], m[2], i) for i, line in enumerate(text.splitlines(), start=1) if (m := _CONST.match(line))]


def tests(text: str) -> list[str]:
    if _TS.search(text):
        return _TS_TEST.findall(text)
    return [d.name for d in outline(text) if d.name.startswith("test_")]


def test_classes(text: str) -> list[str]:
    return [d.name for d in outline(text) if d.is_class and d.name.endswith("Test")]


def headings(text: str) -> list[str]:
    return [line.lstrip("# ") for line in text.splitlines() if line.startswith("#")]


def line_of(text: str, needle: str) -> int:
    """First 1-based line that holds the text; 0 when none does."""
    return next((i for i, line in enumerate(text.splitlines(), start=1) if needle in line), 0)


def hits(files: dict[str, str], regex: str, folder: str, suffix: str) -> dict[str, int]:
    """path -> number of matching lines, for files below a folder whose name ends in suffix."""
    pattern = re.compile(regex)
    inside = "" if folder == "." else folder + "/"
    out = {}
    for path in sorted(files):
        if path.startswith(inside) and path.endswith(suffix):
            n = sum(1 for line in files[path].splitlines() if pattern.search(line))
            if n:
                out[path] = n
    return out
