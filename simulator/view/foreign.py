"""A run of ours beside another tool's figures: in the terminal, as Markdown, as a page, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from simulator.core.compare.verdict import Verdict
from simulator.core.foreign.compare import Beside, Row
from simulator.view.cells import clean
from simulator.view.final import Hanging
from simulator.view.format import cell, count, digits, measure
from simulator.view.identity import EMULATED, RANDOM
from simulator.view.page.shell import Part, page
from simulator.view.page.text import esc
from simulator.view.page.text import table as html_table

HEADS = ("", "A", "B", "B / A", "95 %", "")
_STYLES = {Verdict.BETTER: "green", Verdict.WORSE: "bold red", Verdict.EQUIVALENT: "green"}
NOTE = (
    "Of all requests but the warm-up, from the library call on, as other tools count: not the figures of a report. "
    "TPOT by n - 1: (last - first output) / (n - 1). Other tools do not say whether their client was the limit."
)


def headline(found: Beside) -> str:
    """What can be said, in a sentence."""
    row, n = found.first, len(found.pairs)
    names = f"A: {_names(found, 0)}; B: {_names(found, 1)}"
    if row is None or row.found is None:
        return f"{found.primary.label} is not known on both sides: {found.word}. {names}"
    pairs = f"{n} pair{'s' * (n != 1)}"
    return f"B / A of {row.metric.label} is {row.found.ratio:.3f}{_within(row)}, {pairs}: {found.word}. {names}"


def _within(row: Row) -> str:
    found = row.found
    return "" if found is None or found.low is None or found.high is None else f" ({found.low:.3f}..{found.high:.3f})"


def _names(found: Beside, side: int) -> str:
    told = list(dict.fromkeys(f"{clean(pair[side].name)} ({pair[side].tool})" for pair in found.pairs))
    return told[0] + (f" and {len(told) - 1} more" if len(told) > 1 else "")


def marks(found: Beside) -> list[str]:
    random = any(each.random for pair in found.pairs for each in pair)
    return [EMULATED] * found.emulated + [RANDOM] * random


def rows(found: Beside) -> list[tuple[str, ...]]:
    return [
        (
            row.metric.label,
            measure(row.a, row.metric.unit),
            measure(row.b, row.metric.unit),
            digits(None if row.found is None else row.found.ratio),
            _within(row).strip(" ()"),
            str(row.word or ""),
        )
        for row in found.rows
    ]


def notes(found: Beside) -> list[str]:
    told = [f"Incomparable: {clean(each)}." for each in found.reasons]
    told += [f"{clean(each)} was client-limited: its figures describe the client." for each in found.limited]
    failed = [f"{clean(each.name)} {count(each.failed)}" for pair in found.pairs for each in pair if each.failed]
    told += [f"Failed requests, in no figure: {', '.join(failed)}."] * bool(failed)
    if found.emulated:
        told.append("A run of ours was on the emulated engine; the other tool's file does not say what it measured.")
    return [*told, NOTE]


def terminal(found: Beside) -> RenderableType:
    """For 80 columns."""
    grid = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for n, head in enumerate(HEADS):
        grid.add_column(head, justify="right" if 0 < n < 5 else "left", no_wrap=True)
    for row, cells in zip(found.rows, rows(found), strict=True):
        shown: Sequence[Text] = [*map(Text, cells[:-1]), Text(cells[-1], style=_STYLES.get(row.word, ""))]  # type: ignore[arg-type]
        grid.add_row(*shown, style="bold" if row.metric == found.primary else "")
    badges = [Text(f" {mark}: not a GPU " if mark == EMULATED else f" {mark} ", style="bold white on red")
              for mark in marks(found)]  # fmt: skip
    told = [Hanging(Text(f"{'note':11}{note}")) for note in notes(found)]
    return Group(*badges, Text(headline(found), style="bold"), Text(), grid, Text(), *told)


def markdown(found: Beside) -> str:
    lines = [f"# ⚠ {mark}" for mark in marks(found)]
    lines += ["", f"**{cell(headline(found))}**", "", f"| {' | '.join(HEADS)} |", "|---|--:|--:|--:|--:|---|"]
    lines += [f"| {' | '.join(map(cell, each))} |" for each in rows(found)]
    return "\n".join([*lines, "", *(f"- {cell(note)}" for note in notes(found))]) + "\n"


def html(found: Beside) -> str:
    body = f"<p>{esc(headline(found))}</p>{html_table(HEADS, rows(found))}"
    body += "".join(f"<p>{esc(note)}</p>" for note in notes(found))
    return page(
        "Beside another tool", [Part("Metrics that mean the same", body, "common")], note=", ".join(marks(found))
    )


def as_json(found: Beside) -> dict[str, Any]:
    return {
        "schema": 1,
        "engine": "EMULATED" if found.emulated else None,
        "verdict": str(found.word),
        "primary": found.primary.key,
        "reasons": list(found.reasons),
        "client_limited": list(found.limited),
        "rows": [
            {
                "metric": row.metric.key,
                "unit": row.metric.unit,
                "a": row.a,
                "b": row.b,
                "ratio": None if row.found is None else row.found.ratio,
                "low": None if row.found is None else row.found.low,
                "high": None if row.found is None else row.found.high,
                "verdict": None if row.word is None else str(row.word),
            }
            for row in found.rows
        ],
        "pairs": [
            [{"name": each.name, "tool": each.tool, "figures": dict(each.figures)} for each in pair]
            for pair in found.pairs
        ],
    }
