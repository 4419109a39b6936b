"""Which files of a workspace tools look at: .gitignore rules as git and ripgrep read them, sorted by path everywhere.

Rules are asked about one entry at a time, on the way down: what lies in a hidden folder is never reached, as in git.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from simulator.drive.globs import Glob, parse
from simulator.drive.regular import NotRegular, read_regular

#: folders that no tool ever enters
NEVER = frozenset({".git", "__pycache__", "node_modules", ".venv"})
#: a .gitignore that is larger, or no regular file, is no .gitignore
MAX_RULES_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """`path`: POSIX, relative to the root. Symbolic links are entries, never followed."""

    path: str
    name: str
    folder: bool
    link: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """Ignore rules in force in a folder: (folder they come from with its "/", its rules), outermost first."""

    layers: tuple[tuple[str, tuple[Glob, ...]], ...] = ()

    def enter(self, root: Path, folder: str) -> Rules:
        """Rules inside `folder` ("" or "a/b/"), its own .gitignore added."""
        try:
            data = read_regular(root / folder / ".gitignore", MAX_RULES_BYTES)
        except (OSError, NotRegular):
            return self
        lines = data.decode(errors="replace").split("\n")
        return Rules((*self.layers, (folder, tuple(filter(None, map(parse, lines))))))

    def hide(self, path: str, folder: bool) -> bool:
        for base, globs in reversed(self.layers):
            for glob in reversed(globs):  # the last rule that fits decides
                if (folder or not glob.folder_only) and glob.fits(path[len(base) :]):
                    return not glob.negated
        return False


def rules_at(root: Path, folder: str) -> Rules:
    """Rules in force inside `folder` ("" or "a/b/"), read from the root downwards."""
    rules = Rules().enter(root, "")
    parts = folder.split("/")[:-1]
    for depth in range(len(parts)):
        rules = rules.enter(root, "/".join(parts[: depth + 1]) + "/")
    return rules


def _nothing() -> None:
    return


def entries(root: Path, folder: str, rules: Rules, *, hidden: bool, each: Callable[[], None] = _nothing) -> list[Entry]:
    """What lies directly in `folder` and is not ignored, sorted by name. hidden: names that begin with a dot too;
    each: called before the rules are asked about an entry, and may raise."""
    try:
        found = sorted(os.scandir(root / folder), key=lambda e: e.name)
    except OSError:  # gone, not ours to read, or deeper than a path can say
        return []
    shown = []
    for item in found:
        each()
        folder_like = item.is_dir(follow_symlinks=False)
        path = folder + item.name
        if (folder_like and item.name in NEVER) or item.name == ".git" or (not hidden and item.name.startswith(".")):
            continue
        if not rules.hide(path, folder_like):
            shown.append(Entry(path, item.name, folder_like, item.is_symlink()))
    return shown


def walk(root: Path, folder: str = "", *, hidden: bool, each: Callable[[], None] = _nothing) -> Iterator[str]:
    """Paths of the files and links below `folder`, in path order, nested repositories left out. hidden, each: as for
    `entries`."""

    def inside(folder: str, rules: Rules) -> Iterator[tuple[Entry, Rules]]:
        return iter([(entry, rules) for entry in entries(root, folder, rules, hidden=hidden, each=each)])

    # a stack and not a recursion, for folders may be nested deeper than calls can be
    stack = [inside(folder, rules_at(root, folder))]
    while stack:
        for entry, rules in stack[-1]:
            if not entry.folder:
                if entry.link or os.path.isfile(root / entry.path):
                    yield entry.path
            elif not os.path.exists(root / entry.path / ".git"):
                below = entry.path + "/"
                stack.append(inside(below, rules.enter(root, below)))
                break
        else:
            stack.pop()
