"""The list of runs: in a terminal of 80 cells two lines a run, where there is room one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from simulator.core.history import Group, Row
from simulator.view.cells import clean, clip
from simulator.view.format import DASH, count, digits, duration

#: cells from which on a run has one line
ROOMY = 160
HEADS = ("began", "label", "engine", "agents", "synthetic", "turn p50", "client")
#: most cells of a column, in a narrow terminal and in a wide one
_MOST = ((16, 13, 17, 6, 9, 8, 7), (16, 44, 48, 9, 9, 9, 14))
_RIGHT = frozenset({"agents", "synthetic", "turn p50", "#"})
_STYLES = {"limited": "bold red", "client-limited": "bold red", "unknown": "yellow"}
GAP = "  "

Line = tuple[tuple[str, ...], str]


def lines(entries: Sequence[Row | Group], width: int, *, numbered: bool = False) -> list[Text]:
    """width: cells of the terminal. numbered: each entry has its number, from 1, to be chosen by."""
    roomy = width >= ROOMY
    number = ("#",) * numbered
    heads = (*number, *HEADS)
    rows = [((str(n),) * numbered + _cells(entry, roomy), _below(entry)) for n, entry in enumerate(entries, 1)]
    most = (5,) * numbered + _MOST[roomy]
    widths = [
        min(limit, max([cell_len(head), *(cell_len(cells[n]) for cells, _ in rows)]))
        for n, (head, limit) in enumerate(zip(heads, most, strict=True))
    ]
    drawn = [Text(_line(heads, heads, widths) + GAP + "scenario, folder" * roomy, style="dim")]
    for cells, below in rows:
        line = Text(_line(heads, cells, widths))
        _mark(line, cells)
        if roomy:
            drawn.append(line.append(GAP + below))
        else:
            drawn += [line, Text(GAP + " " * (widths[0] * numbered) + below, style="dim")]
    return drawn


def _line(heads: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = []
    for head, text, width in zip(heads, cells, widths, strict=True):
        parts.append(" " * (width - cell_len(text)) + text if head in _RIGHT else clip(text, width))
    return GAP.join(parts)


def _mark(line: Text, cells: Sequence[str]) -> None:
    """Colours for what must not be overlooked."""
    line.highlight_words(["EMULATED"], "bold red")
    line.highlight_words(["random weights"], "yellow")
    if style := _STYLES.get(cells[-1]):
        line.stylize(style, len(line.plain.rstrip()) - len(cells[-1]))


def _cells(entry: Row | Group, roomy: bool) -> tuple[str, ...]:
    first = entry.runs[0] if isinstance(entry, Group) else entry
    label, engine = (_common(entry, name) for name in ("label", "engine"))
    if isinstance(entry, Group):
        return _when(first.began_s), label, engine, "", "", "", ""
    client = clean(entry.client).partition(":")[0]
    return (
        _when(first.began_s), label, engine, digits(entry.agents_tok_s), digits(entry.synthetic_tok_s),
        duration(entry.turn_p50_s), client if roomy else client.removeprefix("client-"),
    )  # fmt: skip


def _below(entry: Row | Group) -> str:
    """Scenario, folder and what has to be known."""
    parts = [_common(entry, "scenario"), clean(entry.path)]
    if isinstance(entry, Group):
        runs = f"{count(len(entry.runs))} {'probes' if entry.made_by == 'saturate' else 'runs'}"
        parts.append(f"{entry.made_by}, {runs}" + (f": {clean(entry.said)}" if entry.said else ""))
    else:
        parts.append(clean(entry.note))
    return GAP.join(part for part in parts if part)


def _common(entry: Row | Group, name: str) -> str:
    """What all runs of an entry share; "several" when they do not."""
    runs = entry.runs if isinstance(entry, Group) else (entry,)
    told = {run.engine.told() if name == "engine" else getattr(run, name) for run in runs}
    if len(told) == 1:
        return clean(told.pop())
    return "EMULATED, several" if name == "engine" and any("EMULATED" in each for each in told) else "several"


def _when(began_s: float | None) -> str:
    """Local time."""
    return DASH if began_s is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(began_s))


def as_json(rows: Sequence[Row], broken: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Every run, newest first, and folders that are none."""
    return {
        "schema": 1,
        "runs": [{**asdict(row), "engine": {**asdict(row.engine), "told": row.engine.told()}} for row in rows],
        "broken": [{"path": path, "why": why} for path, why in broken],
    }
