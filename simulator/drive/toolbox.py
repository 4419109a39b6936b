"""The agent's tools, done for real in one workspace. Whatever an action names, nothing outside that folder is touched.

Results hold everything there is; what a client shows of it (line ranges, cuts, wording) is the profile's business.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from simulator.core.action import (
    Action,
    Command,
    Complete,
    Declined,
    Definitions,
    Delegate,
    Edit,
    Edited,
    EditFailed,
    FileText,
    Finished,
    Heard,
    Insert,
    ListFiles,
    Outcome,
    Outline,
    Propose,
    Ran,
    ReadFile,
    Refused,
    Search,
    SwitchToAct,
    Write,
)
from simulator.drive.commands import CommandRunner
from simulator.drive.dialect import BadPattern
from simulator.drive.edits import FailedBlock, apply_blocks
from simulator.drive.encodings import clean, decode, is_binary, shown
from simulator.drive.extract import Unreadable, document
from simulator.drive.gitenv import steers
from simulator.drive.ignore import entries, rules_at
from simulator.drive.listing import list_files
from simulator.drive.outline import definitions, is_source
from simulator.drive.patterns import TooSlow
from simulator.drive.regular import NotRegular, read_regular
from simulator.drive.searcher import Lost, Searcher
from simulator.drive.timelimit import time_limit_s

MAX_FILE_BYTES = 20_000_000
MAX_OUTLINED = 50
SEARCH_LIMIT_S = 30.0


class _NotDone(Exception):
    """str() is the reason of a Refused."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """root: the workspace; shown_root: the path that prompts show for it, mapped both ways in commands and outputs.

    documents: "extracted" or "raw" (core.task.Style); context_lines: around each search hit, as many as any client
    shows; search_limit_s: how long a search may take; searcher: who does it.
    Holds no state besides the files, so threads may share it as far as they may share the files.
    """

    root: Path
    shown_root: str
    runner: CommandRunner
    documents: str = "extracted"
    context_lines: int = 2
    search_limit_s: float = SEARCH_LIMIT_S
    searcher: Searcher = field(default_factory=Searcher)
    _real: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_real", Path(os.path.realpath(self.root)))

    def end_searches(self) -> None:
        """Whatever is searched for in this workspace now is given up."""
        self.searcher.end(self._real)

    def do(self, action: Action) -> Outcome:
        try:
            match action:
                case ListFiles():
                    return list_files(self._real, self._folder(action.path), action.recursive)
                case ReadFile():
                    return self._read(action.path)
                case Search():
                    return self._search(action)
                case Definitions():
                    return self._definitions(action.path)
                case Edit():
                    return self._edit(action)
                case Insert():
                    return self._insert(action)
                case Write():
                    return self._write(action)
                case Command():
                    return self._command(action)
                case Propose():
                    return Heard(action.answer)
                case Declined():
                    return Refused(action.reason)
                case Complete() | SwitchToAct() | Delegate():
                    return Finished()  # nothing of it happens in the workspace
        except _NotDone as refusal:
            return Refused(clean(str(refusal)))
        except OSError as error:
            return Refused(clean(f"{error.strerror or error}: {getattr(action, 'path', '')}"))
        except (
            ValueError,
            OverflowError,
            RecursionError,
            MemoryError,
        ) as error:  # whatever a model asked for, it gets an answer and its session goes on
            return Refused(clean(f"This could not be done: {type(error).__name__}: {str(error)[:200]}"))

    # paths

    def _inside(self, path: str) -> str:
        """Relative POSIX path ("" for the root) of what `path` means, symbolic links followed; else _NotDone."""
        if "\0" in path:
            raise _NotDone("The path contains a NUL character")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise _NotDone(f"The path contains a character that no file name can have: {path}") from None
        for base in (self.shown_root.rstrip("/"), str(self.root), str(self._real)):
            if path == base or path.startswith(base + "/"):
                path = path[len(base) + 1 :] or "."
                break
        real = Path(os.path.realpath(self._real / path))  # an absolute path replaces the root here, and fails below
        if not real.is_relative_to(self._real):
            raise _NotDone(f"The path is outside the workspace: {path}")
        relative = real.relative_to(self._real)
        if any(map(steers, relative.parts)):
            raise _NotDone(f"The path is inside .git, which tools leave alone: {path}")
        return "" if relative == Path(".") else relative.as_posix()

    def _folder(self, path: str) -> str:
        inside = self._inside(path)
        if not (self._real / inside).is_dir():
            raise _NotDone(f"No such folder: {path}")
        return inside

    def _bytes(self, path: str) -> bytes:
        """Content of a regular file of at most 20 MB."""
        try:
            return read_regular(self._real / self._inside(path), MAX_FILE_BYTES)
        except FileNotFoundError:
            raise _NotDone(f"No such file: {path}") from None
        except NotRegular as error:
            raise _NotDone(f"{error}: {path}") from None

    def _text(self, path: str) -> tuple[str, str]:
        """(text, encoding) of a file that is no binary one."""
        data = self._bytes(path)
        if is_binary(data):
            raise _NotDone(f"This is a binary file, which cannot be read as text: {path}")
        return decode(data)

    # actions

    def _read(self, path: str) -> Outcome:
        data = self._bytes(path)
        try:
            text = document(path, data) if self.documents == "extracted" else None
        except Unreadable as error:
            raise _NotDone(f"No text could be read from the document {path}: {error}") from error
        if text is not None:
            return FileText(text, extracted=True)
        if self.documents == "raw":
            return FileText(data.decode(errors="replace"))
        if is_binary(data):
            raise _NotDone(f"This is a binary file, which cannot be read as text: {path}")
        return FileText(decode(data)[0])

    def _search(self, action: Search) -> Outcome:
        path = self._inside(action.path)
        if not (self._real / path).exists():
            raise _NotDone(f"No such file or folder: {action.path}")
        try:
            limit_s, context = self.search_limit_s, self.context_lines
            return self.searcher.search(self._real, path, action.regex, action.file_pattern, context, limit_s)
        except BadPattern as error:
            raise _NotDone(f"The regular expression {action.regex!r} is not valid: {error}") from error
        except TooSlow:
            raise _NotDone(f"The search for {action.regex!r} timed out after {limit_s:g} seconds") from None
        except Lost as error:
            raise _NotDone(f"The search for {action.regex!r} came to no end: {error}") from None

    def _definitions(self, path: str) -> Outcome:
        inside = self._inside(path)
        if (self._real / inside).is_file():
            names = [inside]
        else:
            folder = self._folder(path)
            folder = folder + "/" if folder else ""
            found = entries(self._real, folder, rules_at(self._real, folder), hidden=False)
            names = [e.path for e in found if not e.folder and not e.link and is_source(e.path)][:MAX_OUTLINED]
        outlined = []
        for name in names:
            try:
                lines = definitions(name, self._text(name)[0])
            except (OSError, _NotDone):
                if len(names) == 1:
                    raise
                continue  # one bad file among others says nothing about them
            if lines:
                outlined.append((shown(name), lines))
        return Outline(tuple(outlined))

    def _edit(self, action: Edit) -> Outcome:
        inside = self._inside(action.path)
        created = not (self._real / inside).exists() and all(not search for search, _ in action.blocks)
        before, encoding = ("", "utf-8") if created else self._text(action.path)
        after = apply_blocks(before, action.blocks)
        if isinstance(after, FailedBlock):
            return EditFailed(inside, after.index, before)
        return self._save(inside, before, after, encoding, created)

    def _insert(self, action: Insert) -> Outcome:
        inside = self._inside(action.path)
        before, encoding = self._text(action.path)
        lines = [line + "\n" for line in before.removesuffix("\n").split("\n")] if before else []
        at = min(max(action.line, 1) - 1, len(lines))
        text = action.text if not action.text or action.text.endswith("\n") else action.text + "\n"
        return self._save(inside, before, "".join([*lines[:at], text, *lines[at:]]), encoding, created=False)

    def _write(self, action: Write) -> Outcome:
        inside = self._inside(action.path)
        if not (self._real / inside).exists():
            return self._save(inside, "", action.content, "utf-8", created=True)
        before, encoding = decode(self._bytes(action.path))
        return self._save(inside, before, action.content, encoding, created=False)

    def _save(self, inside: str, before: str, after: str, encoding: str, created: bool) -> Edited:
        full = self._real / inside
        full.parent.mkdir(parents=True, exist_ok=True)
        try:
            data = after.encode(encoding)
        except UnicodeEncodeError:  # new text has characters that the file's old encoding lacks
            data = after.encode("utf-8", errors="surrogatepass")
        full.write_bytes(data)
        return Edited(inside, before, after, created)

    def _command(self, action: Command) -> Ran:
        command = _swap(action.command, self.shown_root.rstrip("/"), str(self._real))
        limit_s = time_limit_s(action, patterns=self.documents == "extracted")
        ran = self.runner.run(command, self._real, limit_s)
        shown = _swap(ran.output, str(self._real), self.shown_root.rstrip("/"))
        return Ran(ran.exit_code, shown, ran.timed_out)


def apply_earlier(toolbox: Toolbox, actions: Sequence[Action]) -> None:
    """Bring a workspace to where a session in its middle stands: what changed files is done again, the rest is not."""
    for action in actions:
        if isinstance(action, Edit | Write) or (isinstance(action, Command) and action.effects):
            toolbox.do(action)


def _swap(text: str, old: str, new: str) -> str:
    """Replace a folder's path where the whole path stands, not where it begins a longer name."""
    if old == new or old not in text or not PurePosixPath(old).is_absolute():
        return text
    return re.sub(rf"{re.escape(old)}(?![\w-])", lambda _: new, text)
