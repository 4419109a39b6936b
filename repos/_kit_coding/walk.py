"""The agent at work in a package: each method appends one reply (what it says, what it does) and tracks what the files
then hold."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from simulator.core.action import Action, Command, Complete, Definitions, Edit, ListFiles, ReadFile, Search, Step, Write
from simulator.core.task import Style

from . import facts, prose, thoughts
from .package import Item, World, is_test
from .render import NEW, edit_blocks

_NUMBER_WIDTH = 8  # characters that a numbered line adds at most
#: words of a reply before its call, from and to
WORDS = (58, 112)


class Walk:
    """files: path -> present text. stages: path -> stage of its slots. steps: the replies so far. item: what is worked
    on, None at the start and the end."""

    def __init__(
        self,
        world: World,
        files: dict[str, str],
        asked: Sequence[Item],
        rng: Random,
        style: Style,
        *,
        red: bool = False,
    ) -> None:
        self.world, self.rng, self.style = world, rng, style
        self.files = dict(files)
        keys = [i.key for i in asked]
        old = dict.fromkeys(world.items, NEW) | dict.fromkeys(keys, "old")
        self.stages = {p: dict.fromkeys(world.items, NEW) if red and is_test(p) else dict(old) for p in world.sources}
        self.voice = prose.Voice(rng)
        self.steps: list[Step] = []
        self.item: Item | None = None
        self.seen: set[str] = set()
        self.ended = False
        self.commands: dict[str, bool] = {}  # each with whether it was to fail
        self._topics: list[str] = []
        self._pending: list[str] = []
        self._used: set[str] = set()
        self._todo: dict[str, bool] = {}
        self._next_progress = 3

    @property
    def echoes(self) -> bool:
        return self.style.echo_after_edit

    def saw(self, *sentences: str) -> None:
        """What the next reply says about the last result."""
        self._pending += [s for s in sentences if s]

    def plan(self, *todo: str) -> None:
        self._todo = dict.fromkeys(todo, False)

    def done(self, text: str) -> None:
        self._todo[text] = True

    def used(self, what: str) -> bool:
        """Whether this was done before; it counts as done from now on."""
        before = what in self._used
        self._used.add(what)
        return before

    def unfinished(self, path: str) -> bool:
        """Whether tests in this file are there for work that is still to be done, and so fail."""
        stages, world = self.stages, self.world
        return any(
            stages[path][key] == NEW and any(stages[p][key] != NEW for p in item.code)
            for key, item in world.items.items() if path in item.tests
        )  # fmt: skip

    # -- replies ---------------------------------------------------------------------------------------------------

    def step(self, intent: str, *actions: Action, insight: str = "", words: tuple[int, int] = WORDS) -> None:
        """One reply: what was seen, an insight, remarks up to a length drawn from `words`, the intention."""
        said = [s for s in (*self._pending, insight) if s]
        target = self.rng.randint(*words)
        length = sum(len(s.split()) for s in (*said, intent))
        for _ in range(12):
            if length >= target:
                break
            if remark := self._remark():
                said.append(remark)
                length += len(remark.split())
        said.append(intent)
        self._pending = []
        self.steps.append(Step(_paragraphs(said, self.rng), actions, progress=self._progress()))

    def _remark(self) -> str:
        if self.item is not None and self.rng.random() < 0.5 and (note := self.voice.once(self.item.lines("notes"))):
            return note
        if self.rng.random() < 0.3 and (thought := self.thought()):
            return thought
        while self._topics:
            path = self._topics[-1]
            if path in self.files and (remark := self.voice.detail(path, self.files[path])):
                return remark
            self._topics.pop()  # nothing new is left to say about it
        for path in sorted(self.seen & self.files.keys()):
            if remark := self.voice.detail(path, self.files[path]):
                return remark
        return self.thought()

    def thought(self) -> str:
        """A consideration about the item at hand, or about the start or the end of the work; "" when all were said."""
        values = {"repo": self.world.repo, "pkg": self.world.package}
        if self.item is None:
            pool = thoughts.CLOSING if self.ended else thoughts.OPENING
            return self.voice.say(pool, once=True, **values)
        path = self.rng.choice(self.item.code)
        return self.voice.say(thoughts.GENERAL, once=True, title=self.item.title, path=path, **values)

    def _progress(self) -> str:
        if not self._todo or len(self.steps) < self._next_progress:
            return ""
        self._next_progress = len(self.steps) + self.rng.randint(6, 10)
        return "\n".join(f"- [{'x' if done else ' '}] {text}" for text, done in self._todo.items())

    # -- looking ---------------------------------------------------------------------------------------------------

    def list_files(self, path: str, intent: str, *, recursive: bool = False) -> None:
        self.step(intent, ListFiles(path, recursive))
        inside = sum(1 for p in self.files if path == "." or p.startswith(path + "/"))
        self.saw(f"That lists {inside} files below `{path}`." if recursive else "")

    def definitions(self, path: str, intent: str) -> None:
        if self.used(f"definitions {path}"):
            return
        self.step(intent, Definitions(path))
        here = [p for p in self.files if p.rpartition("/")[0] == path and p.endswith((".py", ".ts"))]
        names = [f"`{p.rpartition('/')[2]}`" for p in sorted(here) if facts.outline(self.files[p])]
        total = sum(len(facts.outline(self.files[p])) for p in here)
        self.saw(f"`{path}` defines {total} names, in {', '.join(names[:8])}{' and others' if len(names) > 8 else ''}.")

    def read(self, *paths: str, why: str = "", insight: str = "") -> None:
        """Read files not read so far (several in a reply only where it may hold several calls); nothing if all were."""
        fresh = [p for p in paths if p not in self.seen and p in self.files]
        if not fresh:
            self.saw(insight)
            return
        for group in [[p] for p in fresh] if self.echoes else [fresh[i : i + 2] for i in range(0, len(fresh), 2)]:
            self._read(group, why, insight)
            insight = ""

    def _read(self, paths: list[str], why: str, insight: str) -> None:
        actions = [a for path in paths for a in self._whole(path)]
        intent = self.voice.say(prose.READ, path="` and `".join(paths), why=f", {why}" if why else "")
        self.step(intent, *actions, insight=insight)
        for path in paths:
            self.seen.add(path)
            self._topics.append(path)
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

    def look_again(self, path: str, around: str, intent: str, span: int = 80) -> None:
        """Read a range around a line that holds `around`; only where edits are not echoed."""
        if self.echoes or path not in self.files:
            return
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
            self.saw(insight)
            return False
        where = "the whole repository" if path == "." else f"`{path}`"
        plain = regex.replace(r"\b", "").replace("\\", "")
        self.step(self.voice.say(prose.SEARCH, regex=plain, where=where), Search(regex, path, pattern), insight=insight)
        files = ", ".join(f"`{p}` ({n})" for p, n in list(found.items())[:4])
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        self.saw(self.voice.say(prose.SAW_HITS, total=sum(found.values()), k=len(found), files=files + more))
        return True

    # -- changing --------------------------------------------------------------------------------------------------

    def bring(self, path: str, stage: dict[str, str], intent: str, insight: str = "") -> None:
        """Bring slots of a file to a stage: by blocks, as a whole where it did not exist, by git where it ends."""
        before = self.stages[path]
        after = {**before, **stage}
        text = self.world.text(path, after)
        self.stages[path] = after
        if path not in self.files:
            self.write(path, text, intent, insight)
        elif not text:
            self.run(f"git rm -q {path} && git status --short", intent, insight=insight, effects=True)
            del self.files[path]
            self.saw(f"`{path}` is gone.")
        elif text != self.files[path]:
            source = self.world.sources[path]
            blocks = edit_blocks(source, before, after, context=self.rng.choice((16, 20, 24)))
            self._edited(path, blocks, text, intent, insight)

    def replace(self, path: str, old: str, new: str, intent: str) -> None:
        self._edited(path, ((old, new),), self.files[path].replace(old, new, 1), intent, "")

    def _edited(self, path: str, blocks: tuple[tuple[str, str], ...], text: str, intent: str, insight: str) -> None:
        delta = len(text.splitlines()) - len(self.files[path].splitlines())
        self.step(intent, Edit(path, blocks), insight=insight, words=(54, 105))
        self.files[path] = text
        self.seen.add(path)
        self._topics.append(path)
        self.saw(self.voice.say(prose.SAW_EDIT, path=path, lines=len(text.splitlines()), delta=f"{delta:+d}"))

    def write(self, path: str, content: str, intent: str, insight: str = "") -> None:
        self.step(intent, Write(path, content), insight=insight, words=(50, 100))
        self.files[path] = content
        self.seen.add(path)
        self._topics.append(path)
        self.saw(f"`{path}` exists now, {len(content.splitlines())} lines.")

    # -- running ---------------------------------------------------------------------------------------------------

    def run(
        self, command: str, intent: str, *after: str, insight: str = "", effects: bool = False, fails: bool = False
    ) -> None:
        self.commands[command] = fails
        self.step(intent, Command(command, effects), insight=insight)
        self.saw(*after)

    def complete(self, result: str) -> None:
        self.item = None
        said = " ".join([*self._pending, *filter(None, (self.thought() for _ in range(3)))])
        self._pending = []
        self.steps.append(Step(said, (Complete(result),), progress=self._progress()))


def _paragraphs(sentences: list[str], rng: Random) -> str:
    """Sentences as one paragraph, or two when there are many."""
    if len(sentences) < 4 or rng.random() < 0.5:
        return " ".join(sentences)
    cut = rng.randint(1, len(sentences) - 2)
    return " ".join(sentences[:cut]) + "\n\n" + " ".join(sentences[cut:])
