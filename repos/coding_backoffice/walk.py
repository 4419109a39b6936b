"""The agent at work: each method appends one reply (what it says, what it does) and tracks what the files then hold."""

from __future__ import annotations

import re
from random import Random

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

from .._kit_coding import facts, prose
from .._kit_coding.render import edit_blocks
from . import thoughts
from .world import Part, World

_NUMBER_WIDTH = 8  # characters that a numbered line adds at most


class Walk:
    """files: path -> present text. stages: path -> stage of its slots. steps: the replies so far. brief: the task is
    small, and only what it needs is looked at."""

    def __init__(
        self,
        world: World,
        stages: dict[str, dict[str, str]],
        files: dict[str, str],
        rng: Random,
        style: Style,
        brief: bool = False,
    ) -> None:
        self.brief = brief
        self.world = world
        self.stages = {path: dict(stage) for path, stage in stages.items()}
        self.files = dict(files)
        self.rng = rng
        self.style = style
        self.voice = prose.Voice(rng)
        self.steps: list[Step] = []
        self.unit: Part | None = None
        self.topics: list[str] = []  # files that remarks are about, the latest last
        self._sources = world.sources()
        self._pending: list[str] = []
        self._used: set[str] = set()
        self._seen: set[str] = set()
        self._todo: dict[str, bool] = {}
        self._next_progress = 3

    @property
    def echoes(self) -> bool:
        return self.style.echo_after_edit

    def saw(self, *sentences: str) -> None:
        """What the next reply says about the last result."""
        self._pending += [s for s in sentences if s]

    def has_read(self, part: Part) -> bool:
        return part.module_path in self._seen

    def plan(self, *todo: str) -> None:
        self._todo = dict.fromkeys(todo, False)

    def done(self, text: str) -> None:
        self._todo[text] = True

    # -- replies ---------------------------------------------------------------------------------------------------

    def step(self, intent: str, *actions: Action, insight: str = "", words: tuple[int, int] = (62, 122)) -> None:
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
        if self.rng.random() < 0.2 and (thought := self._thought()):
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
            if part.module_path in self._seen:
                notes = part.story("notes", Random(0)).splitlines()
                if note := self.voice.note(notes, self.files[part.module_path]):
                    return note
        return self._thought() or self._elsewhere()

    def _elsewhere(self) -> str:
        """A note about another unit that was read earlier, as one that follows the same conventions."""
        seen = [u for u in self.world.units if u is not self.unit and u.module_path in self._seen]
        self.rng.shuffle(seen)
        for unit in seen:
            notes = unit.story("notes", Random(0)).splitlines()
            if note := self.voice.note(notes, self.files[unit.module_path]):
                return f"Compare `{unit.names['mod']}`: {note}"
        return ""

    def _thought(self) -> str:
        """A consideration about the unit at hand, or about the start or the end of the work."""
        names = self.world.names if self.unit is None else self.unit.names
        words = {
            "repo": self.world.repo, "pkg": self.world.package, "desk": self.world.names["MainDesk"],
            "places": names["places"], "place": names["place"], "parties": names["parties"],
        }  # fmt: skip
        if self.unit is None:
            pool = thoughts.CLOSING if all(list(self._todo.values())[:-2]) else thoughts.OPENING
            return self.voice.say(pool, once=True, **words)
        error = self.world.names["InputErr"]
        words |= {"cls": names["Main"], "mod": names["mod"], "path": self.unit.module_path, "err": error}
        return self.voice.say(thoughts.GENERAL, once=True, **words)

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
        self.step(intent, Definitions(path))
        here = [p for p in self.files if p.rpartition("/")[0] == path and p.endswith(".py")]
        names = [f"`{p.rpartition('/')[2]}`" for p in sorted(here) if facts.outline(self.files[p])]
        total = sum(len(facts.outline(self.files[p])) for p in here)
        self.saw(f"`{path}` defines {total} names, in {', '.join(names)}.")

    def read(self, *paths: str, why: str = "", insight: str = "") -> None:
        """Read files not read so far (several only where a reply may hold several calls); nothing if all were."""
        fresh = [p for p in paths if p not in self._seen]
        if not fresh:
            self.saw(insight)
            return
        if self.echoes:
            for path in fresh:
                self._read([path], why, insight)
                insight = ""
        else:
            self._read(fresh, why, insight)

    def _read(self, paths: list[str], why: str, insight: str) -> None:
        actions = [a for path in paths for a in self._whole(path)]
        intent = self.voice.say(prose.READ, path="` and `".join(paths), why=f", {why}" if why else "")
        self.step(intent, *actions, insight=insight)
        for path in paths:
            self._seen.add(path)
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

    def look_again(self, path: str, around: str, intent: str, span: int = 90) -> None:
        """Read a range around a line that holds `around`; only where edits are not echoed."""
        total = len(self.files[path].splitlines())
        at = facts.line_of(self.files[path], around) or total
        first = max(1, at - self.rng.randint(8, span // 2))
        last = min(total, first + span)
        action = ReadFile(path, first, last)
        if repr(action) not in self._used:
            self._used.add(repr(action))
            self.step(intent, action)
            self.saw(f"Lines {first} to {last} of `{path}` read as I meant them to.")

    def search(self, regex: str, path: str = ".", pattern: str | None = None, insight: str = "") -> None:
        suffix = pattern.lstrip("*") if pattern else ""
        found = facts.hits(self.files, regex, path, suffix)
        key = f"{regex} {path} {pattern}"
        if not found or key in self._used:
            return
        self._used.add(key)
        where = "the whole repository" if path == "." else f"`{path}`"
        plain = regex.replace(r"\b", "")
        self.step(self.voice.say(prose.SEARCH, regex=plain, where=where), Search(regex, path, pattern), insight=insight)
        files = ", ".join(f"`{p}` ({n})" for p, n in list(found.items())[:4])
        more = f" and {len(found) - 4} more" if len(found) > 4 else ""
        self.saw(self.voice.say(prose.SAW_HITS, total=sum(found.values()), k=len(found), files=files + more))

    # -- changing --------------------------------------------------------------------------------------------------

    def edit(self, path: str, stage: dict[str, str], intent: str, insight: str = "") -> None:
        """Bring slots of a file to a stage, with SEARCH/REPLACE blocks."""
        before = self.stages[path]
        after = {**before, **stage}
        blocks = edit_blocks(self._sources[path], before, after, context=self.rng.choice((7, 9, 11, 13)))
        self.stages[path] = after
        self._edited(path, blocks, self._sources[path].text(after), intent, insight)

    def replace(self, path: str, old: str, new: str, intent: str) -> None:
        self._edited(path, ((old, new),), self.files[path].replace(old, new, 1), intent, "")

    def _edited(self, path: str, blocks: tuple[tuple[str, str], ...], text: str, intent: str, insight: str) -> None:
        delta = len(text.splitlines()) - len(self.files[path].splitlines())
        self.step(intent, Edit(path, blocks), insight=insight, words=(62, 115))
        self.files[path] = text
        self._seen.add(path)
        self.topics.append(path)
        lines = len(text.splitlines())
        self.saw(self.voice.say(prose.SAW_EDIT, path=path, lines=lines, delta=f"{delta:+d}"))

    def write(self, path: str, content: str, intent: str) -> None:
        self.step(intent, Write(path, content), words=(60, 110))
        self.files[path] = content
        self._seen.add(path)
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
        said = " ".join([*self._pending, *filter(None, (self._thought() for _ in range(3)))])
        self._pending = []
        self.steps.append(Step(said, (Complete(result),), progress=self._progress()))


def _paragraphs(sentences: list[str], rng: Random) -> str:
    """Sentences as one paragraph, or two when there are many."""
    if len(sentences) < 4 or rng.random() < 0.5:
        return " ".join(sentences)
    cut = rng.randint(1, len(sentences) - 2)
    return " ".join(sentences[:cut]) + "\n\n" + " ".join(sentences[cut:])
