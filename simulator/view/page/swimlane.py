"""The swim-lanes of a run: core/lanes.py's bars, packed for lanes.js."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.core.lanes import FAILED, LANES, THINGS, TOOL, WHAT, Lanes, lanes
from simulator.core.latency import ttft_s
from simulator.core.table import Floats, Table
from simulator.core.throughput import prompt_tok
from simulator.core.window import Traffic
from simulator.view.cells import clean
from simulator.view.format import count, duration
from simulator.view.page.shell import Part
from simulator.view.page.text import data, esc

#: colour of each kind of bar, and how much of its lane it leaves free above and below
COLOURS = (
    "--late", "--front", "--prefill", "--decode", "--failed", "--think", "--tool", "--think", "--backoff", "--subagent",
)  # fmt: skip
SLIM = (0.12, 0.0, 0.0, 0.0, 0.0, 0.2, 0.18, 0.32, 0.2, 0.25)
#: kinds that are shown however short they are
LOUD = (FAILED,)
#: lanes, and requests with tool calls, that are drawn
MOST = {"agent": (LANES, THINGS), "synthetic": (40, 2_000)}
ABOUT = {
    "agent": "A lane a place, one session after another (a dark line where one begins); sub-agents at work have lanes "
    "of their own below it.",
    "synthetic": "A lane a place, one request after another.",
}
HOW = (
    "Drag to pan, pinch or Ctrl and wheel to zoom, double click to zoom in; arrow keys, + and - work too. Point at a "
    "bar for its turn, tokens and times; press a word above to hide its bars."
)
TITLES = {"agent": "Sessions", "synthetic": "Synthetic requests"}


def part(sample: Traffic) -> Part | None:
    """None when there is nothing to draw."""
    found = lanes(sample, *MOST[sample.kind])
    if not found.bars:
        return None
    name = f"lanes-{sample.kind}"
    told = f"{ABOUT[sample.kind]} {_left_out(found)}".strip()
    html = (
        f'<p class="quiet">{esc(told)}</p><div class="lanes" data-lanes="data-{name}">{_controls(found, sample)}'
        f'<canvas tabindex="0" role="img" aria-label="{esc(TITLES[sample.kind])} over time: {esc(told)}"></canvas>'
        f'<div class="tip" hidden></div></div><p class="quiet">{HOW}</p>{data(f"data-{name}", _packed(found, sample))}'
    )
    return Part(f"{TITLES[sample.kind]} at work", html, name, ("lanes.js",))


def _left_out(found: Lanes) -> str:
    told = ""
    if found.shown < found.slots:
        told = f"{count(found.shown)} of {count(found.slots)} places, evenly spaced, with all that they did. "
    if found.until_s is not None:
        told += f"Too many requests to draw: only those due before {duration(found.until_s)} are shown."
    return told


def _controls(found: Lanes, sample: Traffic) -> str:
    buttons = {"in": "+", "out": "−", "all": "whole run", "window": "window"}
    if not sample.window.steady:
        del buttons["window"]
    held = {bar[1] for bar in found.bars}
    keys = "".join(
        f'<button class="key" data-what="{n}" aria-pressed="true"><i style="background:var({COLOURS[n]})"></i>'
        f"{esc(word)}</button>"
        for n, word in enumerate(WHAT)
        if n in held
    )
    moves = "".join(f'<button data-do="{do}">{word}</button>' for do, word in buttons.items())
    return f'<div class="controls">{keys}<span class="gap"></span>{moves}</div>'


class _Names:
    """Texts by number, each kept once."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._at = {"": 0}

    def of(self, text: str) -> int:
        text = clean(text[:240])[:120]
        if text not in self._at:
            self._at[text] = len(self.texts)
            self.texts.append(text)
        return self._at[text]


def _packed(found: Lanes, sample: Traffic) -> dict[str, Any]:
    """Times in whole milliseconds of the run; bars flat, five numbers each."""
    names, window = _Names(), sample.window
    bars = [n for lane, what, a, b, about in found.bars for n in (lane, what, _ms(a), _length(a, b), about)]
    start = min(bar[2] for bar in found.bars)
    end = max(bar[3] for bar in found.bars)
    return {
        "start": _ms(start),
        "end": max(_ms(end), _ms(start) + 10),
        "window": [_ms(window.start_s), _ms(window.end_s)] if window.steady else None,
        "place": "slot" if sample.kind == "agent" else "place",
        "lanes": found.lanes,
        "what": WHAT,
        "colours": COLOURS,
        "slim": SLIM,
        "loud": LOUD,
        "tool": TOOL,
        "bars": bars,
        "begins": _begins(found) if sample.kind == "agent" else [],
        "requests": _requests(found.requests, sample, names),
        "tools": _tools(found.tools, names),
        "names": names.texts,
    }


def _ms(t_s: float) -> int:
    return round(t_s * 1e3)


def _length(start_s: float, end_s: float) -> float:
    """A tenth of a millisecond where that matters."""
    length = (end_s - start_s) * 1e3
    return round(length, 1) if length < 100 else round(length)


def _begins(found: Lanes) -> list[tuple[int, int]]:
    """(lane, ms) at which a conversation shows its first bar."""
    session, seen = found.requests.text("session"), set()
    begins = []
    for lane, what, start, _, about in found.bars:
        if what < TOOL and about >= 0:
            talk = (session.at(about), found.requests["branch"][about])
            if talk not in seen:
                seen.add(talk)
                begins.append((lane, _ms(start)))
    return begins


def _whole(values: Floats) -> list[int | None]:
    return [int(value) if np.isfinite(value) else None for value in values]


def _requests(requests: Table, sample: Traffic, names: _Names) -> dict[str, Any]:
    task = {each.session: f"{each.task_name}, {each.task_kind}, {each.profile}" for each in sample.run.sessions}
    session, error, detail = (requests.text(name) for name in ("session", "error", "detail"))
    rows = range(requests.n)
    said = [": ".join(filter(None, (error.at(n), detail.at(n)))) for n in rows]
    return {
        "session": [names.of(session.at(n)) for n in rows],
        "task": [names.of(task.get(session.at(n), "")) for n in rows],
        "error": [names.of(text) for text in said],
        "branch": _whole(np.nan_to_num(requests["branch"])),
        "turn": _whole(requests["turn"]),
        "retry": _whole(np.nan_to_num(requests["retry"])),
        "prompt": _whole(prompt_tok(requests)[0]),
        "cached": _whole(requests["cached_tok"]),
        "output": _whole(requests["output_tok"]),
        "ttft": [None if not np.isfinite(v) else round(v * 1e3, 1) for v in ttft_s(requests).tolist()],
    }


def _tools(tools: Table, names: _Names) -> dict[str, Any]:
    session, tool = tools.text("session"), tools.text("tool")

    def span(begin: str, end: str) -> list[float]:
        return [round(float(each), 1) for each in np.nan_to_num((tools[end] - tools[begin]) * 1e3)]

    return {
        "session": [names.of(session.at(n)) for n in range(tools.n)],
        "tool": [names.of(tool.at(n)) for n in range(tools.n)],
        "turn": _whole(tools["turn"]),
        "matched": [bool(each) for each in np.nan_to_num(tools["matched"])],
        "run": span("t_start_s", "t_end_s"),
        "queue": span("t_ready_s", "t_start_s"),
        "pace": span("t_end_s", "t_release_s"),
    }
