"""Whole distributions and growths, thinned honestly: what is left out never moves a curve by more than its thinning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.core.latency import e2el_s, tpot_s, ttft_s
from simulator.core.stats import known
from simulator.core.table import Floats
from simulator.core.throughput import prompt_tok
from simulator.core.turns import conversation, turns_due
from simulator.core.window import Traffic, failed

#: points of a curve; a share is then off by at most 1 / POINTS
POINTS = 400
#: conversations whose growth is drawn, and points of each
TALKS, TALK_POINTS = 64, 120


@dataclass(frozen=True, slots=True)
class Ecdf:
    """x: ascending values, share: of all values, those up to x; both (k,). n: how many values there were."""

    x: Floats
    share: Floats
    n: int


def ecdf(values: Floats, points: int = POINTS) -> Ecdf:
    """The empirical distribution function of the known values: every step of it up to `points` values, else its value
    at evenly spaced ranks, smallest and largest included."""
    held = np.sort(known(values))
    n = len(held)
    ranks = np.arange(n) if n <= points else np.unique(np.linspace(0, n - 1, points).round().astype(np.int64))
    return Ecdf(held[ranks], (ranks + 1) / max(n, 1), n)


def latency_curves(sample: Traffic) -> dict[str, Ecdf]:
    """TTFT, TPOT, E2EL and turn latency in the window, seconds, of what percentiles cover."""
    sent = sample.sent
    return {
        "TTFT": ecdf(ttft_s(sent)),
        "TPOT": ecdf(tpot_s(sent, sample.run.chunks)),
        "E2EL": ecdf(e2el_s(sent)),
        "turn latency": ecdf(turns_due(sample).latency_s),
    }


@dataclass(frozen=True, slots=True)
class Growth:
    """One conversation: its session, turns (k,) and prompt tokens of each (k,)."""

    session: str
    turn: Floats
    prompt_tok: Floats


def growth(sample: Traffic, talks: int = TALKS) -> tuple[list[Growth], int]:
    """(how the prompts of a session's own conversation grew, in the whole run; how many conversations there were). Of
    more than `talks` evenly spaced ones are taken, of many turns evenly spaced turns, last one included."""
    every = sample.every
    usable = ~failed(every) & (np.nan_to_num(every["branch"]) == 0) & ~every.text("purpose").among("compaction")
    rows = every.where(usable)
    talk = conversation(rows)
    names = np.unique(talk)
    chosen = names if len(names) <= talks else names[np.linspace(0, len(names) - 1, talks).round().astype(np.int64)]
    prompts, _ = prompt_tok(rows)
    found = []
    for name in chosen:
        mine = np.flatnonzero(talk == name)
        mine = mine[np.argsort(rows["turn"][mine], kind="stable")]
        if len(mine) > TALK_POINTS:
            mine = mine[np.unique(np.linspace(0, len(mine) - 1, TALK_POINTS).round().astype(np.int64))]
        found.append(Growth(rows.text("session").at(int(mine[0])), rows["turn"][mine], prompts[mine]))
    return found, len(names)
