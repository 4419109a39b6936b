"""How the run went: charts that share one time axis, with the measured windows shaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simulator.core.overtime import OverTime, over_time
from simulator.core.run import RunData
from simulator.core.table import Floats
from simulator.view.page.charts import chart
from simulator.view.page.shell import Part
from simulator.view.verdict import KINDS

COLOURS = {
    "agents": "--agents", "synthetic": "--synthetic", "open at the client": "--c1", "running": "--c3",
    "waiting": "--c2", "KV cache": "--c4", "prompt tokens": "--c3", "tokens a step": "--c7", "front end": "--c5",
}  # fmt: skip
HEIGHT = 150
ABOUT = (
    "Seconds since the run's start; the measured windows are shaded. What lies before the first is ramp and prefill of "
    "histories, which no figure of the window contains."
)


def part(run: RunData, summary: Mapping[str, Any]) -> Part | None:
    """None when nothing was sent."""
    seen = over_time(run)
    if seen is None:
        return None
    windows = [summary[kind]["window"] for kind in KINDS if summary[kind] is not None]
    steady = [(each["start_s"], each["end_s"]) for each in windows if each["steady"]]
    drawn = [chart(_spec(series, seen, steady, **look), name, told) for name, series, look, told in _charts(seen)]
    return Part("Over time", f'<p class="quiet">{ABOUT}</p><div class="charts">{"".join(drawn)}</div>', "over-time")


Series = dict[str, tuple[Floats, Floats]]


def _charts(seen: OverTime) -> list[tuple[str, Series, dict[str, Any], str]]:
    """(name, series, look, caption) of those with anything to show."""
    fine, coarse = _middles(seen.edges_s), _middles(seen.share_edges_s)
    step, wide = float(np.diff(seen.edges_s)[0]), float(np.diff(seen.share_edges_s)[0])
    every, shares = f"Means of {step:g} s.", f"Of {wide:g} s each."
    output = {KINDS[kind]: (fine, rate) for kind, rate in seen.output_tok_s.items()}
    inside = {"open at the client": seen.in_flight, "running": seen.running, "waiting": seen.waiting}
    found: list[tuple[str, Series, dict[str, Any], str]] = [
        ("output", output, {"title": "output tok/s", "form": ",.0f"}, f"Output tokens by arrival. {every}"),
        (
            "requests",
            {name: (fine, values) for name, values in inside.items()},
            {"title": "requests", "form": ",.1f"},
            f"Requests open at the client, and running and waiting in the engine by its own gauges. {every}",
        ),
        (
            "backlog",
            {"front end": (fine, seen.backlog)},
            {"title": "front-end backlog", "form": ".1f"},
            "Open at the client, neither running nor waiting in the engine: in its API process, or on the way. A value "
            "below 0 is two counts of different moments.",
        ),
        (
            "kv",
            {"KV cache": (fine, seen.kv_use)},
            {"title": "KV cache in use", "form": ".0%"},
            f"Share of the engine's KV blocks. {every}",
        ),
        (
            "cached",
            {"prompt tokens": (coarse, seen.cached_share)},
            {"title": "prompt tokens cached", "form": ".0%", "top": 1.0},
            f"Cached share of prompt tokens whose first output came then. {shares}",
        ),
        (
            "acceptance",
            {"tokens a step": (coarse, seen.acceptance_length)},
            {"title": "acceptance length", "form": ".2f", "low": 1.0},
            f"Tokens a decode step yields under speculation, from the engine's counters. {shares}",
        ),
    ]
    return [each for each in found if any(np.isfinite(values).any() for _, values in each[1].values())]


def _middles(edges_s: Floats) -> Floats:
    return (edges_s[:-1] + edges_s[1:]) / 2


def _spec(
    series: Series, seen: OverTime, windows: Sequence[tuple[float, float]], *, title: str, form: str,
    low: float | None = None, top: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    names = [name for name, (_, values) in series.items() if np.isfinite(values).any()]
    rows = [
        {"t": round(float(t), 3), "v": float(f"{v:.5g}") if np.isfinite(v) else None, "s": name}
        for name in names
        for t, v in zip(*series[name], strict=True)
    ]
    scale: dict[str, Any] = {"nice": True, "zero": low is None}
    if low is not None:
        scale["domainMin"] = low
    if top is not None:
        scale["domainMax"] = top
    if len(series) > 1 and _uneven([values for _, values in series.values()]):
        scale["type"] = "sqrt"
        title += ", √ scale"
    short = "~%" if "%" in form else ".2~f" if low is not None else "~g"
    label = f"abs(datum.value) >= 1000 ? format(datum.value, '~s') : format(datum.value, '{short}')"
    x = {
        "field": "t", "type": "quantitative", "scale": {"domain": [seen.edges_s[0], seen.edges_s[-1]], "nice": False},
        "axis": {
            "title": None, "tickCount": 8, "labelExpr": time_label(seen.edges_s[-1]), "labelOverlap": "greedy",
            "labelSeparation": 8,
        },
    }  # fmt: skip
    y = {
        "field": "v", "type": "quantitative", "scale": scale,
        "axis": {
            "title": title, "tickCount": 4, "labelExpr": label, "minExtent": 46,
        },
    }  # fmt: skip
    colour = {
        "field": "s", "type": "nominal", "scale": {"domain": names, "range": [COLOURS[name] for name in names]},
        "legend": {"symbolType": "stroke"} if len(series) > 1 else None,
    }  # fmt: skip
    tips = [{"field": "t", "type": "quantitative", "title": "at, s", "format": ",.1f"}]
    tips += [{"field": name, "type": "quantitative", "title": name, "format": form} for name in names]
    return {
        "height": HEIGHT,
        "data": {"values": rows},
        "encoding": {"x": x},
        "layer": [
            shade(windows),
            {"mark": {"type": "line", "interpolate": "step"}, "encoding": {"y": y, "color": colour}},
            {
                "transform": [{"pivot": "s", "value": "v", "groupby": ["t"]}],
                "mark": {"type": "rule", "color": "--faint"},
                "encoding": {
                    "opacity": {"condition": {"value": 0.7, "param": "at", "empty": False}, "value": 0},
                    "tooltip": tips,
                },
                "params": [
                    {
                        "name": "at",
                        "select": {
                            "type": "point", "fields": ["t"], "nearest": True, "on": "pointerover",
                            "clear": "pointerout",
                        },
                    }
                ],
            },
        ],
    }  # fmt: skip


def _uneven(series: Sequence[Floats]) -> bool:
    """Whether one part of a run is so much above another that the lower one would lie on the axis: synthetic traffic's
    256 requests beside 32 agents."""
    held = np.concatenate(series)
    held = held[np.isfinite(held) & (held > 0)]
    return bool(len(held) and held.max() > 6 * np.quantile(held, 0.6) and held.max() > 50)


def shade(windows: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return {
        "data": {"values": [{"a": start, "b": end} for start, end in windows]},
        "mark": {"type": "rect", "color": "--shade"},
        "encoding": {"x": {"field": "a", "type": "quantitative"}, "x2": {"field": "b"}},
    }


def time_label(longest_s: float) -> str:
    """Vega expression for a time on an axis: seconds, in long runs minutes, in very long ones hours."""
    if longest_s >= 7_200:
        return "format(datum.value / 3600, '.3~g') + ' h'"
    if longest_s >= 900:
        return "format(datum.value / 60, '.3~g') + ' min'"
    return "datum.value + ' s'"
