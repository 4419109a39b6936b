"""A sub-agent that explores one part of any repository: it lists, searches, reads and reports.

It decides from what it sees, so it is a generator: it yields a Step and is sent the outcome of that step's action. It
only looks, so it may run beside others and beside its parent's workspace at any time.
"""

from __future__ import annotations

import posixpath
import random
import re
from collections.abc import Generator
from dataclasses import dataclass, field

from simulator.core.action import (
    Complete,
    Definitions,
    FileText,
    Listing,
    Matches,
    Outcome,
    Outline,
    ReadFile,
    Search,
    Step,
)

#: replies of an explorer, the report included, lie between these
FEWEST_REPLIES, MOST_REPLIES = 3, 8
_NOT_TEXT = (".pdf", ".docx", ".xlsx", ".png", ".jpg", ".gif", ".zip", ".gz", ".db")
#: (files to look into, what marks a structure in them)
_STRUCTURE = (
    ("*.py", r"^(class|def) \w+"),
    ("*.md", r"^#+ "),
    ("*.json", r"^\s{0,2}\"\w+\":"),
    ("*.csv", r"^[A-Za-z_]+[,;]"),
)
_HEADING = re.compile(r"^(?:class |def |async def |#+ )")
_LINES = (80, 120, 160, 240)
_QUESTIONS = (
    "What is in it, how do its parts depend on each other, and which of them does the task touch?",
    "Which functions or records matter for the task, and which conventions do they follow?",
    "Where would a change for the task have to be made, and who else relies on these places?",
)


@dataclass(frozen=True, slots=True)
class Part:
    """What one explorer looks at. folder: the deepest that holds all its files, "." for the root; files: readable ones
    first, sorted."""

    folder: str
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        return "the files at the top of the repository" if self.folder == "." else f"`{self.folder}/`"


@dataclass(slots=True)
class _Notes:
    lines: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)


def parts(listing: Listing, wanted: int) -> tuple[Part, ...]:
    """At most `wanted` parts of the repository, larger folders divided, each with at least one file."""
    groups: dict[str, list[str]] = {}
    for path in listing.paths:
        if not path.endswith("/"):
            groups.setdefault(path.split("/", 1)[0] if "/" in path else ".", []).append(path)
    pieces = sorted(groups.values(), key=lambda files: (-len(files), files[0]))
    while pieces and len(pieces) < wanted and len(pieces[0]) >= 4:
        files = pieces.pop(0)
        half = len(files) // 2
        pieces = sorted([*pieces, files[:half], files[half:]], key=lambda files: (-len(files), files[0]))
    return tuple(_part(files) for files in pieces[:wanted])


def _part(files: list[str]) -> Part:
    folder = posixpath.commonpath([posixpath.dirname(f) for f in files])
    return Part(folder or ".", tuple(sorted(files, key=lambda f: (f.endswith(_NOT_TEXT), f))))


def prompt(part: Part, task_prompt: str, rng: random.Random) -> str:
    """What the parent asks of this explorer; it holds all that the explorer knows."""
    task = " ".join(task_prompt.split())
    task = task if len(task) <= 400 else task[:397] + "..."
    names = ", ".join(part.files[:8]) + (f" and {len(part.files) - 8} more" if len(part.files) > 8 else "")
    return (
        f"Look into {part.name}.\n\nThe task behind it: {task}\n\n{rng.choice(_QUESTIONS)} The files there: {names}. "
        "Answer with the facts, a line a file, and say what you did not open."
    )


Walk = Generator[Step, Outcome, None]


def explorer(part: Part, rng: random.Random) -> Walk:
    """Three to eight replies, the last of which completes with a report."""
    notes = _Notes()
    source = [f for f in part.files if f.endswith(".py")]
    if source:
        found = yield Step(f"An outline of {part.name} first.", (Definitions(posixpath.dirname(source[0]) or "."),))
        _outlined(notes, found)
    pattern, regex = next((p for p in _STRUCTURE if any(f.endswith(p[0][1:]) for f in part.files)), ("*", r"\w+: "))
    found = yield Step("What gives these files their structure?", (Search(regex, part.folder, pattern),))
    _matched(notes, found, regex)
    readable = [f for f in part.files if not f.endswith(_NOT_TEXT)]
    room = MOST_REPLIES - 2 - bool(source)
    number = min(len(readable), rng.randint(1, room))
    for path in sorted(rng.sample(readable, number)):
        found = yield Step(f"`{path}` is worth a look.", (ReadFile(path, 1, rng.choice(_LINES)),))
        _noted(notes, path, found)
    if not number and not source:
        found = yield Step(
            "Nothing here is plain text, so names are all there is.", (Search(r"\S", part.folder, "*.md"),)
        )
        _matched(notes, found, "text")
    yield Step("", (Complete(_report(part, notes)),))


def _outlined(notes: _Notes, found: Outcome) -> None:
    if isinstance(found, Outline):
        for path, lines in found.files[:12]:
            names = ", ".join(line.strip().rstrip(":") for _, line in lines[:6])
            notes.lines.append(f"- {path}: {names}{' ...' if len(lines) > 6 else ''}")


def _matched(notes: _Notes, found: Outcome, regex: str) -> None:
    if isinstance(found, Matches):
        files = list(dict.fromkeys(hit.path for hit in found.hits))
        some = f", most of them in {files[0]}" if files else ""
        notes.lines.append(f"- {found.total} matches of `{regex}` in {len(files)} files{some}")


def _noted(notes: _Notes, path: str, found: Outcome) -> None:
    notes.read.append(path)
    if not isinstance(found, FileText):
        notes.lines.append(f"- {path}: could not be read")
        return
    lines = found.text.splitlines()
    marks = [f"{line.strip().rstrip(':')} (line {no})" for no, line in enumerate(lines, 1) if _HEADING.match(line)]
    what = "; ".join(marks[:5]) or f"begins with `{lines[0].strip()[:80]}`" if lines else "empty"
    notes.lines.append(f"- {path}, {len(lines)} lines: {what}")


def _report(part: Part, notes: _Notes) -> str:
    left = [f for f in part.files if f not in notes.read]
    closing = (
        f"Not opened: {', '.join(left[:10])}{' ...' if len(left) > 10 else ''}." if left else "All of it was read."
    )
    return f"{part.name[0].upper()}{part.name[1:]}, {len(part.files)} files:\n\n" + "\n".join(
        [*notes.lines, "", closing]
    )
