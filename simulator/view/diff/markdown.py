"""A comparison as Markdown, for a pull request or a wiki."""

from __future__ import annotations

from simulator.core.compare.comparison import Comparison, Part
from simulator.view.diff import figures, solved, words
from simulator.view.format import cell

HEADS = ("", "A", "B", "B/A %", "95 %", "p", "verdict")


def markdown(found: Comparison) -> str:
    lines: list[str] = []
    for mark in words.caution(found):
        lines += [f"# ⚠ {cell(mark)}", ""]
    lines += [f"**{cell(words.headline(found))}**", ""]
    lines += [f"- A: {cell(words.side(found.a))}", f"- B: {cell(words.side(found.b))}"]
    told = [
        words.design(found),
        *(each for _, each in solved.lines(found)),
        words.finds(found),
        *(f"limit of {each}" for each in words.limits(found)),
        words.outlying(found),
        *found.notes,
    ]
    lines += [f"- {cell(each)}" for each in told if each]
    for part in found.parts:
        lines += ["", *_table(found, part)]
    lines += ["", cell(words.legend(found)), "", *_runs(found), *_settings(found)]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _table(found: Comparison, part: Part) -> list[str]:
    lines = [f"## {words.title(part).capitalize()}", ""]
    lines += [f"{cell(each).capitalize()}.  " for each in words.against(part)]
    lines += [_line(HEADS), "|---|" + "--:|" * 5 + "---|"]
    for title, rows in words.shown(part, short=False, primary=found.primary):
        lines.append(_line([f"*{title}*", *[""] * 6]))
        for row in rows:
            strong = "**" if row is found.primary else ""
            cells = [f"{strong}{each}{strong}" if each else "" for each in (row.metric.label, *figures.cells(row))]
            lines.append(_line(cells))
    return lines


def _runs(found: Comparison) -> list[str]:
    """The primary metric pair by pair."""
    rows = words.by_pair(found)
    if not rows:
        return []
    heads = words.PAIR_HEADS
    lines = ["## Pairs", "", _line(heads), "|---|---|---|" + "--:|" * (len(heads) - 3)]
    return [*lines, *(_line([cell(each) for each in row]) for row in rows), ""]


def _settings(found: Comparison) -> list[str]:
    rows, _ = words.settings(found, short=False)
    if not rows:
        return ["No difference in the engines' flags, environment or settings was recorded."]
    lines = ["## Configuration", "", _line(("", "", "A", "B")), "|---|---|---|---|"]
    return [*lines, *(_line([cell(each) for each in row]) for row in rows)]
