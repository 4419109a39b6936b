"""What became of an open loop's arrivals: planned against achieved rate, lateness, waiting for a place, and whether the
load came to a steady state. Folded from the records and the schedule that the manifest holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.core.record import Session
from simulator.core.stats import describe, known, ratio
from simulator.core.table import Floats, Mask
from simulator.core.window import Traffic, asked_s

STEADY, FILLING, OVERLOADED = "steady", "filling", "overloaded"
#: with fewer arrivals nothing can be said
JUDGED_FROM = 8
#: standard deviations that are called growth
SIGMAS = 2.5


@dataclass(frozen=True, slots=True)
class Arrived:
    """All (n,), run seconds, one an arrival in order of its due time. placed_s: it got a place; sent_s: its first
    request left; ended_s: it was done. NaN: that never happened."""

    due_s: Floats
    placed_s: Floats
    sent_s: Floats
    ended_s: Floats

    def open_at(self, at_s: float, *, waiting: bool = False) -> int:
        """How many arrivals were there at that time: due and not ended; waiting: due and without a place."""
        gone = self.placed_s if waiting else self.ended_s
        return int(np.count_nonzero((self.due_s <= at_s) & ~(gone <= at_s)))


def arrivals(sample: Traffic) -> dict[str, Any] | None:
    """{kind, places, planned, planned_per_s, achieved_per_s, late_s, late_p50_s, late_p99_s, waited_for_place,
    never_placed, place_wait_s, open_start, open_end, waiting_start, waiting_end, state}
    of the arrivals due in the window; without a steady window, of all. None in a closed loop.

    late_s: first request sent - due, the wait for a place included. open_..., waiting_...: arrivals that were
    there, and that had no place, at the window's start and end. state: "steady"; "filling", more were there at the end
    than chance explains, and the first ones had not ended yet; "overloaded", they had, or more waited for a place. None
    with fewer than eight arrivals.
    """
    plan = sample.run.arrivals.get(sample.kind)
    if plan is None:
        return None
    found = _sessions(sample, plan) if sample.kind == "agent" else _requests(sample, plan)
    if not len(found.due_s):
        return None
    span = _span(sample, found)
    inside = (found.due_s >= span[0]) & (found.due_s < span[1]) if sample.window.steady and _agent(sample) else None
    chosen = (
        found.due_s <= sample.window.end_s if inside is None else inside
    )  # a run cut short was not late for the rest
    late = (found.sent_s - found.due_s)[chosen]
    wait = np.maximum(found.placed_s - found.due_s, 0.0)[chosen]
    spread = describe(late)
    return {
        "kind": str(plan.get("kind", "")),
        "places": plan.get("places"),
        "planned": int(np.count_nonzero(chosen)),
        "planned_per_s": _rate(found.due_s, span, inside),
        "achieved_per_s": _rate(found.sent_s, span, inside),
        "late_s": spread,
        "late_p50_s": spread["p50"],
        "late_p99_s": spread["p99"],
        "waited_for_place": int(np.count_nonzero((wait > 0) | np.isnan(wait))),
        "never_placed": int(np.count_nonzero(np.isnan(found.placed_s[chosen]))),
        "place_wait_s": describe(wait),
        **_growth(found, *span),
    }


def place_wait_s(sample: Traffic) -> Floats:
    """How much of each sent request's lateness was the wait for a place, which the scenario's cap asks for and which is
    no fault of the client; shape (n,), 0 where it did not wait."""
    sent = sample.sent
    waited = np.zeros(sent.n)
    plan = sample.run.arrivals.get(sample.kind)
    if plan is None:
        return waited
    if sample.kind != "agent":
        queued = _queued(sample, plan)[sample.window.holds(asked_s(sample.every))]
        return np.where(queued, np.maximum(sent["t_call_s"] - sent["t_due_s"], 0.0), 0.0)
    by_name = {s.session: s for s in sample.run.sessions}
    names = sent.text("session").names
    wait = np.array([_waited(by_name.get(name)) for name in names] or [0.0])[sent.text("session").codes]
    begins = np.array([getattr(by_name.get(name), "start_turn", -1) for name in names] or [-1])
    first = (sent["turn"] == begins[sent.text("session").codes]) & (sent["retry"] == 0)
    return np.where(first, wait, 0.0)


def _waited(session: Session | None) -> float:
    """With the workspace's set-up after it, which cannot be done ahead for a session that has no place."""
    if session is None or session.t_due_s is None or session.t_start_s <= session.t_due_s:
        return 0.0
    return session.t_ready_s - session.t_due_s


