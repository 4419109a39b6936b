"""The recorded way to the solution. A template tells it as beats: what is done, why, what it showed. Some must be, and
of the others as many are kept as a session of the size has room for; then each reply begins with what the last showed.
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.core.action import Action, Command, Complete, Edit, ListFiles, ReadFile, Search, Step, Write
from simulator.core.task import Style
from simulator.tasks import words

from . import furniture
from .code import repair
from .paper import Paper
from .talk import Talk

if TYPE_CHECKING:
    from .case import Case

#: replies of a session, the last one included, lie between these
LENGTHS: Mapping[str, tuple[int, int]] = {"small": (14, 19), "medium": (39, 49), "long": (113, 129)}
#: a reply has about this many characters of prose
_PROSE = (580, 980)
#: size -> after so many replies without a long file something is written down, and how often that is in all
_LOG_EVERY: Mapping[str, tuple[int, int]] = {"small": (99, 99), "medium": (10, 13), "long": (9, 12)}
_LOGS: Mapping[str, int] = {"small": 0, "medium": 1, "long": 8}
_LOGGED, _LONG_FILE = 22, 1_800


@dataclass(frozen=True, slots=True)
class _Beat:
    """weight 0: must be. Beats of one group are kept or left out together."""

    name: str
    action: Action
    plan: str
    saw: str
    chapter: int
    weight: float
    group: int
    values: Mapping[str, object]


class Path:
    def __init__(self, r: random.Random, case: Case, papers: Sequence[Paper], style: Style, size: str) -> None:
        self.r, self.case, self.house, self.style, self.size = r, case, case.house, style, size
        self.raw = style.documents == "raw"
        self.n = case.house.names
        self._talk = Talk(r, case)
        self._beats: list[_Beat] = []
        self._chapters: list[str] = []
        self._groups = 0
        self._written: dict[str, str] = {}
        self._shows = False
        self._noise = [p for p in papers if not p.needed]
        r.shuffle(self._noise)

    # ---- beats

    def chapter(self, title: str) -> None:
        """What follows belongs to this item of the list of things to do."""
        if self._chapters and self._noise:
            self._circular()
        self._chapters.append(title)

    def group(self) -> int:
        self._groups += 1
        return self._groups

    def do(
        self, beat: str, action: Action, *, weight: float = 0.0, group: int = 0, saw: str = "", **values: object
    ) -> None:
        """weight: 0, the beat must be; else the heavier, the sooner it is kept. group: kept together with others of
        that number (see `group`). saw: the beat whose observation this one ends with, when not its own."""
        path = getattr(action, "path", ".")
        known = {"file": path if path != "." else furniture.rules_path(self.house), **values}
        plan, seen = self._talk.line(beat, "plan", **known), self._talk.line(saw or beat, "saw", **known)
        made = _Beat(beat, action, plan, seen, len(self._chapters) - 1, weight, group or self.group(), known)
        self._beats.append(made)

    def run(self, beat: str, module: str, arguments: str = "", **more: object) -> None:
        """A script of the work folder, which leaves files behind."""
        command = f"python -m {self.n['work']}.{module} {arguments}".strip()
        self.do(beat, Command(command, effects=True), **more)  # type: ignore[arg-type]

    def write(self, beat: str, path: str, source: str, **more: object) -> None:
        self._written[path] = source
        self.do(beat, Write(path, source), **more)  # type: ignore[arg-type]

    def mend(self, beat: str, path: str, better: str, **more: object) -> None:
        """An edit that turns what was written there into `better`."""
        before, self._written[path] = self._written[path], better
        whole = self.size != "small" and self.r.random() < 0.5  # agents often send the file again, whole
        action = Write(path, better) if whole else Edit(path, repair(before, better))
        self.do(beat, action, **more)  # type: ignore[arg-type]
        if self.raw:
            first = next((k for k, (a, b) in enumerate(_pairs(before, better), 1) if a != b), 1)
            span = (max(1, first - 8), first + self.r.randint(14, 26))
            self.do("reread", ReadFile(path, *span), weight=0.6)

    def read(self, beat: str, paper: Paper, *, weight: float = 0.0, group: int = 0, **values: object) -> None:
        """The paper's text. Clients that extract get the whole; others read text in ranges that fit into a result, and
        show what is no text with the helper."""
        if not self.style.max_result_chars and not self.raw:
            self.do(beat, ReadFile(paper.path), weight=weight, group=group, **values)
            return
        for number, (first, last, whole) in enumerate(self._spans(paper)[:4]):
            action: Action = ReadFile(paper.path) if whole else ReadFile(paper.path, first, last)
            if paper.binary and self.raw:
                span = "" if whole else f" {first} {last}"
                action = Command(f"python {self.house.tool('show')} {shlex.quote(paper.path)}{span}")
            heavy = (weight or 1.0) if number else weight
            self.do("read_on" if number else beat, action, weight=heavy, group=group, **{"file": paper.path, **values})

    def _spans(self, paper: Paper) -> list[tuple[int, int, bool]]:
        """(first line, last line, is it all) of pieces whose results stay below the client's cut."""
        room = (self.style.max_result_chars or 48_000) * 0.94
        lines, out, first, used = paper.text.split("\n"), [], 1, 0.0
        for number, line in enumerate(lines, 1):
            used += len(line) + (1 if paper.binary else 8)
            if used > room and number > first:
                out.append((first, number - 1, False))
                first, used = number, len(line) + 8.0
        return [*out, (first, len(lines) + 40, not out)]

    def search(self, beat: str, regex: str, where: str, **more: object) -> None:
        """In a folder, or in one file, given by its path."""
        folder, _, name = where.rpartition("/")
        action = Search(regex, folder or ".", name) if "." in name else Search(regex, where)
        self.do(beat, action, **more)  # type: ignore[arg-type]

    def grep(self, beat: str, text: str, *files: str, after: int = 0, **more: object) -> None:
        """A literal text in some files, with a command."""
        option = f"-A{after} " if after else ""
        command = f"grep -nF {option}-- {shlex.quote(text)} {' '.join(map(shlex.quote, files))}"
        self.do(beat, Command(command), **more)  # type: ignore[arg-type]

    def spot(self, paper: Paper, key: str, result: str, *, weight: float = 1.0, **values: object) -> None:
        """One result compared with the paper that it comes from."""
        group = self.group()
        values = {"key": key, **values}
        look = self._first_look(paper)
        self.do("spot_paper", look, weight=weight, group=group, paper=paper.path, **values)
        after = 0 if result.endswith(".csv") else self.r.randint(6, 12)
        self.grep(
            "spot_result", key, result, after=after, weight=weight, group=group, paper=paper.path, file=result, **values
        )

    def _first_look(self, paper: Paper) -> Action:
        """As much of it as one result holds."""
        if not self.raw:
            return ReadFile(paper.path)
        first, last, _ = self._spans(paper)[0]
        last = min(last, self.r.randrange(90, 240, 5))
        if paper.binary:
            return Command(f"python {self.house.tool('show')} {shlex.quote(paper.path)} {first} {last}")
        return ReadFile(paper.path, first, last)

    def _circular(self) -> None:
        for _ in range(2 if self.size == "long" else 1):
            if self._noise:
                paper = self._noise.pop()
                topic = paper.name.rsplit(".", 1)[0].replace("_", " ").replace("-", " ")
                self.read("circular", paper, weight=0.8, topic=topic)

    # ---- the parts that all sessions have

    def opening(self) -> None:
        house, lean = self.house, self.size == "small"
        self._chapters.append("Read the question and its rules")
        self.do("root", ListFiles(".", recursive=True))
        self.do("readme", ReadFile("README.md"))
        self.do("rules", ReadFile(furniture.rules_path(house)))
        self.do("form_json", ReadFile(furniture.form_path(house)), weight=0.0 if not lean else 3.0)
        self.do("values_src", ReadFile(house.tool("values")), weight=4.0)
        self.do("form_src", ReadFile(house.tool("form")), weight=1.0)
        self.do("tests", Command("python -m unittest discover -s tests"), weight=1.6)
        self.do("log", Command("git log --format='%an: %s' --stat=70 | head -40"), weight=0.8)
        if self.raw:
            self.need_show()

    def need_show(self) -> None:
        """A helper that shows papers as text, written once."""
        if not self._shows:
            self._shows = True
            self.write("show_write", self.house.tool("show"), furniture.show_module(self.r, self.house))

    def ending(self) -> None:
        house = self.house
        self.chapter("Check form and hand over")
        self.do("form_run", Command(f"python {house.tool('form')}"))
        for path in self.case.results:
            span = (1, self.r.randrange(30, 70, 5)) if self.raw else (None, None)
            self.do("out_read", ReadFile(path, *span), weight=1.5, file=path)
        if self.size != "small":
            self.do("handover", Write("HANDOVER.md", ""), file="HANDOVER.md")
        self.do("status", Command(f"git status --short {self.n['inbox']} {self.n['docs']}"), weight=1.5)
        count = f"find {self.n['out']} -type f | sort | xargs wc -l"
        self.do("count", Command(count), weight=0.8)

    # ---- beats -> steps

    def finished(self, closing: str) -> tuple[Step, ...]:
        kept = self._logged(self._kept())
        steps: list[Step] = []
        next_mark, seen = self.r.randint(5, 8), ""
        for number, beat in enumerate(kept):
            progress = ""
            if number >= next_mark:
                progress = self._progress(beat.chapter)
                next_mark = number + self.r.randint(6, 10)
            say = self._talk.reply(seen, beat.plan, beat.name, beat.values, self.r.randint(*_PROSE))
            steps.append(Step(say, (self._with_text(beat, kept[:number], closing),), progress=progress))
            seen = beat.saw
        say = f"{seen} {self._talk.line('close', 'plan')}".strip()
        return (*steps, Step(say, (Complete(closing),), progress=self._progress(len(self._chapters))))

    def _with_text(self, beat: _Beat, before: Sequence[_Beat], closing: str) -> Action:
        """What is written down of a chapter, or for whoever comes next, is known only now."""
        if not isinstance(beat.action, Write) or beat.action.content:
            return beat.action
        if beat.name == "handover":
            return Write(beat.action.path, self._handover(closing, before))
        last = max((k for k, b in enumerate(before) if b.name == "log_write"), default=0)
        told = [b for b in before[last:] if b.name not in ("circular", "read_on", "log_write")]
        found = "\n".join(f"- {_what(b.action)}: {b.saw}" for b in told[-_LOGGED:])
        todo = self._progress(beat.chapter)
        return Write(
            beat.action.path, f"# {self._chapters[beat.chapter]}\n\n{found}\n\n## Where this stands\n\n{todo}\n"
        )

    def _logged(self, kept: Sequence[_Beat]) -> list[_Beat]:
        """With a log of findings written now and then, where nothing else is."""
        out: list[_Beat] = []
        since, logs, wait = 0, 0, self.r.randint(*_LOG_EVERY[self.size])
        for beat in kept:
            if since >= wait and len(out) > 12:
                logs, since, wait = logs + 1, 0, self.r.randint(*_LOG_EVERY[self.size])
                ended = self._chapters[out[-1].chapter]
                path = f"log/{logs:02d}_{words.plain(ended)}.md"
                plan, saw = (self._talk.line("log_write", part, ended=ended, file=path) for part in ("plan", "saw"))
                values: dict[str, object] = {"file": path, "ended": ended}
                out.append(_Beat("log_write", Write(path, ""), plan, saw, out[-1].chapter, 0.0, 0, values))
            out.append(beat)
            long = isinstance(beat.action, Write) and (len(beat.action.content) > _LONG_FILE or not beat.action.content)
            since = 0 if long else since + 1
        return out

    def _handover(self, closing: str, before: Sequence[_Beat]) -> str:
        jobs = [path for path in self._written if path.startswith(f"{self.n['work']}/") and path.endswith(".py")]
        run = "\n".join(f"python -m {path[:-3].replace('/', '.')}" for path in jobs)
        done = "\n".join(f"- {title}" for title in self._chapters)
        left = "\n".join(
            f"- `{b.action.path}`" for b in before if b.name == "circular" and isinstance(b.action, ReadFile)
        )
        aside = f"\n\n## Looked at and left aside\n\n{left}" if left else ""
        return (
            f"# {self.case.title}\n\n{closing}\n\n## How it was done\n\n{done}\n\n## To run it again\n\n```\n{run}\n"
            f"python {self.house.tool('form')}\n```{aside}\n"
        )

    def _kept(self) -> list[_Beat]:
        room = self.r.randint(*LENGTHS[self.size]) - 1 - _LOGS[self.size] - sum(b.weight == 0 for b in self._beats)
        groups: dict[int, list[_Beat]] = {}
        for beat in self._beats:
            if beat.weight:
                groups.setdefault(beat.group, []).append(beat)
        order = sorted(groups, key=lambda g: -(self.r.random() ** (1 / groups[g][0].weight)))
        chosen: set[int] = set()
        for group in order:
            if len(groups[group]) <= room:
                chosen.add(group)
                room -= len(groups[group])
        return [b for b in self._beats if not b.weight or b.group in chosen]

    def _progress(self, chapter: int) -> str:
        return "\n".join(f"- [{'x' if k < chapter else ' '}] {title}" for k, title in enumerate(self._chapters))


def _what(action: Action) -> str:
    if isinstance(action, Command):
        return f"`{action.command}`"
    return f"`{getattr(action, 'path', '.')}`"


def _pairs(one: str, other: str) -> list[tuple[str, str]]:
    return list(zip(one.split("\n"), other.split("\n"), strict=False))
