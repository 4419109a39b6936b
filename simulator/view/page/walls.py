"""Where a session's wall time goes, as bars: all sessions, by kind of task, by client profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.view.cells import clean
from simulator.view.format import count
from simulator.view.page.charts import chart

FIRST, STREAM = "model, to the first token", "model, streaming"
#: what a bar is made of -> its colour, in the order of the bar; those of the swim-lanes where they mean the same
PIECES = {
    FIRST: "--prefill",
    STREAM: "--decode",
    "sub-agents": "--subagent",
    "tools running": "--tool",
    "tools waiting": "--c5",
    "tools held to recorded time": "--pace",
    "thinking": "--think",
    "back-off": "--backoff",
    "client": "--client",
}
PARTS = (
    "model_s",
    "model_s",
    "subagent_s",
    "tool_run_s",
    "tool_queue_s",
    "tool_pace_s",
    "think_s",
    "backoff_s",
    "client_s",
)
GROUPS = {"by_kind": "task", "by_profile": "client"}


def walls(agent: Mapping[str, Any] | None) -> str:
    """HTML of the chart; "" without finished sessions."""
    if agent is None or agent["wall"] is None:
        return ""
    splits = {"all": agent["wall"]}
    for key, word in GROUPS.items():
        for name, row in (agent.get(key) or {}).items():
            if row.get("wall"):
                splits[f"{word}: {clean(name)[:40]}"] = row["wall"]
    rows = [row for name, split in splits.items() for row in _rows(f"{name} ({count(split['sessions'])})", split)]
    held = [piece for piece in PIECES if any(row["what"] == piece for row in rows)]
    spec = {
        "height": 26 * len(splits) + 4,
        "data": {"values": rows},
        "mark": {"type": "bar", "height": {"band": 0.78}},
        "encoding": {
            "y": {
                "field": "who", "type": "nominal", "sort": None,
                "axis": {"title": None, "labelLimit": 150, "labelColor": "--ink"},
            },
            "x": {
                "field": "share", "type": "quantitative", "stack": "zero", "scale": {"domain": [0, 1]},
                "axis": {"title": None, "format": ".0%", "tickCount": 5},
            },
            "color": {
                "field": "what", "type": "nominal", "legend": None,
                "scale": {"domain": held, "range": [PIECES[piece] for piece in held]},
            },
            "order": {"field": "n", "type": "quantitative"},
            "tooltip": [
                {"field": "who", "title": "sessions"},
                {"field": "what", "title": "part"},
                {"field": "share", "title": "of the wall", "format": ".1%"},
                {"field": "each", "title": "a session, s", "format": ".3~g"},
            ],
        },
    }  # fmt: skip
    told = (
        "In brackets: sessions with a part of their life in the window. Tools are held to their recorded time where "
        "the scenario says so."
    )
    keys = "".join(f'<span><i style="background:var({PIECES[piece]})"></i>{piece}</span>' for piece in held)
    return f'<p class="keys">{keys}</p>{chart(spec, "wall", told)}'


def _rows(who: str, split: Mapping[str, Any]) -> list[dict[str, Any]]:
    first = split["first_token_share"] or 0.0
    share = {FIRST: first, STREAM: 1 - first}
    found = []
    for n, (piece, part) in enumerate(zip(PIECES, PARTS, strict=True)):
        of = share.get(piece, 1.0)
        if split["shares"][part] * of > 0.0005:
            each = split["parts"][part] * of / split["sessions"]
            found.append({"who": who, "what": piece, "share": split["shares"][part] * of, "each": each, "n": n})
    return found