def _agent(sample: Traffic) -> bool:
    return sample.kind == "agent"


def _sessions(sample: Traffic, plan: Any) -> Arrived:
    due = np.array(plan.get("due_s") or [], dtype=np.float64)
    blank = np.full(len(due), np.nan)
    placed, sent, ended = blank.copy(), blank.copy(), blank.copy()
    for session in sample.run.sessions:
        number = _number(session.session, len(due))
        if number is not None:
            placed[number], ended[number] = session.t_start_s, session.t_end_s
    first = np.full(len(sample.every.text("session").names), np.inf)
    np.minimum.at(first, sample.every.text("session").codes, asked_s(sample.every))
    for name, at_s in zip(sample.every.text("session").names, first, strict=True):
        number = _number(name, len(due))
        if number is not None and np.isfinite(at_s):
            sent[number] = at_s
            if np.isnan(placed[number]):  # it was never told to have ended: the run was killed
                placed[number] = at_s
    return Arrived(due, placed, sent, ended)


def _number(name: str, planned: int) -> int | None:
    digits = name.removeprefix("s")
    number = int(digits) if digits.isdecimal() else planned
    return number if number < planned else None


def _requests(sample: Traffic, plan: Any) -> Arrived:
    every = sample.every
    placed = np.where(_queued(sample, plan), every["t_call_s"], every["t_due_s"])
    order = np.argsort(every["t_due_s"], kind="stable")
    return Arrived(every["t_due_s"][order], placed[order], asked_s(every)[order], every["t_end_s"][order])


def _queued(sample: Traffic, plan: Any) -> Mask:
    """Which requests found all places taken when they were due; shape of `every`."""
    every, places = sample.every, plan.get("places")
    if not places:
        return np.zeros(every.n, dtype=np.bool_)
    due = every["t_due_s"]
    begun = np.searchsorted(np.sort(every["t_call_s"]), due, side="right")
    ended = np.searchsorted(np.sort(every["t_end_s"]), due, side="right")
    queued: Mask = begun - ended >= places
    return queued


def _span(sample: Traffic, found: Arrived) -> tuple[float, float]:
    """Where a steady state is looked for: the window; without one, from a quarter of the arrivals' span to its end."""
    if _agent(sample) and sample.window.steady:
        return sample.window.start_s, sample.window.end_s
    first, last = float(found.due_s.min()), float(found.due_s.max())
    return first + (last - first) / 4, last


def _rate(times_s: Floats, span: tuple[float, float], inside: Mask | None) -> float | None:
    held = known(times_s)
    if inside is not None:
        return ratio(float(np.count_nonzero((held >= span[0]) & (held < span[1]))), span[1] - span[0])
    return ratio(float(len(held) - 1), float(held.max() - held.min())) if len(held) > 1 else None


def _growth(found: Arrived, start_s: float, end_s: float) -> dict[str, Any]:
    there = found.open_at(start_s), found.open_at(end_s)
    waiting = found.open_at(start_s, waiting=True), found.open_at(end_s, waiting=True)
    come = found.due_s < end_s
    if np.count_nonzero(come) < JUDGED_FROM:
        state = None
    elif _grew(*waiting):
        state = OVERLOADED
    elif not _grew(*there):
        state = STEADY
    else:
        oldest = found.ended_s[come][: max(2, int(np.count_nonzero(come)) // 4)]
        state = OVERLOADED if np.count_nonzero(oldest < end_s) * 2 > len(oldest) else FILLING
    return {
        "open_start": there[0],
        "open_end": there[1],
        "waiting_start": waiting[0],
        "waiting_end": waiting[1],
        "state": state,
    }


def _grew(before: int, after: int) -> bool:
    """Beyond chance: a number of independent arrivals with mean m varies by sqrt(m), two such numbers differ by
    sqrt(2m); and by a tenth, since a queue of a thousand is never still."""
    middle = (before + after) / 2
    return after - before > max(2.0, SIGMAS * math.sqrt(2.0 * middle), 0.1 * before)
