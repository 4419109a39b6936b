"""The picture of a ladder over levels of load: a line a rung, agents beside the synthetic test."""

from __future__ import annotations

from typing import Any

from simulator.core.choice.choice import AGENTS, FIGURES, OUTPUT, SYNTHETIC
from simulator.core.choice.loads import ByLoad
from simulator.view.cells import clean
from simulator.view.compare_traffic import FIGURE_WORDS

HEIGHT, WIDTH = 260, 420
#: by which the levels' axis is longer at each end
ROOM = 1.15


def load_charts(found: ByLoad, synthetic: str) -> str:
    """Both kinds of traffic side by side where there is room, with the same scale."""
    from simulator.view.page.charts import chart  # the bundle is for pages alone

    drawn = [
        chart({**panel, "height": HEIGHT}, f"load-{kind}", caption)
        for (kind, panel), caption in zip(panels(found, synthetic).items(), _captions(found), strict=False)
    ]
    return f'<div class="charts">{"".join(drawn)}</div>' if drawn else ""


def _captions(found: ByLoad) -> tuple[str, str]:
    bars = any(point.ratio.low is not None for curve in found.curves for point in curve.points)
    more = "Bars are 95 % intervals." if bars else "One run a rung suggests and decides nothing."
    less = "" if FIGURES[found.figure] == "higher" else " Less is better for the agents."
    return f"Ratio to {clean(found.first)} at the same number at once.{less}", more


def panels(found: ByLoad, synthetic: str) -> dict[str, dict[str, Any]]:
    """Kind of traffic -> a Vega-Lite view without a size: a line a rung over the levels, 1 is the first rung."""
    points = [point for curve in found.curves for point in curve.points]
    if not points:
        return {}
    edges = [edge for p in points for edge in (p.ratio.ratio, p.ratio.low, p.ratio.high) if edge is not None]
    low, high = min(edges), max(edges)
    room = max(0.02, 0.06 * (high - low))
    what = "output tok/s" if found.figure == OUTPUT else FIGURE_WORDS[found.figure][0]
    titles = {AGENTS: f"agents, {what}", SYNTHETIC: f"{synthetic}, output tok/s"}
    return {
        kind: _panel(found, kind, title, (low - room, high + room))
        for kind, title in titles.items()
        if found.knows(kind)
    }


def _panel(found: ByLoad, kind: str, title: str, domain: tuple[float, float]) -> dict[str, Any]:
    rows = [
        {
            "rung": clean(curve.rung), "level": point.level, "ratio": round(point.ratio.ratio, 4),
            "low": point.ratio.low, "high": point.ratio.high,
        }
        for curve in found.curves
        if curve.kind == kind
        for point in curve.points
    ]  # fmt: skip
    rungs = [clean(each) for each in found.rungs]
    ends = [found.levels[0] / ROOM, found.levels[-1] * ROOM]
    x = {
        "field": "level", "type": "quantitative", "title": "at once",
        "scale": {"type": "log", "base": 2, "domain": ends, "nice": False},
        "axis": {"values": list(found.levels), "format": ",d"},
    }  # fmt: skip
    y = {
        "field": "ratio", "type": "quantitative", "title": f"ratio to {clean(found.first)}",
        "scale": {"domain": list(domain), "zero": False, "nice": False}, "axis": {"format": ".2f", "tickCount": 6},
    }  # fmt: skip
    colour = {"field": "rung", "type": "nominal", "scale": {"domain": rungs}, "legend": {"columns": 4}}
    tips = [{"field": "rung", "type": "nominal"}, {"field": "level", "type": "quantitative", "title": "at once"}, y]
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "line", "point": {"size": 45}, "strokeWidth": 2}, "encoding": {"tooltip": tips}},
    ]
    if any(row["low"] is not None for row in rows):
        ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
        layers.append({"mark": {"type": "rule", "opacity": 0.6}, "encoding": ends})
    return {
        "title": title,
        "data": {"values": rows},
        "encoding": {"x": x, "y": y, "color": colour},
        "layer": layers,
    }


def load_picture(found: ByLoad, synthetic: str) -> dict[str, Any]:
    """The same two views in one picture, for a file; {} without any ratio."""
    drawn = [{**panel, "width": WIDTH, "height": HEIGHT} for panel in panels(found, synthetic).values()]
    return {"hconcat": drawn, "spacing": 40} if drawn else {}
