"""A ladder for people: a line a step while it goes on, a table at its end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.status import Status
from rich.table import Table
from rich.text import Text

from simulator.core.compare.pairs import PairedRatio
from simulator.core.ladder.result import Row, rows
from simulator.core.wording import counted
from simulator.view.cells import clean, clock
from simulator.view.format import DASH, digits, duration
from simulator.view.identity import EMULATED, RANDOM
from simulator.view.sheet import Sheet

#: for 80 columns; ladder.json has more
HEADS = ("rung", "agents", "ratio", "turn p50", "512/512", "ratio", "cert.")
#: of an error below the table; ladder.json has all of it
LONG = 240
#: decisions are taken on so many pairs
DECIDING = 6


class Lines:
    """total, done: runs. marks: what every line begins with, "" for real engines with real weights."""

    def __init__(self, console: Console, *, total: int, done: int, marks: Sequence[str]) -> None:
        self._console, self._total, self._done = console, total, done
        self._mark = "".join(f"[{mark}] " for mark in marks)
        self._status: Status | None = None
        self._phases: dict[int, str] = {}

    def __enter__(self) -> Lines:
        self._status = self._console.status("") if self._console.is_terminal else None
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def say(self, text: str) -> None:
        self._console.print(clean(self._mark + text), markup=False)

    def phase(self, lane: int, text: str) -> None:
        """What goes on in a lane; lasts only on a terminal."""
        self._phases[lane] = clean(text)
        self._drawn()

    def quiet(self, lane: int) -> None:
        self._phases.pop(lane, None)
        self._drawn()

    def _drawn(self) -> None:
        if self._status is not None:
            self._status.update(escape(" | ".join(text for _, text in sorted(self._phases.items()))))

    def step(self, name: str, repeat: Mapping[str, Any], took_s: float, left_s: float | None) -> None:
        self._done += 1
        left = "" if left_s is None or self._done >= self._total else f", about {clock(left_s)} left"
        parts = [part for kind in ("agents", "synthetic") if (part := _figures(kind, repeat.get(kind)))]
        doubt = "" if repeat.get("certified") else f"; NOT CERTIFIED: {'; '.join(repeat.get('doubts') or ())}"
        self.say(f"{self._counted} {name}: {'; '.join(parts)}; {clock(took_s)}{left}{doubt}")

    def failed(self, name: str, error: str) -> None:
        self.say(f"{self._counted} {name}: FAILED: {error}")

    @property
    def _counted(self) -> str:
        width = len(str(self._total))
        return f"{self._done:>{width}}/{self._total}"


def _figures(kind: str, part: Mapping[str, Any] | None) -> str:
    if not part:
        return ""
    turn = f", turn {duration(part.get('turn_p50_s'))}" if kind == "agents" else ""
    return f"{kind} {digits(part.get('output_tok_s'))} tok/s{turn}"


def marks(told: Mapping[str, Any]) -> tuple[str, ...]:
    """What every output of it has to say."""
    emulated = (EMULATED,) if told.get("engine_kind") == "emulated" else ()
    return (*emulated, RANDOM) if told.get("random_weights") else emulated


def final(told: Mapping[str, Any], folder: str, said: Sequence[str] = ()) -> RenderableType:
    """The table, what it leaves open, and what to do next. said: what it says together, such as which rung leads at
    which level of load."""
    found = rows(told)
    heads, kept = _columns(told, found)
    grid = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for n in kept:
        grid.add_column(heads[n], justify="right" if n else "left", no_wrap=True)
    for row in found:
        cells = _cells(row)
        style = "" if row.certified == row.wanted else "yellow" if row.repeats else "red"
        grid.add_row(*(Text(clean(cells[n])) for n in kept), style=style)
    badges = [Text(f" {mark} ", style="bold white on red") for mark in marks(told)]
    heading = [Text(clean(line), style="bold") for line in ("", *said, "")] if said else []
    lines = [Text(clean(line)) for line in (*notes(told, found), "", *hints(folder))]
    return Group(*badges, Text(clean(title(told)), style="bold"), grid, *heading, *lines)


def title(told: Mapping[str, Any]) -> str:
    return f"{told.get('scenario')}: output tok/s by traffic, ratios to the first rung"


def _columns(told: Mapping[str, Any], found: Sequence[Row]) -> tuple[list[str], list[int]]:
    """All heads, and which of them have anything below."""
    heads = list(HEADS)
    heads[4] = str(told.get("synthetic_shape") or "synthetic")
    filled = [
        any(row.agents for row in found),
        any(row.agents_ratio for row in found),
        any(row.agents for row in found),
        any(row.synthetic for row in found),
        any(row.synthetic_ratio for row in found),
    ]
    return heads, [0, *(n for n, has in enumerate(filled, 1) if has), len(heads) - 1]


def sheet(told: Mapping[str, Any]) -> Sheet:
    """The same table for a report."""
    found = rows(told)
    heads, kept = _columns(told, found)
    cells = tuple(tuple(_cells(row)[n] for n in kept) for row in found)
    return Sheet("Rungs", heads=tuple(heads[n] for n in kept), rows=cells, notes=tuple(notes(told, found)))


def _cells(row: Row) -> list[str]:
    return [
        row.name,
        digits(row.agents.get("output_tok_s")),
        ratio(row.agents_ratio),
        duration(row.agents.get("turn_p50_s")),
        digits(row.synthetic.get("output_tok_s")),
        ratio(row.synthetic_ratio),
        f"{row.certified}/{row.repeats}" + f" of {row.wanted}" * (row.repeats < row.wanted),
    ]


def ratio(found: PairedRatio | None) -> str:
    """`1.20 (1.18-1.22)`, without an interval for a single pair."""
    if found is None:
        return DASH
    if found.low is None or found.high is None:
        return f"{found.ratio:.3f}"
    return f"{found.ratio:.3f} ({found.low:.2f}-{found.high:.2f})"


def notes(told: Mapping[str, Any], found: Sequence[Row]) -> list[str]:
    """What the table does not say, a line each."""
    lines = []
    for row in found:
        lines += [f"{row.name}: {error if len(error) <= LONG else f'{error[:LONG]}...'}" for error in row.errors]
        if row.doubts:
            more = f", and {len(row.doubts) - 1} more" if len(row.doubts) > 1 else ""
            lines.append(f"{row.name}: {row.repeats - row.certified} not certified: {row.doubts[0]}{more}")
    lines += _other_pairs(told, found)
    if left := told.get("left_out") or ():
        lines.append(f"left out: {', '.join(map(str, left))}; the same command goes on with them")
    lines += [f"repeats met different engines: {clause}" for clause in told.get("engines_met") or ()]
    pairs = max((each.n for row in found if (each := row.agents_ratio or row.synthetic_ratio)), default=0)
    if pairs == 1:
        lines.append(f"one pair: ratios are suggestions; --pairs {DECIDING} can decide")
    elif 1 < pairs < DECIDING:
        lines.append(f"{counted(pairs, 'pair')}, with 95 % intervals; --pairs {DECIDING} can decide")
    if told.get("interleaving"):
        lines.append(f"order: {told['interleaving']}")
    return lines


def _other_pairs(told: Mapping[str, Any], found: Sequence[Row]) -> list[str]:
    """Where a ratio is over other pairs than the figures beside it: what it is the ratio of."""
    firsts: dict[Any, Row] = {}
    alike: dict[tuple[str, ...], list[str]] = {}
    shape = str(told.get("synthetic_shape") or "synthetic")
    for rung, row in zip(told.get("rungs") or (), found, strict=True):
        first = firsts.setdefault(rung.get("concurrency"), row)
        clauses = []
        for kind, (base, own) in row.there.items():
            whole = getattr(first, kind)["output_tok_s"], getattr(row, kind)["output_tok_s"]
            if not (math.isclose(base, whole[0]) and math.isclose(own, whole[1])):
                mine = "" if math.isclose(own, whole[1]) else f"{digits(own)} to "
                clauses.append(f"{mine}{digits(base)} tok/s of {'agents' if kind == 'agents' else shape}")
        if clauses:
            alike.setdefault((first.name, *clauses), []).append(row.name)
    return [
        f"ratio of {', '.join(names)}: over pairs in common, to {first}'s {' and '.join(clauses)} there"
        for (first, *clauses), names in alike.items()
    ]


def hints(folder: str) -> list[str]:
    return [f"next: sim report {folder} --html", f"      sim compare-traffic {folder}"]
