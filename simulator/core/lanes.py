"""A run as lanes of bars: what each place did at each moment. Sub-agents have lanes of their own below their session's.

A bar is (lane, what, start_s, end_s, about): about is the row of its request or tool call, -1 for a pause.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from simulator.core.stats import known
from simulator.core.table import Mask, Table
from simulator.core.window import Traffic, asked_s, cancelled, failed

LATE, FRONT, QUEUE, DECODE, FAILED, CANCELLED, TOOL, THINK, BACKOFF, SUBAGENTS = range(10)
#: what a bar of each kind says
WHAT = (
    "client queue",
    "front end",
    "queue and prefill",
    "decode",
    "failed",
    "cancelled",
    "tool",
    "think",
    "back-off",
    "waits for sub-agents",
)
#: no more of each are drawn
LANES, THINGS = 128, 8_000
#: a shorter pause is the client's own work
PAUSE_S = 0.02

Bar = tuple[int, int, float, float, int]


@dataclass(frozen=True, slots=True)
class Lanes:
    """lanes: (slot, track) of each, track 0 for sessions and 1, 2, ... for sub-agents at work at once. bars: in order
    of time. requests, tools: the rows that bars are about. slots: how many there were, and `shown` of them. until_s:
    bars that begin later were left out, None when none were."""

    lanes: tuple[tuple[int, int], ...]
    bars: list[Bar]
    requests: Table
    tools: Table
    slots: int
    shown: int
    until_s: float | None


def lanes(sample: Traffic, most_lanes: int = LANES, most: int = THINGS) -> Lanes:
    """most: requests and tool calls together. Of a run with more than fits, evenly spaced slots with all that they did;
    of slots that did more than fits, their first part."""
    requests, tools = sample.every, sample.run.tools
    if sample.kind != "agent":
        tools = tools.where(_none(tools))
    names, counts = np.unique(requests["slot"], return_counts=True)
    counts = counts + np.array([np.count_nonzero(tools["slot"] == name) for name in names])
    keep = min(len(names), most_lanes)
    while keep > 1 and counts[_spaced(len(names), keep)].sum() > most:
        keep -= max(1, keep // 10)
    chosen = names[_spaced(len(names), keep)]
    requests, tools = (table.where(np.isin(table["slot"], chosen)) for table in (requests, tools))
    until = None
    if requests.n + tools.n > most:
        until = float(np.sort(np.concatenate([requests["t_due_s"], tools["t_ready_s"]]))[most])
        requests, tools = requests.where(requests["t_due_s"] < until), tools.where(tools["t_ready_s"] < until)
    place, rows = _tracks(requests, tools, [int(each) for each in chosen])
    bars = _request_bars(requests, place) + _tool_bars(tools, place) + _pauses(requests, tools, place)
    return Lanes(rows, sorted(bars, key=lambda bar: bar[2]), requests, tools, len(names), len(chosen), until)


def _spaced(of: int, keep: int) -> np.ndarray:
    return np.unique(np.linspace(0, of - 1, keep).round().astype(np.int64))


def _none(table: Table) -> Mask:
    return np.zeros(table.n, dtype=np.bool_)


Talk = tuple[int, str, int]


def _talks(table: Table) -> list[Talk]:
    """(slot, session, branch) of each row."""
    session, branch = table.text("session"), np.nan_to_num(table["branch"])
    return [(int(table["slot"][n]), session.at(n), int(branch[n])) for n in range(table.n)]


def _tracks(requests: Table, tools: Table, slots: list[int]) -> tuple[dict[Talk, int], tuple[tuple[int, int], ...]]:
    """The lane of each conversation, and what the lanes are: a sub-agent takes the first track below its session's that
    is free while it lives."""
    life: dict[Talk, list[float]] = {}
    for table, begin, end in ((requests, "t_due_s", "t_end_s"), (tools, "t_ready_s", "t_release_s")):
        for n, talk in enumerate(_talks(table)):
            span = life.setdefault(talk, [np.inf, -np.inf])
            span[0], span[1] = min(span[0], table[begin][n]), max(span[1], table[end][n])
    track: dict[Talk, int] = {talk: 0 for talk in life}
    free_at: dict[int, list[float]] = defaultdict(list)
    for talk in sorted((talk for talk in life if talk[2]), key=lambda talk: life[talk][0]):
        ends, (from_s, until_s) = free_at[talk[0]], life[talk]
        at = next((n for n, free in enumerate(ends) if free <= from_s), len(ends))
        ends[at : at + 1] = [until_s]
        track[talk] = at + 1
    rows = tuple((slot, n) for slot in slots for n in range(len(free_at[slot]) + 1))
    number = {row: n for n, row in enumerate(rows)}
    return {talk: number[talk[0], track[talk]] for talk in life}, rows


def _request_bars(requests: Table, place: dict[Talk, int]) -> list[Bar]:
    lost, ended, asked = failed(requests), cancelled(requests), asked_s(requests)
    due, first, last = requests["t_due_s"], requests["t_first_s"], requests["t_last_s"]
    engine = np.maximum(first - np.maximum(requests["server_ttft_s"], 0), asked)  # where its own TTFT began
    bars: list[Bar] = []
    for n, talk in enumerate(_talks(requests)):
        lane = place[talk]
        spans = [(LATE, due[n], asked[n])]
        if lost[n]:
            spans.append((FAILED, asked[n], requests["t_end_s"][n]))
        else:
            begin = engine[n] if np.isfinite(engine[n]) else asked[n]
            spans += [(FRONT, asked[n], begin), (QUEUE, begin, first[n]), (DECODE, first[n], last[n])]
        if ended[n]:
            reached = known(np.array([asked[n], first[n], last[n]]))
            spans.append((CANCELLED, float(reached[-1]), requests["t_end_s"][n]))
        bars += [(lane, what, float(a), float(b), n) for what, a, b in spans if b > a]
    return bars


def _tool_bars(tools: Table, place: dict[Talk, int]) -> list[Bar]:
    begin, end = tools["t_ready_s"], tools["t_release_s"]
    return [(place[talk], TOOL, float(begin[n]), float(end[n]), n) for n, talk in enumerate(_talks(tools))]


def _pauses(requests: Table, tools: Table, place: dict[Talk, int]) -> list[Bar]:
    """Between what a conversation did and its next request: back-off when that is another attempt, waiting for
    sub-agents while any of the session was at work, else thinking."""
    busy: dict[Talk, list[tuple[float, float, int]]] = defaultdict(list)
    below: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    for n, talk in enumerate(_talks(requests)):
        busy[talk].append((requests["t_due_s"][n], requests["t_end_s"][n], int(requests["retry"][n])))
        if talk[2]:
            below[talk[:2]].append((requests["t_due_s"][n], requests["t_end_s"][n]))
    for n, talk in enumerate(_talks(tools)):
        busy[talk].append((tools["t_ready_s"][n], tools["t_release_s"][n], -1))
    bars: list[Bar] = []
    for talk, spans in busy.items():
        spans.sort()
        free = spans[0][1]
        for start, end, retry in spans[1:]:
            if start - free >= PAUSE_S and retry >= 0:
                waits = not talk[2] and any(a < start and b > free for a, b in below[talk[:2]])
                what = BACKOFF if retry else SUBAGENTS if waits else THINK
                bars.append((place[talk], what, float(free), float(start), -1))
            free = max(free, end)
    return bars
