"""Latency distributions whole, and how contexts grow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from simulator.core.curves import Ecdf, growth, latency_curves
from simulator.core.groups import UNFINISHED
from simulator.core.window import Traffic
from simulator.core.wording import counted
from simulator.view.cells import clean
from simulator.view.format import count
from simulator.view.page.charts import chart
from simulator.view.page.shell import Part
from simulator.view.verdict import KINDS

#: curve -> its objective in the scenario's slo
OBJECTIVE = {"TTFT": "ttft_s", "TPOT": "tpot_s", "E2EL": "e2el_s", "turn latency": "turn_s"}
SECONDS = "datum.value < 0.001 ? format(datum.value * 1e6, '~g') + ' µs' : datum.value < 1 ? "
SECONDS += "format(datum.value * 1e3, '~g') + ' ms' : format(datum.value, '~g') + ' s'"
ABOUT = (
    "Each curve tells which share of requests (of turns, for turn latency) took no longer than that. Logarithmic time; "
    "a dashed line is an objective of the scenario."
)


def part(samples: Sequence[Traffic], slo: Mapping[str, Any]) -> Part | None:
    """None when nothing was answered."""
    curves = {KINDS[sample.kind]: latency_curves(sample) for sample in samples}
    drawn = []
    for name, key in OBJECTIVE.items():
        held = {kind: found[name] for kind, found in curves.items() if found[name].n}
        if held:
            told = f"{name}: {' and '.join(f'{count(each.n)} of {kind}' for kind, each in held.items())}."
            objective = slo.get(key)
            limit = float(objective) if isinstance(objective, int | float) and objective > 0 else None
            drawn.append(chart(_spec(name, held, limit), f"ecdf-{len(drawn)}", told))
    if not drawn:
        return None
    return Part("Latency", f'<p class="quiet">{ABOUT}</p><div class="charts">{"".join(drawn)}</div>', "latency")


def _spec(name: str, held: Mapping[str, Ecdf], limit_s: float | None) -> dict[str, Any]:
    rows = [
        {"x": max(float(f"{x:.5g}"), 1e-6), "p": round(float(p), 5), "s": kind}
        for kind, curve in held.items()
        for x, p in zip(curve.x, curve.share, strict=True)
    ]
    names = list(held)
    line = {
        "mark": {"type": "line", "interpolate": "step-after", "tooltip": True},
        "encoding": {
            "x": {
                "field": "x", "type": "quantitative", "scale": {"type": "log", "nice": False},
                "axis": {
                    "title": name, "labelExpr": SECONDS, "values": _ticks(held), "grid": True, "labelOverlap": "greedy",
                    "labelSeparation": 6,
                },
            },
            "y": {
                "field": "p", "type": "quantitative", "scale": {"domain": [0, 1]},
                "axis": {"title": "share", "values": [0, 0.25, 0.5, 0.75, 0.95], "format": ".0%", "minExtent": 40},
            },
            "color": {
                "field": "s", "type": "nominal", "scale": {"domain": names, "range": [f"--{each}" for each in names]},
                "legend": {"symbolType": "stroke"} if len(names) > 1 else None,
            },
            "tooltip": [
                {"field": "s", "title": "traffic"},
                {"field": "x", "title": f"{name}, s", "format": ".4~g"},
                {"field": "p", "title": "share", "format": ".1%"},
            ],
        },
    }  # fmt: skip
    layers: list[dict[str, Any]] = [line]
    if limit_s is not None:
        rule = {"type": "rule", "strokeDash": [4, 3], "color": "--faint"}
        place = {"x": {"field": "limit", "type": "quantitative"}}
        layers.append({"data": {"values": [{"limit": limit_s}]}, "mark": rule, "encoding": place})
    return {"height": 170, "data": {"values": rows}, "layer": layers}


def _ticks(held: Mapping[str, Ecdf]) -> list[float]:
    """Round numbers that the curves span, of each power of ten the fewest that make three."""
    low = max(min(float(curve.x[0]) for curve in held.values()), 1e-6)
    high = max(*(float(curve.x[-1]) for curve in held.values()), low)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        found = [float(f"{n}e{power}") for power in powers for n in steps]
        if sum(low <= each <= high for each in found) >= 3:
            break
    return found


def context(sample: Traffic | None) -> Part | None:
    """Prompt tokens by turn, a line a session. None without agents."""
    if sample is None:
        return None
    talks, of = growth(sample)
    if not talks:
        return None
    kind = {each.session: clean(each.task_kind) for each in sample.run.sessions}
    rows = [
        {"t": int(turn), "v": int(tok), "s": clean(talk.session), "k": kind.get(talk.session, UNFINISHED)}
        for talk in talks
        for turn, tok in zip(talk.turn, talk.prompt_tok, strict=True)
        if tok == tok
    ]
    names = sorted({row["k"] for row in rows})
    several = max(len(talk.turn) for talk in talks) > 1
    spec = {
        "height": 260,
        "data": {"values": rows},
        "mark": {"type": "line" if several else "point", "strokeWidth": 1.2, "opacity": 0.75, "tooltip": True},
        "encoding": {
            "x": {"field": "t", "type": "quantitative", "axis": {"title": "turn of the session", "tickMinStep": 1}},
            "y": {"field": "v", "type": "quantitative", "axis": {"title": "prompt tokens", "format": "~s"}},
            "detail": {"field": "s"},
            "color": {"field": "k", "type": "nominal", "scale": {"domain": names}, "legend": {"symbolType": "stroke"}},
            "tooltip": [
                {"field": "s", "title": "session"},
                {"field": "t", "title": "turn"},
                {"field": "v", "title": "prompt tokens", "format": ","},
            ],
        },
    }
    told = "A line a session, by its task's kind; a drop is a client that cut or summarised its history."
    if of > len(talks):
        told += f" {count(len(talks))} of {counted(of, 'session')}, evenly spaced, are drawn."
    return Part("Context growth", chart(spec, "context", told), "context-growth")
