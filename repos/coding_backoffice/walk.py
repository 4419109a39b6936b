"""The agent at work on the units of an office's software; each method appends a reply."""

from __future__ import annotations

import re
from random import Random

from simulator.core.action import Command, Definitions, Write
from simulator.core.task import Style

from .._kit_coding import facts, prose
from .._kit_coding.render import edit_blocks
from .._kit_coding.replies import Replies
from . import thoughts
from .world import Part, World


class Walk(Replies):
    """stages: path -> stage of its slots. unit: what is worked on, None at the start and the end. brief: the task is
    small, and only what it needs is looked at."""

    words, edit_words = (62, 122), (62, 115)

    def __init__(
        self,
        world: World,
        stages: dict[str, dict[str, str]],
        files: dict[str, str],
        rng: Random,
        style: Style,
        brief: bool = False,
    ) -> None:
        super().__init__(files, rng, style)
        self.world, self.brief = world, brief
        self.stages = {path: dict(stage) for path, stage in stages.items()}
        self.unit: Part | None = None
        self._sources = world.sources()

    def has_read(self, part: Part) -> bool:
        return part.module_path in self.seen

    def remark(self) -> str:
        if self.rng.random() < 0.2 and (thought := self.thought()):
            return thought
        if self.unit is not None and self.has_read(self.unit) and self.rng.random() < 0.6:
            text = self.files[self.unit.module_path]
            if note := self.voice.note(self.unit.story("notes", Random(0)).splitlines(), text):
                return note
        while self.topics:
            path = self.topics[-1]
            if remark := self.voice.detail(path, self.files[path]):
                return remark
            self.topics.pop()  # nothing new is left to say about it
        for part in self.world.base:
            if part.module_path in self.seen:
                notes = part.story("notes", Random(0)).splitlines()
                if note := self.voice.note(notes, self.files[part.module_path]):
                    return note
        return self.thought() or self._elsewhere()

    def _elsewhere(self) -> str:
        """A note about another unit that was read earlier, as one that follows the same conventions."""
        seen = [u for u in self.world.units if u is not self.unit and u.module_path in self.seen]
        self.rng.shuffle(seen)
        for unit in seen:
            notes = unit.story("notes", Random(0)).splitlines()
            if note := self.voice.note(notes, self.files[unit.module_path]):
                return f"Compare `{unit.names['mod']}`: {note}"
        return ""

    def thought(self) -> str:
        names = self.world.names if self.unit is None else self.unit.names
        words = {
            "repo": self.world.repo, "pkg": self.world.package, "desk": self.world.names["MainDesk"],
            "places": names["places"], "place": names["place"], "parties": names["parties"],
        }  # fmt: skip
        if self.unit is None:
            pool = thoughts.CLOSING if all(list(self.todo.values())[:-2]) else thoughts.OPENING
            return self.voice.say(pool, once=True, **words)
        error = self.world.names["InputErr"]
        words |= {"cls": names["Main"], "mod": names["mod"], "path": self.unit.module_path, "err": error}
        return self.voice.say(thoughts.GENERAL, once=True, **words)

    # -- looking ---------------------------------------------------------------------------------------------------

    def definitions(self, path: str, intent: str) -> None:
        self.step(intent, Definitions(path))
        here = [p for p in self.files if p.rpartition("/")[0] == path and p.endswith(".py")]
        names = [f"`{p.rpartition('/')[2]}`" for p in sorted(here) if facts.outline(self.files[p])]
        total = sum(len(facts.outline(self.files[p])) for p in here)
        self.saw(f"`{path}` defines {total} names, in {', '.join(names)}.")

    def read(self, *paths: str, why: str = "", insight: str = "") -> None:
        """Read files not read so far (several only where a reply may hold several calls); nothing if all were."""
        fresh = [p for p in paths if p not in self.seen]
        if not fresh:
            self.saw(insight)
            return
        if self.echoes:
            for path in fresh:
                self.open([path], why, insight)
                insight = ""
        else:
            self.open(fresh, why, insight)

    # -- changing --------------------------------------------------------------------------------------------------

    def edit(self, path: str, stage: dict[str, str], intent: str, insight: str = "") -> None:
        """Bring slots of a file to a stage, with SEARCH/REPLACE blocks."""
        before = self.stages[path]
        after = {**before, **stage}
        blocks = edit_blocks(self._sources[path], before, after, context=self.rng.choice((7, 9, 11, 13)))
        self.stages[path] = after
        self.edited(path, blocks, self._sources[path].text(after), intent, insight)

    def write(self, path: str, content: str, intent: str) -> None:
        self.step(intent, Write(path, content), words=(60, 110))
        self.files[path] = content
        self.seen.add(path)
        self.saw(f"`{path}` exists now, {len(content.splitlines())} lines.")

    # -- running ---------------------------------------------------------------------------------------------------

    def run(self, command: str, intent: str, *after: str, insight: str = "") -> None:
        self._used.add(command)
        self.step(intent, Command(command), insight=insight)
        self.saw(*after)

    def run_tests(self, unit: Part, *, fails: str = "", only: str = "", insight: str = "") -> None:
        """Tests of a unit in a form not used so far. fails: what to say about the expected failure."""
        command, modules, label = self._test_command(unit, only)
        expect = "a failure that shows the fault" if fails else f"{label} without failures"
        intent = self.voice.say(prose.RUN, what=f"`{command}`", expect=expect)
        self.run(command, intent, insight=insight)
        if fails:
            self.saw(self.voice.say(prose.SAW_FAIL, what=label), fails)
            return
        n = sum(len(facts.tests(self.files[m])) for m in modules)
        if only:
            after = self.files[unit.test_path].split(f"class {only}(", 1)[1]
            n = len(facts.tests(re.split(r"\nclass ", after)[0]))
        self.saw(self.voice.say(prose.SAW_PASS, what=label, n=n))

    def _test_command(self, unit: Part, only: str) -> tuple[str, list[str], str]:
        name = unit.names["mod"]
        dotted, here = f"tests.test_{name}", [unit.test_path]
        if only:
            options = [(f"python -m unittest {flag}{dotted}.{only}", here) for flag in ("-v ", "", "-b ", "-f -v ")]
            options.append((f"python -m unittest -v -k {only} {dotted}", here))
            label = f"`{only}`"
        else:
            others = self.rng.sample([p for p in (*self.world.units, *self.world.base) if p is not unit], 3)
            options = [(f"python -m unittest {flag}{dotted}", here) for flag in ("-v ", "-v -b ", "-f ")]
            options += [(f"python -m unittest -v {dotted} tests.test_{o.names['mod']}", [*here, o.test_path])
                        for o in others]  # fmt: skip
            options.append((f"python -m unittest discover -v -s tests -t . -p 'test_{name}.py'", here))
            label = f"`tests/test_{name}.py`"
        self.rng.shuffle(options)
        command, modules = next((o for o in options if o[0] not in self._used), options[0])
        return command, modules, label if len(modules) == 1 else f"{label} with `{modules[1]}`"

    def complete(self, result: str) -> None:
        self.unit = None
        super().complete(result)
