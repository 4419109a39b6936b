"""Turns: what an agent's user waits for. Retries of a turn are one turn, due when its first attempt was. A sub-agent's
turns count from 0 beside its session's own, and are turns of that session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.core.stats import describe, jain, known, ratio
from simulator.core.table import Floats, Ints, Mask, Table
from simulator.core.window import Traffic, ok

#: turns a cohort needs before its median means something, and how far apart their contexts may be when there are enough
COHORT_TURNS = 20
COHORT_WIDTH = 1.25


@dataclass(frozen=True, slots=True)
class Turns:
    """session: code into the requests' session names. due_s: when the first attempt was due. latency_s: from then to
    the last output of the attempt that succeeded, NaN if none did. context_tok: its prompt. All (n,), by session, then
    turn."""

    session: Ints
    turn: Ints
    due_s: Floats
    latency_s: Floats
    context_tok: Floats

    def where(self, mask: Mask) -> Turns:
        return Turns(
            self.session[mask], self.turn[mask], self.due_s[mask], self.latency_s[mask], self.context_tok[mask]
        )


def conversation(requests: Table) -> Ints:
    """A number for each request's conversation, a session's own or one of its sub-agents': the same in all tables of a
    run; shape (n,). Records of older versions know no sub-agents."""
    return requests.text("session").codes.astype(np.int64) << 16 | np.nan_to_num(requests["branch"]).astype(np.int64)


def turns_of(requests: Table) -> Turns:
    """Folds attempts into turns."""
    session = requests.text("session").codes.astype(np.int64)
    turn, talk = requests["turn"].astype(np.int64), conversation(requests)
    order = np.lexsort((turn, talk))
    session, turn, talk = session[order], turn[order], talk[order]
    start = np.ones(len(order), dtype=np.bool_)
    start[1:] = (talk[1:] != talk[:-1]) | (turn[1:] != turn[:-1])
    begins = np.flatnonzero(start)
    if not len(begins):
        return Turns(session, turn, np.zeros(0), np.zeros(0), np.zeros(0))
    due = np.minimum.reduceat(requests["t_due_s"][order], begins)
    last = np.where(ok(requests), requests["t_last_s"], np.nan)[order]
    prompt = np.where(np.isnan(requests["prompt_tok"]), requests["planned_prompt_tok"], requests["prompt_tok"])[order]
    done = np.fmax.reduceat(last, begins)
    return Turns(session[begins], turn[begins], due, done - due, np.fmax.reduceat(prompt, begins))


def first_due_s(requests: Table) -> Floats:
    """When each request's turn was first due, whichever attempt it is; shape (n,)."""
    key = conversation(requests) << 24 | requests["turn"].astype(np.int64)
    _, place = np.unique(key, return_inverse=True)
    earliest = np.full(requests.n, np.inf)
    np.minimum.at(earliest, place, requests["t_due_s"])
    return earliest[place]


def turns_due(sample: Traffic) -> Turns:
    """Turns that were due inside the window. Synthetic requests are a turn each."""
    if sample.kind == "agent":
        turns = turns_of(sample.every)
    else:
        every = sample.every
        latency = np.where(ok(every), every["t_last_s"] - every["t_due_s"], np.nan)
        codes = np.arange(every.n, dtype=np.int64)
        turns = Turns(codes, codes, every["t_due_s"], latency, every["planned_prompt_tok"])
    return turns.where(sample.window.holds(turns.due_s))


def latency(turns: Turns) -> dict[str, Any]:
    """Distribution of t_last(turn) - t_due(turn); `failed` counts turns that never succeeded."""
    lost = int(np.count_nonzero(np.isnan(turns.latency_s)))
    return describe(turns.latency_s, failed=lost)


def slowdown(turns: Turns) -> Floats:
    """Each turn's latency over the median of the turns with about its context length: cohorts whose contexts are within
    25 % of each other, or wider where that leaves fewer than 20 turns. Shape (n,); NaN for a turn without latency."""
    result = np.full(len(turns.turn), np.nan)
    usable = np.flatnonzero(np.isfinite(turns.latency_s) & np.isfinite(turns.context_tok))
    by_length = usable[np.argsort(turns.context_tok[usable], kind="stable")]
    for cohort in np.split(by_length, _cohort_starts(turns.context_tok[by_length])):
        middle = float(np.median(turns.latency_s[cohort])) if len(cohort) else 0.0
        if middle > 0:
            result[cohort] = turns.latency_s[cohort] / middle
    return result


def _cohort_starts(context_tok: Floats) -> list[int]:
    """Where cohorts begin in ascending context lengths, the first (at 0) left out."""
    step = np.floor(np.log(np.maximum(context_tok, 1)) / np.log(COHORT_WIDTH))
    starts = [0]
    for change in np.flatnonzero(np.diff(step)) + 1:
        if change - starts[-1] >= COHORT_TURNS:
            starts.append(int(change))
    if len(starts) > 1 and len(step) - starts[-1] < COHORT_TURNS:
        starts.pop()
    return starts[1:]


def fairness(turns: Turns) -> dict[str, Any]:
    """{sessions, jain, worst_over_median}: over sessions, of the mean slowdown of their turns. None with fewer than
    two sessions."""
    slow = slowdown(turns)
    held = np.isfinite(slow)
    size = int(turns.session.max()) + 1 if len(turns.session) else 0
    count = np.bincount(turns.session[held], minlength=size)
    total = np.bincount(turns.session[held], weights=slow[held], minlength=size)
    each = known(total[count > 0] / count[count > 0])
    several = len(each) > 1
    return {
        "sessions": len(each),
        "jain": jain(each),
        "worst_over_median": ratio(float(each.max()), float(np.median(each))) if several else None,
    }
