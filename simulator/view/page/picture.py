"""A Vega-Lite spec as a PNG, for Markdown and for a page that shows no scripts; in the colours of a light page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import vl_convert

from simulator.view.page.charts import SCHEMA, VEGA_LITE
from simulator.view.page.shell import asset

#: pixels of a file for one of the spec, for screens that have so many
SCALE = 2.0
WIDTH = 900
FONT = "DejaVu Sans, Arial, sans-serif"


def png(spec: Mapping[str, Any], marks: Sequence[str] = ()) -> bytes:
    """marks: what must not be missed (EMULATED, random weights), above everything else."""
    title = {"title": {"text": list(marks), "color": "--alarm", "fontSize": 13, "anchor": "start"}} if marks else {}
    wide = {} if "hconcat" in spec else {"width": WIDTH, "height": 300}
    whole = _painted({"$schema": SCHEMA, "background": "--paper", "padding": 12, **wide, **spec, **title}, "")
    return bytes(vl_convert.vegalite_to_png(vl_spec=whole, vl_version=VEGA_LITE, scale=SCALE, config=_config()))


@cache
def _colours() -> Mapping[str, str]:
    """Of the style sheet's light half."""
    light = asset("style.css").partition("}")[0]
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", light))


def _painted(value: Any, key: str) -> Any:
    """boot.js does the same on a page."""
    if key == "data":
        return value
    if isinstance(value, str):
        return _colours().get(value, value)
    if isinstance(value, list):
        return [_painted(each, "") for each in value]
    if isinstance(value, Mapping):
        return {name: _painted(each, name) for name, each in value.items()}
    return value


def _config() -> dict[str, Any]:
    words = {"labelFont": FONT, "titleFont": FONT, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": 500}
    quiet = {"labelColor": "--faint", "titleColor": "--faint"}
    found: dict[str, Any] = _painted(
        {
            "view": {"stroke": None},
            "axis": {
                **words,
                **quiet,
                "gridColor": "--line",
                "domainColor": "--line",
                "tickColor": "--line",
                "tickSize": 4,
                "labelPadding": 4,
                "titlePadding": 10,
            },
            "axisX": {"grid": False},
            "axisY": {"domain": False, "ticks": False},
            "legend": {**words, "labelColor": "--ink", "orient": "top", "title": None, "symbolStrokeWidth": 2},
            "title": {"font": FONT, "fontSize": 12, "fontWeight": 600, "color": "--ink", "anchor": "start"},
            "range": {"category": [f"--c{n}" for n in range(1, 9)]},
            "text": {"font": FONT, "color": "--ink"},
        },
        "",
    )
    return found
