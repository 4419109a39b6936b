"""The agent at work in a package: each method appends one reply (what it says, what it does) and tracks what the files
then hold."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from simulator.core.action import Command, Definitions, Write
from simulator.core.task import Style

from . import facts, thoughts
from .package import Item, World, is_test
from .render import NEW, edit_blocks
from .replies import Replies


class Walk(Replies):
    """stages: path -> stage of its slots. item: what is worked on, None at the start and the end. commands: those that
    were run, each with whether it was to fail."""

    words, edit_words = (58, 112), (54, 105)

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
        super().__init__(files, rng, style)
        self.world = world
        keys = [i.key for i in asked]
        old = dict.fromkeys(world.items, NEW) | dict.fromkeys(keys, "old")
        self.stages = {p: dict.fromkeys(world.items, NEW) if red and is_test(p) else dict(old) for p in world.sources}
        self.item: Item | None = None
        self.ended = False
        self.commands: dict[str, bool] = {}

    def unfinished(self, path: str) -> bool:
        """Whether tests in this file are there for work that is still to be done, and so fail."""
        stages, world = self.stages, self.world
        return any(
            stages[path][key] == NEW and any(stages[p][key] != NEW for p in item.code)
            for key, item in world.items.items() if path in item.tests
        )  # fmt: skip

    def remark(self) -> str:
        if self.item is not None and self.rng.random() < 0.5 and (note := self.voice.once(self.item.lines("notes"))):
            return note
        if self.rng.random() < 0.3 and (thought := self.thought()):
            return thought
        while self.topics:
            path = self.topics[-1]
            if path in self.files and (remark := self.voice.detail(path, self.files[path])):
                return remark
            self.topics.pop()  # nothing new is left to say about it
        for path in sorted(self.seen & self.files.keys()):
            if remark := self.voice.detail(path, self.files[path]):
                return remark
        return self.thought()

    def thought(self) -> str:
        values = {"repo": self.world.repo, "pkg": self.world.package}
        if self.item is None:
            pool = thoughts.CLOSING if self.ended else thoughts.OPENING
            return self.voice.say(pool, once=True, **values)
        path = self.rng.choice(self.item.code)
        return self.voice.say(thoughts.GENERAL, once=True, title=self.item.title, path=path, **values)

    # -- looking ---------------------------------------------------------------------------------------------------

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
            self.open(group, why, insight)
            insight = ""

    def look_again(self, path: str, around: str, intent: str, span: int = 80) -> None:
        """Read a range around a line that holds `around`; only where edits are not echoed."""
        if not self.echoes and path in self.files:
            self.look_around(path, around, intent, span)

    def search(self, regex: str, path: str = ".", pattern: str | None = None, insight: str = "") -> bool:
        """The insight is told also where nothing is searched."""
        found = super().search(regex, path, pattern, insight)
        if not found:
            self.saw(insight)
        return found

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
            self.edited(path, blocks, text, intent, insight)

    def write(self, path: str, content: str, intent: str, insight: str = "") -> None:
        self.step(intent, Write(path, content), insight=insight, words=(50, 100))
        self.files[path] = content
        self.seen.add(path)
        self.topics.append(path)
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
        super().complete(result)
