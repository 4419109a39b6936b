"""A comparison as one page that opens offline: intervals drawn, tables, pairs, configuration."""

from __future__ import annotations

from typing import Any

from simulator.core.compare.comparison import Comparison, Part
from simulator.core.compare.verdict import Verdict
from simulator.view.cells import clean
from simulator.view.diff import figures, solved, words
from simulator.view.page import shell
from simulator.view.page.charts import chart
from simulator.view.page.text import esc, table

MOST = 100.0
HEADS = ("metric", "A", "B", "B/A %", "95 %", "p", "verdict")
COLOURS = {
    Verdict.BETTER: "--ok",
    Verdict.WORSE: "--alarm",
    Verdict.EQUIVALENT: "--c1",
    Verdict.INCONCLUSIVE: "--c8",
    Verdict.SUGGESTIVE: "--warn",
}


def html(found: Comparison) -> str:
    parts = [shell.Part("", _top(found), "verdict")]
    for part in found.parts:
        parts.append(shell.Part(words.title(part).capitalize(), _traffic(found, part), part.kind))
    pairs = words.by_pair(found)
    if pairs:
        parts.append(shell.Part("Pairs", table(words.PAIR_HEADS, pairs), "pairs"))
    rows, _ = words.settings(found, short=False)
    body = table(("place", "name", "A", "B"), rows) if rows else "<p>No difference was recorded.</p>"
    parts.append(shell.Part("Configuration", body, "configuration"))
    title = f"{_name(found.a)} against {_name(found.b)}"
    return shell.page(title, parts, note="\n".join(words.caution(found)))


def _name(runs: Any) -> str:
    return words.side(runs).partition(";")[0]


def _top(found: Comparison) -> str:
    told = [f"A: {words.side(found.a)}", f"B: {words.side(found.b)}", words.design(found)]
    told += [*(each for _, each in solved.lines(found)), words.finds(found)]
    notes = [each for each in (words.outlying(found), *found.notes) if each]
    told += [f"limit of {each}" for each in words.limits(found)]
    lines = "".join(f"<p>{esc(each)}</p>" for each in told if each)
    listed = "".join(f"<li>{esc(each)}</li>" for each in notes)
    return f"<p><strong>{esc(words.headline(found))}</strong></p>{lines}" + (f"<ul>{listed}</ul>" if listed else "")


def _traffic(found: Comparison, part: Part) -> str:
    rows: list[tuple[str, ...]] = []
    for title, each in words.shown(part, short=False, primary=found.primary):
        rows.append((title.upper(), *[""] * 6))
        rows += [(row.metric.label + " ◂" * (row is found.primary), *figures.cells(row)) for row in each]
    against = "".join(f"<p><strong>{esc(each)}</strong></p>" for each in words.against(part))
    legend = f'<p class="quiet">{esc(words.legend(found))}</p>'
    return against + _intervals(found, part) + table(HEADS, rows) + legend


def _intervals(found: Comparison, part: Part) -> str:
    """Ratios with their intervals, better to the right whatever the metric's direction."""
    marks = []
    for title, rows in words.shown(part, short=True, primary=found.primary):
        for row in rows:
            if row.found is None or row.found.low is None or row.found.high is None or not row.metric.better:
                continue
            up = row.metric.better == "higher"
            ends = [100 * (each - 1) for each in (row.found.ratio, row.found.low, row.found.high)]
            gain, *edges = ends if up else [-each for each in ends]
            marks.append(
                {
                    "metric": clean(row.metric.label),
                    "group": title,
                    "gain": _held(gain),
                    "low": _held(min(edges)),
                    "high": _held(max(edges)),
                    "told": f"{figures.signed(row.found.ratio)} ({figures.interval(row)}) %",
                    "verdict": str(row.word),
                }
            )
    if not marks:
        return ""
    caption = "B against A in per cent, better to the right, with 95 % intervals; beyond 100 % at the edge"
    return chart(_spec(marks), f"intervals-{part.kind}", caption)


def _held(change: float) -> float:
    """Within the chart: one wild metric must not press all others flat."""
    return max(-MOST, min(MOST, change))


def _spec(marks: list[dict[str, Any]]) -> dict[str, Any]:
    words_there = [str(each) for each in COLOURS if any(mark["verdict"] == str(each) for mark in marks)]
    colours = {
        "field": "verdict",
        "type": "nominal",
        "title": None,
        "scale": {"domain": words_there, "range": [COLOURS[Verdict(each)] for each in words_there]},
        "legend": {"orient": "top"},
    }
    y = {"field": "metric", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 200}}
    x_title = "B against A, % (better to the right)"
    return {
        "height": 22 * len(marks) + 10,
        "data": {"values": marks},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [3, 3], "color": "#888"}, "encoding": {"x": {"datum": 0}}},
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "y": y,
                    "x": {"field": "low", "type": "quantitative", "title": x_title},
                    "x2": {"field": "high"},
                    "color": colours,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {
                    "y": y,
                    "x": {"field": "gain", "type": "quantitative"},
                    "color": colours,
                    "tooltip": [{"field": name} for name in ("metric", "told", "verdict")],
                },
            },
        ],
    }
