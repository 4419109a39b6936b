"""Folder listings: folders before files at each level, and the upper levels whole before anything deeper."""

from __future__ import annotations

from pathlib import Path

from simulator.core.action import Listing
from simulator.drive.encodings import shown
from simulator.drive.ignore import Entry, entries, rules_at

MAX_PATHS = 200


def list_files(root: Path, path: str, recursive: bool, cap: int = MAX_PATHS) -> Listing:
    """Paths relative to root. path: a folder ("" for root), read level by level until `cap` paths are there.

    Ignored files are left out; hidden folders are shown but not entered.
    """
    start = path.rstrip("/") + "/" if path else ""
    taken: list[Entry] = []
    level = [(start, rules_at(root, start))]
    truncated = False
    while level and not truncated:
        below = []
        for folder, rules in level:
            for entry in sorted(entries(root, folder, rules, hidden=True), key=lambda e: (not e.folder, e.name)):
                if len(taken) == cap:
                    truncated = True
                    break
                taken.append(entry)
                if recursive and entry.folder and not entry.name.startswith("."):
                    inside = entry.path + "/"
                    below.append((inside, rules.enter(root, inside)))
        level = below
    taken.sort(key=_tree_order)
    return Listing(tuple(shown(e.path) + "/" if e.folder else shown(e.path) for e in taken), truncated)


def _tree_order(entry: Entry) -> list[tuple[bool, str]]:
    """A folder comes right before what is in it, folders before files, then by name."""
    *folders, last = entry.path.split("/")
    return [(False, name) for name in folders] + [(not entry.folder, last)]
