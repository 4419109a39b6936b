"""An agent's replies: each says what was seen, a remark or two and the intention, then does something, and the files
are tracked as they then stand. Walks through a package add what they know of it."""

from __future__ import annotations

from random import Random

from simulator.core.action import Action, Complete, Edit, ListFiles, ReadFile, Search, Step
from simulator.core.task import Style

from . import facts, prose

_NUMBER_WIDTH = 8  # characters that a numbered line adds at most


class Replies:
    """files: path -> present text. steps: the replies so far. seen: paths that were read or written. topics: files that
    remarks are about, the latest last. words, edit_words: of a reply before its call, from and to."""

    words = edit_words = (0, 0)

    def __init__(self, files: dict[str, str], rng: Random, style: Style) -> None:
        self.files, self.rng, self.style = dict(files), rng, style
        self.voice = prose.Voice(rng)
        self.steps: list[Step] = []
        self.seen: set[str] = set()
        self.topics: list[str] = []
        self.todo: dict[str, bool] = {}
        self._pending: list[str] = []
        self._used: set[str] = set()
        self._next_progress = 3

    def remark(self) -> str:
        """Something to say beside the matter at hand; "" when all was said."""
        raise NotImplementedError

    def thought(self) -> str:
        """A consideration about what is worked on, or about the start or the end of the work; "" when all were said."""
        raise NotImplementedError

    @property
    def echoes(self) -> bool:
        return self.style.echo_after_edit

    def saw(self, *sentences: str) -> None:
        """What the next reply says about the last result."""
        self._pending += [s for s in sentences if s]

    def plan(self, *todo: str) -> None:
        self.todo = dict.fromkeys(todo, False)

    def done(self, text: str) -> None:
        self.todo[text] = True

    def used(self, what: str) -> bool:
        """Whether this was done before; it counts as done from now on."""
        before = what in self._used
        self._used.add(what)
        return before

    def step(self, intent: str, *actions: Action, insight: str = "", words: tuple[int, int] | None = None) -> None:
        """One reply: what was seen, an insight, remarks up to a length drawn from `words`, the intention."""
        said = [s for s in (*self._pending, insight) if s]
        target = self.rng.randint(*(words or self.words))
        length = sum(len(s.split()) for s in (*said, intent))
        for _ in range(12):
            if length >= target:
                break
            if remark := self.remark():
                said.append(remark)
                length += len(remark.split())
        said.append(intent)
        self._pending = []
        self.steps.append(Step(_paragraphs(said, self.rng), actions, progress=self._progress()))

    def _progress(self) -> str:
        if not self.todo or len(self.steps) < self._next_progress:
            return ""
        self._next_progress = len(self.steps) + self.rng.randint(6, 10)
        return "\n".join(f"- [{'x' if done else ' '}] {text}" for text, done in self.todo.items())

    def complete(self, result: str) -> None:
        said = " ".join([*self._pending, *filter(None, (self.thought() for _ in range(3)))])
        self._pending = []
        self.steps.append(Step(said, (Complete(result),), progress=self._progress()))

    # -- looking ---------------------------------------------------------------------------------------------------

    def list_files(self, path: str, intent: str, *, recursive: bool = False) -> None:
        self.step(intent, ListFiles(path, recursive))
        inside = sum(1 for p in self.files if path == "." or p.startswith(path + "/"))
        self.saw(f"That lists {inside} files below `{path}`." if recursive else "")

    def open(self, paths: list[str], why: str, insight: str) -> None:
        """Read all of these in one reply."""
        actions = [a for path in paths for a in self._whole(path)]
        intent = self.voice.say(prose.READ, path="` and `".join(paths), why=f", {why}" if why else "")
        self.step(intent, *actions, insight=insight)
        for path in paths:
            self.seen.add(path)
            self.topics.append(path)
            self.saw(self.voice.saw(path, self.files[path]))

    def _whole(self, path: str) -> list[ReadFile]:
        """The reads that show a whole file: ranges when one result would lose its middle."""
        lines = self.files[path].splitlines()
        limit = self.style.max_result_chars
        if limit is None:
            return [ReadFile(path)]
        out, start, size = [], 1, 0
        for number, line in enumerate(lines, start=1):
            size += len(line) + _NUMBER_WIDTH
            if size > limit - 400:
                out.append(ReadFile(path, start, number - 1))
                start, size = number, len(line) + _NUMBER_WIDTH
        return [*out, ReadFile(path, start, len(lines))] if out else [ReadFile(path)]

    def look_around(self, path: str, around: str, intent: str, span: int = 90) -> None:
        """Read a range of about `span` lines around a line that holds `around`, unless just that was read before."""
        total = len(self.files[path].splitlines())
        at = facts.line_of(self.files[path], around) or total
        first = max(1, at - self.rng.randint(8, span // 2))
        last = min(total, first + span)
        if not self.used(f"range {path} {first} {last}"):
            self.step(intent, ReadFile(path, first, last))
            self.saw(f"Lines {first} to {last} of `{path}` read as I meant them to.")

    def search(self, regex: str, path: str = ".", pattern: str | None = None, insight: str = "") -> bool:
        """Nothing (False) when there is no hit or it was searched for before."""
        found = facts.hits(self.files, regex, path, pattern.lstrip("*") if pattern else "")
        if not found or self.used(f"search {regex} {path} {pattern}"):
            return False
        where = "the whole repository" if path == "." else f"`{path}`"
        plain = regex.replace(r"\b", "").replace("\\", "")
        self.step(self.voice.say(prose.SEARCH, regex=plain, where=where), Search(regex, path, pattern), insight=insight)
        files = ", ".join(f"`{p}` ({n})" for p, n in list(found.items())[:4])
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        self.saw(self.voice.say(prose.SAW_HITS, total=sum(found.values()), k=len(found), files=files + more))
        return True

    # -- changing --------------------------------------------------------------------------------------------------

    def replace(self, path: str, old: str, new: str, intent: str) -> None:
        self.edited(path, ((old, new),), self.files[path].replace(old, new, 1), intent, "")

    def edited(self, path: str, blocks: tuple[tuple[str, str], ...], text: str, intent: str, insight: str) -> None:
        """text: what the file then holds."""
        delta = len(text.splitlines()) - len(self.files[path].splitlines())
        self.step(intent, Edit(path, blocks), insight=insight, words=self.edit_words)
        self.files[path] = text
        self.seen.add(path)
        self.topics.append(path)
        lines = len(text.splitlines())
        self.saw(self.voice.say(prose.SAW_EDIT, path=path, lines=lines, delta=f"{delta:+d}"))


def _paragraphs(sentences: list[str], rng: Random) -> str:
    """Sentences as one paragraph, or two when there are many."""
    if len(sentences) < 4 or rng.random() < 0.5:
        return " ".join(sentences)
    cut = rng.randint(1, len(sentences) - 2)
    return " ".join(sentences[:cut]) + "\n\n" + " ".join(sentences[cut:])
