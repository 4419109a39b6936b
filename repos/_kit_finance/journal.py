"""Writes the recorded path down: one reply after another, with the working copy's text followed along, so that every
edit is known to apply and a client with short results reads long files in ranges."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from simulator.core.action import (
    Action,
    Command,
    Complete,
    Definitions,
    Edit,
    ListFiles,
    ReadFile,
    Search,
    Step,
    Write,
)
from simulator.core.task import Style

_CHOICE = re.compile(r"«([^«»]*)»")
#: characters that a client adds to each line it shows (number and bar)
_GUTTER = 9
#: a reply's prose grows by remarks until it is as long as a draw from this
SAY_CHARS = (300, 580)
#: room left under the cap for what stands around a result
_SLACK = 500


def spin(r: random.Random, text: str) -> str:
    """Every «one|other» becomes one of its alternatives."""
    return _CHOICE.sub(lambda m: r.choice(m[1].split("|")), text)


class Journal:
    """Steps in the making. `files`: path -> text of the working copy as the recorded actions leave it."""

    def __init__(self, r: random.Random, style: Style, files: dict[str, str], chapters: list[str]) -> None:
        self.r, self.style, self.files = r, style, dict(files)
        self.steps: list[Step] = []
        self._todo = [[False, label] for label in chapters]
        self._since_list = 99
        self._pool: list[str] = []
        self.spare: int | None = None
        self.say_chars = SAY_CHARS

    def remember(self, notes: list[str]) -> None:
        """Remarks on what has just been read; later replies take them up, each at most once."""
        self._pool = self.r.sample(notes, len(notes))

    def optional(self, steps: int = 1) -> bool:
        """Whether `steps` that careful agents take and quick ones skip are taken; `spare` limits how many, if set."""
        if self.spare is None:
            return True
        if self.spare < steps or self.r.random() < 0.45:
            return False
        self.spare -= steps
        return True

    def tick(self, label: str) -> None:
        """That item of the checklist is done: the next list shows it, and remarks on it are over."""
        next(item for item in self._todo if item[1] == label)[0] = True
        self._pool = []

    def _step(self, say: str, *actions: Action) -> None:
        self._since_list += 1
        progress = ""
        if self._since_list >= self.r.randint(7, 9) or isinstance(actions[0], Complete):
            progress = "\n".join(f"- [{'x' if done else ' '}] {label}" for done, label in self._todo)
            self._since_list = 0
        text = " ".join(spin(self.r, say).split())
        goal = self.r.randint(*self.say_chars)
        while len(text) < goal and self._pool:
            text += " " + " ".join(spin(self.r, self._pool.pop(0)).split())
        self.steps.append(Step(text, actions, progress=progress))

    def list(self, path: str, say: str, recursive: bool = False) -> None:
        self._step(say, ListFiles(path, recursive))

    def outline(self, path: str, say: str) -> None:
        self._step(say, Definitions(path))

    def search(self, regex: str, say: str, path: str = ".", pattern: str | None = None) -> None:
        self._step(say, Search(regex, path, pattern))

    def ranges(self, path: str) -> tuple[ReadFile, ...]:
        """One read, or as many line ranges as keep each result under the client's cap."""
        limit = self.style.max_result_chars
        lines = self.files[path].splitlines()
        if limit is None or sum(len(x) + _GUTTER for x in lines) <= limit - _SLACK:
            return (ReadFile(path),)
        found, first, size = [], 1, 0
        for number, line in enumerate(lines, 1):
            if size + len(line) + _GUTTER > limit - _SLACK:
                found.append(ReadFile(path, first, number - 1))
                first, size = number, 0
            size += len(line) + _GUTTER
        return (*found, ReadFile(path, first, len(lines)))

    def read(self, path: str, say: str, first: int | None = None, last: int | None = None) -> None:
        if first is not None or path not in self.files:
            self._step(say, ReadFile(path, first, last))
        else:
            self._step(say, *self.ranges(path)) if not self.style.echo_after_edit else self._step(say, ReadFile(path))

    def read_set(self, items: list[tuple[str, str]]) -> None:
        """(path, say) each: one reply a file, or a single reply with several calls where the client takes those."""
        if self.style.echo_after_edit:
            for path, say in items:
                self.read(path, say)
        else:
            self._step(items[0][1], *(x for path, _ in items for x in self.ranges(path)))

    def section(self, path: str, heading: str, say: str) -> None:
        """Looks up one section of a Markdown file that was read before; careful agents do."""
        if not self.optional():
            return
        lines = self.files[path].splitlines()
        first = next(k for k, line in enumerate(lines, 1) if line.startswith("## ") and line.endswith(f". {heading}"))
        rest = (k for k, line in enumerate(lines[first:], first) if line.startswith("## "))
        self.read(path, say, first, next(rest, len(lines)))

    def short(self, command: str, cut: str) -> str:
        """`command` with its output cut where the client repeats outputs in full (clients that echo edits do)."""
        return f"{command} {cut}" if self.style.echo_after_edit else command

    def write(self, path: str, content: str, say: str) -> None:
        self.files[path] = content
        self._step(say, Write(path, content))

    def edit(self, path: str, say: str, *blocks: tuple[str, str], again: str = "") -> None:
        """`again`: what is said when a client that does not echo the file looks at the place once more."""
        text = self.files[path]
        for old, new in blocks:
            if text.count(old) != 1:
                raise ValueError(f"{path}: {text.count(old)} places for {old!r}")
            text = text.replace(old, new)
        self.files[path] = text
        self._step(say, Edit(path, blocks))
        if again and not self.style.echo_after_edit and self.optional():
            at = text[: text.index(blocks[0][1])].count("\n") + 1
            self.read(
                path, again, max(1, at - self.r.randint(9, 18)), at + blocks[0][1].count("\n") + self.r.randint(12, 25)
            )

    def run(self, command: str, say: str, effects: bool = False) -> None:
        self._step(say, Command(command, effects))

    def finish(self, result: str, say: str) -> None:
        for item in self._todo:
            item[0] = True
        self._step(say, Complete(spin(self.r, result)))


def one_of(r: random.Random) -> Callable[[str], str]:
    """pick("a b c") -> one of them."""
    return lambda words: r.choice(words.split())
