"""Which files of a workspace tools look at: .gitignore rules as git and ripgrep read them, sorted by path everywhere.

Rules are asked about one entry at a time, on the way down: what lies in a hidden folder is never reached, as in git.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simulator.drive.globs import Glob, parse

#: folders that no tool ever enters
NEVER = frozenset({".git", "__pycache__", "node_modules", ".venv"})


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
            lines = (root / folder / ".gitignore").read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return self
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


def entries(root: Path, folder: str, rules: Rules, *, hidden: bool) -> list[Entry]:
    """What lies directly in `folder` and is not ignored, sorted by name. hidden: names that begin with a dot too."""
    try:
        found = sorted(os.scandir(root / folder), key=lambda e: e.name)
    except (NotADirectoryError, FileNotFoundError, PermissionError):
        return []
    shown = []
    for item in found:
        folder_like = item.is_dir(follow_symlinks=False)
        path = folder + item.name
        if (folder_like and item.name in NEVER) or item.name == ".git" or (not hidden and item.name.startswith(".")):
            continue
        if not rules.hide(path, folder_like):
            shown.append(Entry(path, item.name, folder_like, item.is_symlink()))
    return shown


def walk(root: Path, folder: str = "", *, hidden: bool) -> Iterator[str]:
    """Paths of the files and links below `folder`, in path order, nested repositories left out."""
    yield from _walk(root, folder, rules_at(root, folder), hidden)


def _walk(root: Path, folder: str, rules: Rules, hidden: bool) -> Iterator[str]:
    for entry in entries(root, folder, rules, hidden=hidden):
        if not entry.folder:
            if entry.link or os.path.isfile(root / entry.path):
                yield entry.path
        elif not os.path.exists(root / entry.path / ".git"):
            inside = entry.path + "/"
            yield from _walk(root, inside, rules.enter(root, inside), hidden)
