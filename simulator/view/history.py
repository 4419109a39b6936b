"""The list of runs: in a terminal of 80 cells two lines a run, where there is room one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from simulator.core.choice.choice import AGENTS, SYNTHETIC
from simulator.core.choice.headline import Best, Headline
from simulator.core.history import Group, Row
from simulator.core.wording import counted
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
#: of the columns agents and synthetic
KINDS = (AGENTS, SYNTHETIC)

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
    label, engine = (_common(entry, name) for name in ("label", "engine"))
    if isinstance(entry, Group):
        leaders = [entry.said.leader(kind) if isinstance(entry.said, Headline) else None for kind in KINDS]
        fastest = ["" if each is None else digits(each.output_tok_s) for each in leaders]
        return _when(entry.began_s), label, engine, *fastest, "", ""
    client = clean(entry.client).partition(":")[0]
    return (
        _when(entry.began_s), label, engine, digits(entry.agents_tok_s), digits(entry.synthetic_tok_s),
        duration(entry.turn_p50_s), client if roomy else client.removeprefix("client-"),
    )  # fmt: skip


def _below(entry: Row | Group) -> str:
    """Scenario, folder and what has to be known."""
    parts = [_common(entry, "scenario"), clean(entry.path)]
    if isinstance(entry, Group):
        runs = counted(len(entry.runs), "probe" if entry.made_by == "saturate" else "run")
        found = _climbed(entry.said) if isinstance(entry.said, Headline) else entry.said
        parts.append(f"{entry.made_by}, {runs}" + (f": {clean(found)}" if found else ""))
    else:
        parts.append(clean(entry.note))
    return GAP.join(part for part in parts if part)


def _climbed(said: Headline) -> str:
    """A ladder in a line: how far it is, and who leads for which traffic, by how much, and how sure that is."""
    runs = f"{count(said.runs)} of {counted(said.of_runs, 'run')}"
    parts = [f"{count(said.rungs)} of {counted(said.of_rungs, 'rung')}, {runs}"]
    for kind, name in ((AGENTS, "agents"), (SYNTHETIC, said.shape or "synthetic")):
        if led := [_best(each) for each in said.best if each.kind == kind]:
            parts.append(f"{name}: {', '.join(led)}")
    ratios = [each.ratio for each in said.best if each.ratio is not None]
    if ratios and min(each.n for each in ratios) == 1:
        parts.append("one run a rung suggests and decides nothing")
    if said.doubted:
        parts.append(f"{count(said.doubted)} not certified")
    return "; ".join(parts)


def _best(best: Best) -> str:
    """`top 14,821 tok/s, 1.58x baseline`; at several levels of load `top at 8 (1.58x)`."""
    ratio = best.ratio
    times = "" if ratio is None else f"{ratio.ratio:.2f}x"
    if best.level is not None:
        return f"{best.rung} at {best.level}{f' ({times})' if times else ''}"
    sure = ""
    if ratio is not None and ratio.low is not None and ratio.high is not None:
        sure = f" (95 % {ratio.low:.2f} to {ratio.high:.2f})"
    return f"{best.rung} {digits(best.output_tok_s)} tok/s{f', {times} {best.first}{sure}' if times else ''}"


def _common(entry: Row | Group, name: str) -> str:
    """What all runs of an entry share; "several" when they do not."""
    runs = entry.runs if isinstance(entry, Group) else (entry,)
    told = {run.engine.told() if name == "engine" else getattr(run, name) for run in runs}
    if len(told) == 1:
        return clean(told.pop())
    marks = ("EMULATED", "random weights") if name == "engine" else ()
    return ", ".join((*(mark for mark in marks if any(mark in each for each in told)), "several"))


def _when(began_s: float | None) -> str:
    """Local time."""
    return DASH if began_s is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(began_s))


def as_json(entries: Sequence[Row | Group], broken: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Every run, newest first; searches and ladders with what they found; and folders that are no runs."""
    groups = [entry for entry in entries if isinstance(entry, Group)]
    runs = [run for entry in entries for run in (entry.runs if isinstance(entry, Group) else (entry,))]
    return {
        "schema": 1,
        "runs": [{**asdict(row), "engine": {**asdict(row.engine), "told": row.engine.told()}} for row in runs],
        "groups": [_group(each) for each in groups],
        "broken": [{"path": path, "why": why} for path, why in broken],
    }


def _group(group: Group) -> dict[str, Any]:
    climbed = isinstance(group.said, Headline)
    found = _climbed(group.said) if isinstance(group.said, Headline) else group.said
    return {
        "path": group.path,
        "made_by": group.made_by,
        "began_s": group.began_s,
        "runs": len(group.runs),
        "sentence": found,
        "ladder": asdict(group.said) if climbed else None,
    }
