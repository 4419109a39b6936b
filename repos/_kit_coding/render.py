"""Text templates: names drawn per seed, wording alternatives, and slots whose content changes as the task is solved.

A template file has sections, each begun by a line `=== name`. Inside a text:
    $name               a drawn name (see `draw_names`)
    <[one || two]>      one of the alternatives
    #@ slot / #@ slip / #@ new / #@ end    a slot: text before `slip` is its old stage, then the first, wrong try,
                        then the solution; a missing `slip` equals `new`. `//@` does the same in TypeScript
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import Template

OLD, SLIP, NEW = "old", "slip", "new"
_CHOICE = re.compile(r"<\[(.*?)\]>", re.S)
_MARK = re.compile(r"(?:#|//)@ (\S+)$")
_RANGE = re.compile(r"(\d+)\.\.(\d+)$")


@functools.cache
def sections(path: Path) -> Mapping[str, str]:
    """The sections of a template file, by name."""
    parts = re.split(r"^=== (\S+)\n", path.read_text(encoding="utf-8"), flags=re.M)
    return {parts[i]: parts[i + 1].strip("\n") + "\n" for i in range(1, len(parts), 2)}


def draw_names(text: str, scope: Mapping[str, str], rng: Random) -> dict[str, str]:
    """Scope plus one value for each line `key: one | two | 3..9`; later lines may use earlier keys."""
    names = dict(scope)
    for line in filter(None, map(str.strip, text.splitlines())):
        key, _, options = line.partition(": ")
        value = Template(rng.choice([o.strip() for o in options.split("|")])).substitute(names)
        if span := _RANGE.match(value):
            value = str(rng.randint(int(span[1]), int(span[2])))
        names[key] = value
    return names


def fill(text: str, names: Mapping[str, str], rng: Random) -> str:
    """Alternatives chosen, then names substituted. A misspelt name raises KeyError."""
    text = _CHOICE.sub(lambda m: rng.choice(m[1].split("||")).strip(), text)
    return Template(text).substitute(names)


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    stages: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Source:
    """A file as fixed lines and slots."""

    parts: tuple[tuple[str, ...] | Slot, ...]

    def lines(self, stage: Mapping[str, str]) -> tuple[list[str], dict[str, tuple[int, int]]]:
        """Lines with each slot at its stage (absent: old), and the span of each slot in them."""
        out: list[str] = []
        spans: dict[str, tuple[int, int]] = {}
        for number, part in enumerate(self.parts):
            start = len(out)
            if isinstance(part, Slot):
                out += part.stages[stage.get(part.name, OLD)]
                spans[f"{number}"] = (start, len(out))
            else:
                out += part
        return out, spans

    def text(self, stage: Mapping[str, str]) -> str:
        return "\n".join(self.lines(stage)[0]) + "\n"

    def has_slip(self, name: str) -> bool:
        return any(isinstance(p, Slot) and p.name == name and p.stages[SLIP] != p.stages[NEW] for p in self.parts)

    def slots(self) -> set[str]:
        return {p.name for p in self.parts if isinstance(p, Slot)}


def parse(text: str) -> Source:
    """Split filled text at its slot markers."""
    parts: list[tuple[str, ...] | Slot] = []
    fixed: list[str] = []
    name, stage, stages = "", OLD, dict[str, list[str]]()
    for line in text.splitlines():
        mark = found[1] if (found := _MARK.match(line)) else ""
        if not mark:
            (stages[stage] if name else fixed).append(line)
        elif mark == "end":
            new = stages.get(NEW, [])
            full = {OLD: stages[OLD], SLIP: stages.get(SLIP, new), NEW: new}
            parts.append(Slot(name, {k: tuple(v) for k, v in full.items()}))
            name, stages = "", {}
        elif mark in (SLIP, NEW):
            stage = mark
            stages[stage] = []
        else:
            parts.append(tuple(fixed))
            fixed, name, stage, stages = [], mark, OLD, {OLD: []}
    if name:
        raise ValueError(f"slot {name} is not closed")
    parts.append(tuple(fixed))
    return Source(tuple(parts))


def edit_blocks(
    source: Source, before: Mapping[str, str], after: Mapping[str, str], context: int = 3
) -> tuple[tuple[str, str], ...]:
    """SEARCH/REPLACE blocks that take the file from one stage to another, each with enough context to be unique."""
    old, old_spans = source.lines(before)
    new, new_spans = source.lines(after)
    changed = [k for k in old_spans if old[slice(*old_spans[k])] != new[slice(*new_spans[k])]]
    groups: list[list[str]] = []
    for key in changed:
        if groups and old_spans[key][0] - old_spans[groups[-1][-1]][1] < 2 * context:
            groups[-1].append(key)
        else:
            groups.append([key])
    blocks, floor = [], 0
    for group in groups:
        (start, _), (_, end) = old_spans[group[0]], old_spans[group[-1]]
        (new_start, _), (_, new_end) = new_spans[group[0]], new_spans[group[-1]]
        top, bottom = _context(old, start, end, floor, context)
        search = old[top : end + bottom]
        replace = old[top:start] + new[new_start:new_end] + old[end : end + bottom]
        blocks.append(("\n".join(search) + "\n", "\n".join(replace) + "\n"))
        floor = end + bottom
    return tuple(blocks)


def _context(lines: list[str], start: int, end: int, floor: int, context: int) -> tuple[int, int]:
    """First line and number of trailing lines of a block that is found first at its own place (search from floor)."""
    bottom = min(context - 1, len(lines) - end)
    top = max(floor, start - context)
    while top > floor and (not lines[top].strip() or _first(lines, lines[top : end + bottom], floor) != top):
        top -= 1
    return top, bottom


def _first(lines: list[str], needle: list[str], floor: int) -> int:
    size = len(needle)
    return next(i for i in range(floor, len(lines)) if lines[i : i + size] == needle)


_IMPORT = re.compile(r"^(?:from (\S+) import (.+)|import (\S+))$")


def sort_imports(text: str) -> str:
    """Each run of import lines in isort's order, since drawn module names fall anywhere in the alphabet."""
    out: list[str] = []
    run: list[str] = []
    for line in (*text.splitlines(), None):
        if line is not None and run and run[-1].partition("\n")[0].endswith("(") and not run[-1].endswith("\n)"):
            run[-1] += "\n" + line  # names below each other, slots among them
            continue
        if line is not None and _IMPORT.match(line):
            run.append(line)
            continue
        out += sorted({_sorted_names(r) for r in run}, key=_import_key)
        run = []
        if line is not None:
            out.append(line)
    return "\n".join(out) + "\n"


def _sorted_names(line: str) -> str:
    match = _IMPORT.match(line)
    if match is None or match[1] is None or "\n" in line:
        return line
    names = sorted((n.strip() for n in match[2].split(",")), key=_name_key)
    line = f"from {match[1]} import {', '.join(names)}"
    if len(line) <= 120:
        return line
    return "\n".join([f"from {match[1]} import (", *(f"    {name}," for name in names), ")"])


def _name_key(name: str) -> tuple[int, str]:
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name


def _import_key(line: str) -> tuple[bool, str]:
    match = _IMPORT.match(line.replace("(\n", "(", 1).splitlines()[0])
    assert match is not None
    return match[1] is not None, (match[1] or match[3]).lower()
