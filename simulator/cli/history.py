"""`sim history`: the runs below some folders, chosen by what they were, as a list or as their paths."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console

from simulator.cli.screen import UNCUT
from simulator.core.choice.headline import Headline, headline
from simulator.core.history import Group, Row, Wanted, arrange, dated, row_of
from simulator.core.judgement import judged_again
from simulator.errors import Interrupted, UsageError
from simulator.store.catalog import PARENTS, Found, find
from simulator.store.ladder import LADDER
from simulator.store.manifest import read_json
from simulator.store.regular import read_regular
from simulator.view.cells import clean
from simulator.view.format import count
from simulator.view.history import as_json, lines

REPORTS = Path("reports")
#: broken folders that are told one by one
FEW = 10
_NUMBERS = re.compile(r"\s*\d+(-\d+)?([\s,]+\d+(-\d+)?)*\s*")


@dataclass(frozen=True, slots=True)
class Question:
    """folders: () for reports/. last: newest entries shown, None for all. every: runs of searches and ladders one by
    one. One of paths, json and pick at most."""

    folders: tuple[Path, ...]
    wanted: Wanted
    last: int | None
    every: bool
    paths: bool
    json: bool
    pick: bool


def main(question: Question) -> int:
    if question.paths + question.json + question.pick > 1:
        raise UsageError("--paths, --json and --pick exclude each other: the answer has one form")
    if question.last is not None and question.last < 1:
        raise UsageError(f"--last {question.last}: give a number of runs, 1 or more")
    found = [each for root in question.folders or (REPORTS,) for each in _found(root)]
    broken = [(_told(each.path), each.broken) for each in found if each.broken]
    rows = [row for each in found if each.manifest is not None and question.wanted.takes(row := _row(each))]
    listed = [_alone(row) for row in rows] if question.every else rows
    entries = arrange(listed, _said(rows), _began(rows))[: question.last]
    if question.json:
        print(orjson.dumps(as_json(entries, broken), option=orjson.OPT_INDENT_2).decode())
        return 0
    if not entries:
        raise UsageError(_nothing(question, len(found) - len(broken), broken))
    if question.pick:
        entries = _picked(entries)
    if question.paths or question.pick:
        for entry in entries:
            print(entry.path)
        return 0
    console = _console()
    for line in lines(entries, console.width):
        console.print(line, soft_wrap=True)
    _tell_broken(broken)
    return 0


def _found(root: Path) -> list[Found]:
    if not root.exists():
        hint = "no run was made here; " if root == REPORTS else ""
        raise UsageError(f"{root} does not exist: {hint}give a folder that holds runs")
    if not root.is_dir():
        raise UsageError(f"{root} is a file; give a folder that holds runs")
    return list(find(root))


def _row(found: Found) -> Row:
    assert found.manifest is not None
    group = "" if found.group is None else _told(found.group)
    summary = None if found.summary is None else judged_again(found.summary)
    return row_of(_told(found.path), found.manifest, summary, group, found.made_by)


def _alone(row: Row) -> Row:
    return Row(**{**{name: getattr(row, name) for name in Row.__slots__}, "group": "", "made_by": ""})


def _told(path: Path) -> str:
    """As short as it can be said from here."""
    near = os.path.relpath(path)
    return str(path) if near.startswith("..") else near


def _said(rows: Sequence[Row]) -> dict[str, str | Headline]:
    """What each search or ladder found."""
    made = {row.group: row.made_by for row in rows if row.group}
    return {group: _climbed(group) if by == PARENTS[LADDER] else _searched(group) for group, by in made.items()}


def _began(rows: Sequence[Row]) -> dict[str, float | None]:
    """When the command of each ladder was given, planning included; of a ladder that goes on, the first."""
    found: dict[str, float | None] = {}
    for group in {row.group for row in rows if row.group and row.made_by == PARENTS[LADDER]}:
        with suppress(UsageError, OSError):
            found[group] = dated((read_json(Path(group) / LADDER) or {}).get("started_unix_s"))
    return found


def _searched(group: str) -> str:
    """In its own words."""
    answer = read_json(Path(group) / next(iter(PARENTS))) or {}
    return str(answer.get("sentence") or "")


def _climbed(group: str) -> Headline | str:
    """A ladder that cannot be read says why; its runs are listed all the same."""
    try:
        return headline(read_regular(Path(group) / LADDER), LADDER)
    except OSError as why:
        return f"{LADDER} cannot be read: {why.strerror}"
    except UsageError as why:
        return str(why)


def _runs(entries: Sequence[Row | Group]) -> list[Row]:
    return [run for entry in entries for run in (entry.runs if isinstance(entry, Group) else (entry,))]


def _nothing(question: Question, runs: int, broken: Sequence[tuple[str, str]]) -> str:
    places = ", ".join(_told(folder) for folder in question.folders or (REPORTS,))
    if runs:
        return f"none of the {count(runs)} runs below {places} matches; `sim history` without filters lists them"
    also = f"; {broken[0][0]} {broken[0][1]}" if broken else ""
    return f"no run below {places}; give a folder that holds runs{also}"


def _console(*, stderr: bool = False) -> Console:
    """Into a pipe or a file no line is cut."""
    console = Console(stderr=stderr, highlight=False)
    return console if console.is_terminal else Console(stderr=stderr, highlight=False, width=UNCUT)


def _tell_broken(broken: Sequence[tuple[str, str]]) -> None:
    """On standard error, so that the list stays one."""
    for path, why in broken[:FEW]:
        print(f"not a run: {clean(path)} {clean(why)}", file=sys.stderr)
    if len(broken) > FEW:
        print(f"and {len(broken) - FEW} more that are none; --json lists them all", file=sys.stderr)


def _picked(entries: Sequence[Row | Group]) -> list[Row | Group]:
    """Asks on standard error until numbers are given: standard output is for what was chosen. Words narrow the list."""
    if not sys.stdin.isatty():
        raise UsageError("--pick asks in a terminal and there is none; choose with --label, --scenario and --paths")
    shown, console = list(entries), _console(stderr=True)
    while True:
        for line in lines(shown, console.width, numbered=True):
            console.print(line, soft_wrap=True)
        said = _answer("numbers choose (1 3 or 1-3), words narrow, `all` shows all again, nothing leaves: ")
        if not said:
            raise Interrupted("nothing was chosen")
        if _NUMBERS.fullmatch(said):
            chosen = _numbers(said, len(shown))
            if chosen:
                return [shown[n - 1] for n in chosen]
            console.print(f"give numbers from 1 to {len(shown)}", style="yellow")
            continue
        kept = list(entries) if said == "all" else [e for e in shown if said.lower() in _words(e)]
        if not kept:
            console.print(f"no run has `{clean(said)}`", style="yellow", markup=False)
        shown = kept or shown


def _answer(question: str) -> str:
    """What the user typed; "" at the end of input. The question goes to standard error."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def _numbers(said: str, most: int) -> list[int]:
    """In the order given, each once; [] when one of them is not there."""
    found: list[int] = []
    for part in re.split(r"[\s,]+", said.strip()):
        first, _, last = part.partition("-")
        low, high = int(first), int(last or first)
        if not 1 <= low <= high <= most:
            return []
        found += range(low, high + 1)
    return list(dict.fromkeys(found))


def _words(entry: Row | Group) -> str:
    told = [f"{run.label} {run.scenario} {run.engine.told()} {run.path} {run.note}" for run in _runs([entry])]
    return " ".join([entry.path, *told]).lower()
