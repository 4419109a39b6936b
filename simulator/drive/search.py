"""Searching files as ripgrep does by default, with the same result on every machine."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from simulator.core.action import Hit, Matches
from simulator.drive.dialect import BadPattern
from simulator.drive.encodings import UTF16_MARKS, shown
from simulator.drive.globs import parse
from simulator.drive.ignore import walk
from simulator.drive.patterns import Pattern, TooSlow
from simulator.drive.regular import NotRegular, read_regular

#: more than any client shows of them: 300 in a list, or 48,000 characters of a shell's output
MAX_HITS = 1_000
#: larger files are passed over: nobody has source code like that, and many searches at once must not fill the memory
MAX_FILE_BYTES = 20_000_000
MAX_GLOBS = 500
#: longer lines (minified code, data) are cut, or one hit could fill a context window
MAX_LINE_CHARS = 500


def search(
    root: Path,
    path: str,
    regex: str,
    file_pattern: str | None,
    context_lines: int,
    deadline: float = math.inf,
    *,
    alone: bool = False,
) -> Matches:
    """Hits below `path` (a folder or one file, relative to root, "" for all) in path order.

    Hidden, ignored and binary files are skipped unless named by `path` itself. deadline: time.monotonic(). alone: in a
    process that is killed when it takes too long; elsewhere patterns.NotSoon before anything that might.
    dialect.BadPattern: `regex` is no expression; patterns.TooSlow: the deadline passed.
    """
    pattern = Pattern(regex)

    def in_time() -> None:
        if time.monotonic() > deadline:
            raise TooSlow

    if (root / path).is_file():
        names: Iterable[str] = [path]
    else:
        names = walk(root, path.rstrip("/") + "/" if path else "", hidden=False, each=in_time)
    wanted = _glob(file_pattern)
    hits: list[Hit] = []
    total = 0
    for name in names:
        in_time()
        if not wanted(name) or (root / name).is_symlink():
            continue
        lines = _text_lines(root / name)
        found = pattern.find(lines, deadline, alone=alone)
        hits += (_hit(name, lines, index, at, context_lines) for index, at in found[: MAX_HITS - len(hits)])
        total += len(found)
    return Matches(tuple(hits), total)


def _hit(name: str, lines: list[str], index: int, at: int, context: int) -> Hit:
    before = tuple(line[:MAX_LINE_CHARS] for line in lines[max(0, index - context) : index])
    after = tuple(line[:MAX_LINE_CHARS] for line in lines[index + 1 : index + 1 + context])
    return Hit(shown(name), index + 1, lines[index][:MAX_LINE_CHARS], before, after, at + 1)


def _text_lines(path: Path) -> list[str]:
    """Lines of a text file; none for a binary one. A mark says UTF-16; other bytes that are not UTF-8 are replaced."""
    try:
        data = read_regular(path, MAX_FILE_BYTES)
    except (OSError, NotRegular):
        return []
    if data.startswith(UTF16_MARKS):
        text = data.decode("utf-16", errors="replace")
    elif b"\0" in data:
        return []
    else:
        text = data.decode("utf-8-sig", errors="replace")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _glob(file_pattern: str | None) -> Callable[[str], bool]:
    """ripgrep's --glob: a pattern without "/" is for the name at any depth; {a,b} are alternatives; "!" excludes; one
    that fits a folder stands for all in it."""
    if not file_pattern or file_pattern == "*":
        return lambda name: True
    excluded = file_pattern.startswith("!")
    globs = [glob for glob in map(parse, expand_braces(file_pattern.removeprefix("!"))) if glob]

    def wanted(name: str) -> bool:
        parts = name.split("/")
        paths = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        fits = any(g.fits(p) for g in globs for p in (paths[:-1] if g.folder_only else paths))
        return fits != excluded

    return wanted


def expand_braces(pattern: str) -> list[str]:
    """ "*.{ts,tsx}" -> ["*.ts", "*.tsx"]; innermost first, an unpaired brace stays. BadPattern: more than MAX_GLOBS."""
    done: list[str] = []
    left = [pattern]
    while left:
        one = left.pop()
        found = re.search(r"\{([^{}]*)\}", one)
        if found is None:
            done.append(one)
        else:
            left += [one[: found.start()] + part + one[found.end() :] for part in reversed(found[1].split(","))]
        if len(left) + len(done) > MAX_GLOBS:
            raise BadPattern(f"the file pattern stands for more than {MAX_GLOBS} patterns")
    return done
